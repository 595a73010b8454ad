/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages over a connected stream socket, for the stacks that have one. A
 * message is a run of bytes whose length both ends know; one that a stop broke
 * off is gone on with by the same call again.
 */
#ifndef VV_STACK_STREAM_H
#define VV_STACK_STREAM_H

#include "stack/stack.h"

struct vv_stream {
  int fd;      /* -1: not connected */
  size_t sent; /* of the message that a stop broke off */
  size_t received;
  struct vv_marks *marks; /* NULL: nobody wants them. The socket has SO_TIMESTAMPNS else */
};

/* As send and recv of a stack; `id` is for the error's words. */
enum vv_got vv_stream_send(struct vv_stream *stream, const struct vv_stack_config *config, const char *id,
                           const uint8_t *message, size_t size_bytes, struct vv_error *error);
enum vv_got vv_stream_recv(struct vv_stream *stream, const struct vv_stack_config *config, const char *id,
                           uint8_t *message, size_t size_bytes, struct vv_error *error);

#endif
