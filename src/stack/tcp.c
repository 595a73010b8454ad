/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP over one connection. A message is a run of bytes whose length both ends know.
 *
 * The far end knows the near one by its address and port, told beforehand: a
 * stranger who connects first is turned away without a byte in the stream.
 */
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/time.h"
#include "io/os/socket.h"
#include "io/os/tcp.h"
#include "io/os/watch.h"
#include "stack/flows.h"
#include "stack/stream.h"

#define BACKLOG 64

struct vv_end {
  int listener; /* -1 at the near end */
  struct vv_stream stream;
  struct vv_stack_config config;
  struct vv_address own;
  bool nagle;
  struct vv_marks marks;
};

static void *give_up(struct vv_end *end) {
  if (end->stream.fd >= 0) close(end->stream.fd);
  if (end->listener >= 0) close(end->listener);
  free(end);
  return NULL;
}

/* The far end's socket listens, the near end's will connect. */
static int open_socket(struct vv_end *end, struct vv_error *error) {
  const struct vv_stack_config *config = &end->config;
  if (config->far) {
    end->listener = vv_socket_listening(&end->own, config->port_min, config->port_max, BACKLOG, error);
    return end->listener < 0 ? -1 : 0;
  }
  end->stream.fd = vv_socket_bound(SOCK_STREAM, &end->own, config->port_min, config->port_max, error);
  return end->stream.fd < 0 ? -1 : 0;
}

static struct vv_end *open_end(const struct vv_stack_config *config, bool nagle, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  struct vv_end *end = malloc(sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for a tcp end");
    return NULL;
  }
  *end = (struct vv_end){.listener = -1, .stream = {.fd = -1}, .config = *config, .nagle = nagle};
  if (vv_address_parse(config->address, 0, &end->own, error) != 0) return give_up(end);
  if (open_socket(end, error) != 0) return give_up(end);
  vv_address_format(&end->own, contact);
  return end;
}

static struct vv_end *tcp_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  return open_end(config, false, contact, error);
}

static struct vv_end *tcp_nagle_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                     struct vv_error *error) {
  return open_end(config, true, contact, error);
}

/* An aborting close leaves no port in TIME_WAIT behind: a launch may open thousands of connections. */
static int prepare(struct vv_end *end, struct vv_error *error) {
  int on = 1;
  struct linger abort_at_close = {.l_onoff = 1};
  if (!end->nagle && setsockopt(end->stream.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    return vv_error_errno(error, "socket", "cannot turn Nagle's algorithm off");
  }
  if (setsockopt(end->stream.fd, SOL_SOCKET, SO_LINGER, &abort_at_close, sizeof abort_at_close) != 0) {
    return vv_error_errno(error, "socket", "cannot set how a connection is closed");
  }
  return 0;
}

static int tcp_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error) {
  struct vv_address near, peer;
  if (vv_address_parse_pair(near_contact, &near, error) != 0) return -1;
  if (end->stream.fd >= 0) close(end->stream.fd);
  end->stream.fd = -1;
  for (;;) {
    if (vv_watch_wait(&end->listener, 1, deadline_ns, error) < 0) return -1;
    peer.length = sizeof peer.v6;
    int fd = accept4(end->listener, &peer.any, &peer.length, SOCK_CLOEXEC);
    if (fd < 0) continue;
    if (vv_address_equal(&peer, &near)) {
      end->stream = (struct vv_stream){.fd = fd};
      return prepare(end, error);
    }
    close(fd);
  }
}

static int tcp_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  struct vv_address far;
  if (vv_address_parse_pair(far_contact, &far, error) != 0) return -1;
  if (vv_socket_connect(end->stream.fd, &far, deadline_ns, error) != 0) return -1;
  return prepare(end, error);
}

static enum vv_got tcp_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  return vv_stream_send(&end->stream, &end->config, "tcp", message, size_bytes, error);
}

static enum vv_got tcp_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  return vv_stream_recv(&end->stream, &end->config, "tcp", message, size_bytes, error);
}

static int tcp_descriptor(const struct vv_end *end) {
  return end->stream.fd;
}

static enum vv_got tcp_flow(struct vv_flow *flows, size_t count, const struct vv_watch_stop *stop,
                            struct vv_error *error) {
  return vv_flows_run(flows, count, tcp_descriptor, false, stop, error);
}

static int64_t tcp_resent(const struct vv_end *end) {
  struct vv_tcp_state state;
  vv_tcp_read_state(end->stream.fd, &state);
  return state.resent;
}

static const struct vv_marks *tcp_mark(struct vv_end *end, bool on) {
  int stamps = on;
  bool has = setsockopt(end->stream.fd, SOL_SOCKET, SO_TIMESTAMPNS, &stamps, sizeof stamps) == 0;
  end->stream.marks = on && has ? &end->marks : NULL;
  return &end->marks;
}

static struct vv_limits tcp_limits(const struct vv_end *end) {
  struct vv_tcp_state state;
  struct vv_limits limits = {.sequence = UINT64_C(1) << 32, .services = UINT16_MAX + 1, .free = UINT16_MAX + 1};
  if (!vv_tcp_read_state(end->stream.fd, &state)) return limits;
  limits.window = (uint64_t)UINT16_MAX << state.window_shift;
  limits.unit_bytes = (uint32_t)state.segment_bytes;
  return limits;
}

static void tcp_close(struct vv_end *end) {
  if (end) give_up(end);
}

/* What both tables have in common. */
#define TCP                                                                                                            \
  .size_bytes_min = 1, .size_bytes_max = (size_t)64 << 20, .own_tcp = true, .two_writes = true, .path = VV_PATH_TCP,   \
  .accept = tcp_accept, .connect = tcp_connect, .send = tcp_send, .recv = tcp_recv, .flow = tcp_flow,                  \
  .descriptor = tcp_descriptor, .resent = tcp_resent, .mark = tcp_mark, .limits = tcp_limits, .close = tcp_close

const struct vv_stack vv_stack_tcp = {
    .id = "tcp", .summary = "TCP, Nagle's algorithm off (TCP_NODELAY)", .open = tcp_open, TCP};

const struct vv_stack vv_stack_tcp_nagle = {.id = "tcp-nagle",
                                            .summary =
                                                "TCP as a program gets it that sets nothing: Nagle's algorithm on",
                                            .open = tcp_nagle_open,
                                            TCP};
