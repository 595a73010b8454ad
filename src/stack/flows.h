/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several messages under way at once: each flow is an end that has a message to
 * send, one to receive, or both, and none of them waits for another. What
 * vv_stack.flow carries, for `stream` and `exchange`; here, too, as stacks over
 * sockets carry it.
 */
#ifndef VV_STACK_FLOWS_H
#define VV_STACK_FLOWS_H

#include "core/base/payload.h"
#include "stack/stack.h"

#define VV_FLOWS_MAX 65 /* all but one of the ends of a launch */

struct vv_flow {
  struct vv_end *end; /* connected; in one flow only */
  const uint8_t *out;
  size_t out_bytes;                  /* still to send; 0: it only receives */
  uint8_t *in;                       /* NULL: it only sends */
  size_t size_bytes;                 /* of the message that is received */
  size_t in_bytes;                   /* still to come */
  uint8_t tag[VV_PAYLOAD_TAG_BYTES]; /* how that one begins: another datagram is a late one and passed over */
};

/*
 * vv_stack.flow of a stack whose end is a socket: all flows go on as fast as their
 * sockets take and give. `datagram`: a message is one call; false: a run of bytes.
 */
enum vv_got vv_flows_run(struct vv_flow *flows, size_t count, int (*descriptor)(const struct vv_end *end),
                         bool datagram, const struct vv_watch_stop *stop, struct vv_error *error);

#endif
