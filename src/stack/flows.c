/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/flows.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "io/os/watch.h"

enum flow_step { STUCK, MOVED, CLOSED, FAILED };

/* What all flows of a call have in common. */
struct flow_kind {
  int (*descriptor)(const struct vv_end *end);
  bool datagram;
};

static bool no_room(void) {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == EINTR;
}

static enum flow_step failed(const char *what, struct vv_error *error) {
  if (no_room()) return STUCK;
  if (errno == ECONNRESET || errno == EPIPE || errno == ECONNREFUSED) return CLOSED;
  vv_error_errno(error, "socket", "cannot %s", what);
  return FAILED;
}

static enum flow_step send_some(struct vv_flow *flow, int fd, struct vv_error *error) {
  ssize_t sent = send(fd, flow->out, flow->out_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return failed("send", error);
  flow->out += sent;
  flow->out_bytes -= (size_t)sent;
  return MOVED;
}

static bool is_due(const struct vv_flow *flow, ssize_t got_bytes) {
  size_t tag_bytes = flow->size_bytes < VV_PAYLOAD_TAG_BYTES ? flow->size_bytes : VV_PAYLOAD_TAG_BYTES;
  return got_bytes == (ssize_t)flow->size_bytes && memcmp(flow->in, flow->tag, tag_bytes) == 0;
}

static enum flow_step receive_some(struct vv_flow *flow, int fd, bool datagram, struct vv_error *error) {
  uint8_t *at = flow->in + (flow->size_bytes - flow->in_bytes);
  ssize_t got = recv(fd, at, flow->in_bytes, MSG_DONTWAIT | (datagram ? MSG_TRUNC : 0));
  if (got < 0) return failed("receive", error);
  if (!datagram && got == 0) return CLOSED;
  if (!datagram || is_due(flow, got)) flow->in_bytes -= (size_t)got;
  return MOVED;
}

/* What can be done without waiting. */
static enum flow_step move(struct vv_flow *flow, const struct flow_kind *kind, struct vv_error *error) {
  int fd = kind->descriptor(flow->end);
  enum flow_step sent = flow->out_bytes > 0 ? send_some(flow, fd, error) : STUCK;
  if (sent == CLOSED || sent == FAILED) return sent;
  enum flow_step got = flow->in_bytes > 0 ? receive_some(flow, fd, kind->datagram, error) : STUCK;
  return got == STUCK ? sent : got;
}

/* Waits until one of them can move; a signal ends the wait too. */
static int wait_for_some(const struct vv_flow *flows, size_t count, const struct flow_kind *kind,
                         struct vv_error *error) {
  struct pollfd entries[VV_FLOWS_MAX];
  for (size_t i = 0; i < count; i++) {
    short events = (short)((flows[i].out_bytes > 0 ? POLLOUT : 0) | (flows[i].in_bytes > 0 ? POLLIN : 0));
    entries[i] = (struct pollfd){.fd = events ? kind->descriptor(flows[i].end) : -1, .events = events};
  }
  if (poll(entries, (nfds_t)count, -1) >= 0 || errno == EINTR) return 0;
  return vv_error_errno(error, "poll", "cannot wait");
}

enum vv_got vv_flows_run(struct vv_flow *flows, size_t count, int (*descriptor)(const struct vv_end *end),
                         bool datagram, const struct vv_watch_stop *stop, struct vv_error *error) {
  const struct flow_kind kind = {.descriptor = descriptor, .datagram = datagram};
  assert(count <= VV_FLOWS_MAX);
  for (;;) {
    bool moved = false, left = false;
    for (size_t i = 0; i < count; i++) {
      enum flow_step step = move(&flows[i], &kind, error);
      if (step == CLOSED) return VV_GOT_CLOSED;
      if (step == FAILED) return VV_GOT_ERROR;
      moved = moved || step == MOVED;
      left = left || flows[i].out_bytes > 0 || flows[i].in_bytes > 0;
    }
    if (!left) return VV_GOT_MESSAGE;
    if (!moved && wait_for_some(flows, count, &kind, error) != 0) return VV_GOT_ERROR;
    if (vv_watch_rang() && stop->ask(stop->context)) return VV_GOT_STOPPED;
  }
}
