/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/stream.h"

#include <sys/socket.h>

/* One call's worth of the message from `sent` on. */
static ssize_t send_some(const struct vv_stream *stream, const struct vv_stack_config *config, const uint8_t *message,
                         size_t size_bytes) {
  int flags = MSG_NOSIGNAL | (config->wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0);
  struct iovec pieces[2];
  size_t head = config->write == VV_WRITE_ONE ? 0 : vv_stack_pieces(message, size_bytes, pieces);
  if (stream->sent == 0 && config->write == VV_WRITE_WRITEV) {
    struct msghdr both = {.msg_iov = pieces, .msg_iovlen = 2};
    return sendmsg(stream->fd, &both, flags);
  }
  size_t until = config->write == VV_WRITE_SPLIT && stream->sent < head ? head : size_bytes;
  return send(stream->fd, message + stream->sent, until - stream->sent, flags);
}

enum vv_got vv_stream_send(struct vv_stream *stream, const struct vv_stack_config *config, const char *id,
                           const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  while (stream->sent < size_bytes) {
    ssize_t sent = send_some(stream, config, message, size_bytes);
    if (sent >= 0) {
      stream->sent += (size_t)sent;
      continue;
    }
    enum vv_got got = vv_stack_judge(&config->stop, id, "send", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  stream->sent = 0;
  return VV_GOT_MESSAGE;
}

enum vv_got vv_stream_recv(struct vv_stream *stream, const struct vv_stack_config *config, const char *id,
                           uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int flags = config->wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0;
  while (stream->received < size_bytes) {
    ssize_t got_bytes = recv(stream->fd, message + stream->received, size_bytes - stream->received, flags);
    if (got_bytes == 0) return VV_GOT_CLOSED;
    if (got_bytes > 0) {
      stream->received += (size_t)got_bytes;
      continue;
    }
    enum vv_got got = vv_stack_judge(&config->stop, id, "receive", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  stream->received = 0;
  return VV_GOT_MESSAGE;
}
