/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/socket.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/os/clock.h"
#include "io/os/watch.h"

#define LOOK_MS 100 /* how long a wait may not notice that the launcher has gone */

/* A socket that is bound cannot be bound again: each port gets a new one. The descriptor, or -1 and errno. */
static int open_bound(int type, const struct vv_address *address, int backlog) {
  int fd = socket(address->any.sa_family, type | SOCK_CLOEXEC, 0), on = 1;
  if (fd < 0) return -1;
  if ((backlog == 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0) &&
      bind(fd, &address->any, address->length) == 0 && (backlog == 0 || listen(fd, backlog) == 0)) {
    return fd;
  }
  int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

static int open_first_free(int type, struct vv_address *address, uint16_t port_min, uint16_t port_max, int backlog) {
  int fd = -1;
  for (unsigned port = port_min; fd < 0 && port <= port_max; port++) {
    vv_address_set_port(address, (uint16_t)port);
    fd = open_bound(type, address, backlog);
    if (fd < 0 && errno != EADDRINUSE && errno != EACCES) return -1;
  }
  return fd;
}

static int bind_error(const struct vv_address *address, uint16_t port_min, uint16_t port_max, struct vv_error *error) {
  char host[VV_ADDRESS_TEXT_MAX];
  vv_address_format_host(address, host);
  if (errno == EADDRNOTAVAIL) {
    vv_error_set(error, "bad-address", "%.64s is not an address of this host", host);
    return vv_error_remedy(error, "give an address that `ip address` shows here");
  }
  if (errno != EADDRINUSE && errno != EACCES)
    return vv_error_errno(error, "socket", "cannot open a socket on %.64s", host);
  vv_error_errno(error, "no-port", "no port from %u to %u is free on %.64s", port_min, port_max, host);
  return vv_error_remedy(error, "give a wider range: --port LO-HI");
}

/* backlog 0: it does not listen. */
static int open_socket(int type, struct vv_address *address, uint16_t port_min, uint16_t port_max, int backlog,
                       struct vv_error *error) {
  int fd = open_first_free(type, address, port_min, port_max, backlog);
  if (fd < 0) return bind_error(address, port_min, port_max, error);
  if (vv_socket_own(fd, address, error) == 0) return fd;
  close(fd);
  return -1;
}

int vv_socket_bound(int type, struct vv_address *address, uint16_t port_min, uint16_t port_max,
                    struct vv_error *error) {
  return open_socket(type, address, port_min, port_max, 0, error);
}

int vv_socket_listening(struct vv_address *address, uint16_t port_min, uint16_t port_max, int backlog,
                        struct vv_error *error) {
  return open_socket(SOCK_STREAM, address, port_min, port_max, backlog, error);
}

int vv_socket_own(int fd, struct vv_address *address, struct vv_error *error) {
  address->length = sizeof address->v6;
  if (getsockname(fd, &address->any, &address->length) == 0) return 0;
  return vv_error_errno(error, "socket", "cannot tell a socket's own address");
}

int vv_socket_peer(int fd, struct vv_address *address, struct vv_error *error) {
  address->length = sizeof address->v6;
  if (getpeername(fd, &address->any, &address->length) == 0) return 0;
  return vv_error_errno(error, "socket", "cannot tell a socket's peer");
}

static int connect_error(int reason, const struct vv_address *peer, struct vv_error *error) {
  char text[VV_ADDRESS_TEXT_MAX];
  vv_address_format(peer, text);
  errno = reason;
  const char *code = reason == ETIMEDOUT ? "timeout" : reason == ECONNREFUSED ? "refused" : "unreachable";
  vv_error_errno(error, code, "cannot connect to %s", text);
  return vv_error_remedy(error, "see that the other end runs and that no firewall is between");
}

static int look_ms(vv_ns deadline_ns) {
  const int left_ms = vv_clock_left_ms(deadline_ns);
  return left_ms < LOOK_MS ? left_ms : LOOK_MS;
}

/* TCP goes on connecting by itself, for minutes where nobody answers: what is left is to wait for the outcome. */
static int connect_outcome(int fd, vv_ns deadline_ns) {
  struct pollfd entry = {.fd = fd, .events = POLLOUT};
  while (poll(&entry, 1, look_ms(deadline_ns)) <= 0) {
    if (vv_clock_ns() >= deadline_ns || vv_watch_launcher_gone()) return ETIMEDOUT;
  }
  int reason = 0;
  socklen_t length = sizeof reason;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &length);
  return reason;
}

int vv_socket_connect(int fd, const struct vv_address *peer, vv_ns deadline_ns, struct vv_error *error) {
  int on = 1, off = 0;
  ioctl(fd, FIONBIO, &on);
  int reason = connect(fd, &peer->any, peer->length) == 0 ? 0 : errno;
  if (reason == EINPROGRESS || reason == EINTR) reason = connect_outcome(fd, deadline_ns);
  ioctl(fd, FIONBIO, &off);
  return reason == 0 ? 0 : connect_error(reason, peer, error);
}

bool vv_socket_write_all(int fd, const uint8_t *bytes, size_t count) {
  for (size_t at = 0; at < count;) {
    const ssize_t went = send(fd, bytes + at, count - at, MSG_NOSIGNAL);
    if (went < 0 && errno == EINTR) continue;
    if (went < 0) return false;
    at += (size_t)went;
  }
  return true;
}

void vv_socket_keepalive(int fd, int seconds) {
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
#if defined(__linux__) && !defined(VV_PORTABLE)
  const int probes = 3, pause = seconds / (probes + 1) > 0 ? seconds / (probes + 1) : 1;
  const unsigned patience_ms = (unsigned)seconds * 1000;
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &pause, sizeof pause);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
#else
  (void)seconds;
#endif
}
