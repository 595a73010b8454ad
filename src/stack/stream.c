/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
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
  if (stream->sent == 0) vv_mark(stream->marks, VV_MARK_GIVEN);
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

/* The kernel forgets it with what it acknowledges next. Where it cannot be set nothing is lost but the wish. */
static void set_acks(int fd, enum vv_acks acks) {
  int at_once = acks == VV_ACKS_QUICK;
  if (acks != VV_ACKS_KERNEL) (void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &at_once, sizeof at_once);
}

/* The same as recv, and when the last of it was taken from the device. */
static ssize_t recv_marked(struct vv_stream *stream, uint8_t *bytes, size_t count, int flags) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(struct timespec))];
  } control;
  struct iovec piece = {.iov_base = bytes, .iov_len = count};
  struct msghdr head = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t got_bytes = recvmsg(stream->fd, &head, flags);
  const struct cmsghdr *told = got_bytes > 0 ? CMSG_FIRSTHDR(&head) : NULL;
  if (!told || told->cmsg_type != SCM_TIMESTAMPNS) return got_bytes;
  struct timespec stamp;
  memcpy(&stamp, CMSG_DATA(told), sizeof stamp);
  stream->marks->at_ns[VV_MARK_DEVICE] = stamp.tv_sec * VV_SEC + stamp.tv_nsec;
  return got_bytes;
}

enum vv_got vv_stream_recv(struct vv_stream *stream, const struct vv_stack_config *config, const char *id,
                           uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int flags = config->wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0;
  if (stream->marks && stream->received == 0) stream->marks->at_ns[VV_MARK_DEVICE] = 0;
  while (stream->received < size_bytes) {
    uint8_t *into = message + stream->received;
    size_t left = size_bytes - stream->received;
    set_acks(stream->fd, config->acks);
    ssize_t got_bytes = stream->marks ? recv_marked(stream, into, left, flags) : recv(stream->fd, into, left, flags);
    if (got_bytes == 0) return VV_GOT_CLOSED;
    if (got_bytes > 0) {
      stream->received += (size_t)got_bytes;
      continue;
    }
    enum vv_got got = vv_stack_judge(&config->stop, id, "receive", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  stream->received = 0;
  vv_mark(stream->marks, VV_MARK_GOT);
  return VV_GOT_MESSAGE;
}
