/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP over one connection. A message is a run of bytes whose length both ends know.
 *
 * The far end knows the near one by its address and port, told beforehand: a
 * stranger who connects first is turned away without a byte in the stream.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/os/socket.h"
#include "io/os/watch.h"
#include "stack/stack.h"

#define BACKLOG 64

struct vv_end {
  int listener; /* -1 at the near end */
  int fd;       /* the connection; -1: none */
  struct vv_stack_config config;
  struct vv_address own;
  bool nagle;
  size_t sent; /* of the message that a stop broke off */
  size_t received;
};

static void *give_up(struct vv_end *end) {
  if (end->fd >= 0) close(end->fd);
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
  end->fd = vv_socket_bound(SOCK_STREAM, &end->own, config->port_min, config->port_max, error);
  return end->fd < 0 ? -1 : 0;
}

static struct vv_end *open_end(const struct vv_stack_config *config, bool nagle, char contact[VV_CONTACT_MAX],
                               struct vv_error *error) {
  struct vv_end *end = malloc(sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for a tcp end");
    return NULL;
  }
  *end = (struct vv_end){.listener = -1, .fd = -1, .config = *config, .nagle = nagle};
  if (vv_address_parse(config->address, 0, &end->own, error) != 0) return give_up(end);
  if (open_socket(end, error) != 0) return give_up(end);
  vv_address_format(&end->own, contact);
  return end;
}

static struct vv_end *tcp_open(const struct vv_stack_config *config, char contact[VV_CONTACT_MAX],
                               struct vv_error *error) {
  return open_end(config, false, contact, error);
}

static struct vv_end *tcp_nagle_open(const struct vv_stack_config *config, char contact[VV_CONTACT_MAX],
                                     struct vv_error *error) {
  return open_end(config, true, contact, error);
}

/* An aborting close leaves no port in TIME_WAIT behind: a launch may open thousands of connections. */
static int prepare(struct vv_end *end, struct vv_error *error) {
  int on = 1;
  struct linger abort_at_close = {.l_onoff = 1};
  if (!end->nagle && setsockopt(end->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    return vv_error_errno(error, "socket", "cannot turn Nagle's algorithm off");
  }
  if (setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &abort_at_close, sizeof abort_at_close) != 0) {
    return vv_error_errno(error, "socket", "cannot set how a connection is closed");
  }
  return 0;
}

static int tcp_accept(struct vv_end *end, const char *near_contact, int64_t deadline_ns, struct vv_error *error) {
  struct vv_address near, peer;
  if (vv_address_parse_pair(near_contact, &near, error) != 0) return -1;
  if (end->fd >= 0) close(end->fd);
  end->fd = -1;
  for (;;) {
    if (vv_watch_wait(&end->listener, 1, deadline_ns, error) < 0) return -1;
    peer.length = sizeof peer.v6;
    int fd = accept4(end->listener, &peer.any, &peer.length, SOCK_CLOEXEC);
    if (fd < 0) continue;
    if (vv_address_equal(&peer, &near)) {
      end->fd = fd;
      end->sent = end->received = 0;
      return prepare(end, error);
    }
    close(fd);
  }
}

static int tcp_connect(struct vv_end *end, const char *far_contact, int64_t deadline_ns, struct vv_error *error) {
  struct vv_address far;
  if (vv_address_parse_pair(far_contact, &far, error) != 0) return -1;
  if (vv_socket_connect(end->fd, &far, deadline_ns, error) != 0) return -1;
  return prepare(end, error);
}

/* What a failed call means. VV_GOT_MESSAGE: nothing, try again. */
static enum vv_got judge(struct vv_end *end, const char *what, struct vv_error *error) {
  bool asked = errno == EINTR || ((errno == EAGAIN || errno == EWOULDBLOCK) && vv_watch_rang());
  if (asked) return end->config.stop.ask(end->config.stop.context) ? VV_GOT_STOPPED : VV_GOT_MESSAGE;
  if (errno == EAGAIN || errno == EWOULDBLOCK) return VV_GOT_MESSAGE;
  if (errno == ECONNRESET || errno == EPIPE) return VV_GOT_CLOSED;
  vv_error_errno(error, "socket", "tcp: cannot %s", what);
  return VV_GOT_ERROR;
}

/* One call's worth of the message from `sent` on. */
static ssize_t send_some(struct vv_end *end, const uint8_t *message, size_t size_bytes) {
  int flags = MSG_NOSIGNAL | (end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0);
  struct iovec pieces[2];
  size_t head = end->config.write == VV_WRITE_ONE ? 0 : vv_stack_pieces(message, size_bytes, pieces);
  if (end->sent == 0 && end->config.write == VV_WRITE_WRITEV) {
    struct msghdr both = {.msg_iov = pieces, .msg_iovlen = 2};
    return sendmsg(end->fd, &both, flags);
  }
  size_t until = end->config.write == VV_WRITE_SPLIT && end->sent < head ? head : size_bytes;
  return send(end->fd, message + end->sent, until - end->sent, flags);
}

static enum vv_got tcp_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  while (end->sent < size_bytes) {
    ssize_t sent = send_some(end, message, size_bytes);
    if (sent >= 0) {
      end->sent += (size_t)sent;
      continue;
    }
    enum vv_got got = judge(end, "send", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  end->sent = 0;
  return VV_GOT_MESSAGE;
}

static enum vv_got tcp_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int flags = end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0;
  while (end->received < size_bytes) {
    ssize_t got_bytes = recv(end->fd, message + end->received, size_bytes - end->received, flags);
    if (got_bytes == 0) return VV_GOT_CLOSED;
    if (got_bytes > 0) {
      end->received += (size_t)got_bytes;
      continue;
    }
    enum vv_got got = judge(end, "receive", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  end->received = 0;
  return VV_GOT_MESSAGE;
}

static int tcp_descriptor(const struct vv_end *end) {
  return end->fd;
}

static int64_t tcp_resent(const struct vv_end *end) {
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  return getsockopt(end->fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? (int64_t)info.tcpi_total_retrans : 0;
}

static void tcp_close(struct vv_end *end) {
  if (end) give_up(end);
}

const struct vv_stack vv_stack_tcp = {
    .id = "tcp",
    .summary = "TCP, Nagle's algorithm off (TCP_NODELAY)",
    .size_bytes_min = 1,
    .size_bytes_max = (size_t)64 << 20,
    .two_writes = true,
    .path = VV_PATH_TCP,
    .open = tcp_open,
    .accept = tcp_accept,
    .connect = tcp_connect,
    .send = tcp_send,
    .recv = tcp_recv,
    .descriptor = tcp_descriptor,
    .resent = tcp_resent,
    .close = tcp_close,
};

const struct vv_stack vv_stack_tcp_nagle = {
    .id = "tcp-nagle",
    .summary = "TCP as a program gets it that sets nothing: Nagle's algorithm on",
    .size_bytes_min = 1,
    .size_bytes_max = (size_t)64 << 20,
    .two_writes = true,
    .path = VV_PATH_TCP,
    .open = tcp_nagle_open,
    .accept = tcp_accept,
    .connect = tcp_connect,
    .send = tcp_send,
    .recv = tcp_recv,
    .descriptor = tcp_descriptor,
    .resent = tcp_resent,
    .close = tcp_close,
};
