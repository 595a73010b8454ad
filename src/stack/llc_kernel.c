/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLC type 2 by the kernel: AF_LLC stream sockets, where it has them (the module
 * llc2). A message is a run of bytes whose length both ends know.
 *
 * A fault of Linux (6.1) shows here: it acknowledges what it then throws away
 * when the receive buffer is full. So that is made as large as an ordinary user
 * may: more than a window of frames.
 *
 * The contact is MAC/SAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/llc.h>
#include <net/if_arp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/time.h"
#include "io/port/sap.h"
#include "stack/stream.h"

enum { BACKLOG = 8, BUFFER_BYTES = 1 << 24 };

struct vv_end {
  int listener; /* -1 at the near end */
  struct vv_stream stream;
  struct vv_stack_config config;
  struct sockaddr_llc own;
};

static void *give_up(struct vv_end *end) {
  if (end->stream.fd >= 0) close(end->stream.fd);
  if (end->listener >= 0) close(end->listener);
  free(end);
  return NULL;
}

static int no_sockets(struct vv_error *error) {
  if (errno == EPERM || errno == EACCES) {
    vv_error_set(error, "no-permission", "sockets of LLC need CAP_NET_RAW, which this process does not have");
    return vv_error_remedy(error, "run as root, or give the program that capability with setcap");
  }
  if (errno != EAFNOSUPPORT && errno != ESOCKTNOSUPPORT) {
    return vv_error_errno(error, "socket", "cannot make an LLC socket");
  }
  vv_error_set(error, "no-llc", "this kernel has no sockets of LLC type 2 (AF_LLC) here");
  return vv_error_remedy(error, "load its module llc2 if there is one; in a network namespace (a lab) most kernels "
                                "have none. The stack llc needs none");
}

static int bind_socket(struct vv_end *end, int fd, struct vv_error *error) {
  socklen_t length = sizeof end->own;
  if (bind(fd, (struct sockaddr *)&end->own, sizeof end->own) != 0) {
    if (errno != EADDRINUSE) return vv_error_errno(error, "socket", "cannot bind an LLC socket");
    vv_error_set(error, "sap-taken", "another program of this host has the SAP 0x%02x", end->own.sllc_sap);
    return vv_error_remedy(error, "let that one end, or take another SAP");
  }
  if (end->config.far && listen(fd, BACKLOG) != 0) return vv_error_errno(error, "socket", "cannot listen");
  if (getsockname(fd, (struct sockaddr *)&end->own, &length) == 0) return 0;
  return vv_error_errno(error, "socket", "an LLC socket does not tell its SAP");
}

/* The far end's socket listens, the near end's will connect. */
static int open_socket(struct vv_end *end, struct vv_error *error) {
  char name[VV_IFACE_NAME_MAX];
  struct vv_iface iface;
  if (vv_stack_iface(&end->config, name, error) != 0 || vv_iface_read(name, &iface, error) != 0) return -1;
  int fd = socket(AF_LLC, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return no_sockets(error);
  *(end->config.far ? &end->listener : &end->stream.fd) = fd;
  if (end->config.sap && !vv_sap_usable(end->config.sap)) return vv_sap_refuse(end->config.sap, error);
  end->own = (struct sockaddr_llc){.sllc_family = AF_LLC, .sllc_arphrd = ARPHRD_ETHER, .sllc_sap = end->config.sap};
  memcpy(end->own.sllc_mac, iface.mac, sizeof iface.mac);
  return bind_socket(end, fd, error);
}

static struct vv_end *llc_kernel_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                      struct vv_error *error) {
  struct vv_end *end = malloc(sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an llc-kernel end");
    return NULL;
  }
  *end = (struct vv_end){.listener = -1, .stream = {.fd = -1}, .config = *config};
  if (open_socket(end, error) != 0) return give_up(end);
  const uint8_t *mac = end->own.sllc_mac;
  snprintf(contact, VV_STACK_CONTACT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x/%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
           mac[5], end->own.sllc_sap);
  return end;
}

static int parse_contact(const char *contact, struct sockaddr_llc *peer, struct vv_error *error) {
  unsigned mac[IFHWADDRLEN], sap;
  int rest = 0;
  int got = sscanf(contact, "%2x:%2x:%2x:%2x:%2x:%2x/%2x%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &sap,
                   &rest);
  if (got != 7 || contact[rest] != '\0') {
    return vv_error_set(error, "bad-contact", "llc-kernel: '%s' is no contact of an llc-kernel end", contact);
  }
  *peer = (struct sockaddr_llc){.sllc_family = AF_LLC, .sllc_arphrd = ARPHRD_ETHER, .sllc_sap = (uint8_t)sap};
  for (size_t i = 0; i < IFHWADDRLEN; i++) peer->sllc_mac[i] = (uint8_t)mac[i];
  return 0;
}

static void prepare(struct vv_end *end) {
  int bytes = BUFFER_BYTES;
  setsockopt(end->stream.fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  end->stream.sent = end->stream.received = 0;
}

static int llc_kernel_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error) {
  struct sockaddr_llc near, peer;
  if (parse_contact(near_contact, &near, error) != 0) return -1;
  if (vv_stack_check_macs(end->own.sllc_mac, near.sllc_mac, error) != 0) return -1;
  if (end->stream.fd >= 0) close(end->stream.fd);
  end->stream.fd = -1;
  for (;;) {
    if (vv_watch_wait(&end->listener, 1, deadline_ns, error) < 0) return -1;
    socklen_t length = sizeof peer;
    int fd = accept4(end->listener, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC);
    if (fd < 0) continue;
    if (memcmp(peer.sllc_mac, near.sllc_mac, IFHWADDRLEN) == 0 && peer.sllc_sap == near.sllc_sap) {
      end->stream.fd = fd;
      prepare(end);
      return 0;
    }
    close(fd);
  }
}

/* Until the connection stands. The kernel repeats what is lost by itself. */
static int await_connection(struct vv_end *end, const char *contact, vv_ns deadline_ns, struct vv_error *error) {
  struct pollfd entry = {.fd = end->stream.fd, .events = POLLOUT};
  for (;;) {
    vv_ns left_ns = deadline_ns - vv_clock_ns();
    if (left_ns <= 0) return vv_error_set(error, "timeout", "llc-kernel: no answer from %s", contact);
    int ready = poll(&entry, 1, (int)(left_ns / VV_MS) + 1);
    if (vv_watch_launcher_gone()) return vv_error_set(error, "launcher-gone", "the launcher has gone");
    if (ready <= 0) continue;
    if (!(entry.revents & (POLLHUP | POLLERR))) return 0;
    return vv_error_set(error, "refused", "llc-kernel: %s accepts no connection", contact);
  }
}

static int llc_kernel_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  struct sockaddr_llc peer;
  if (parse_contact(far_contact, &peer, error) != 0) return -1;
  if (vv_stack_check_macs(end->own.sllc_mac, peer.sllc_mac, error) != 0) return -1;
  int flags = fcntl(end->stream.fd, F_GETFL);
  fcntl(end->stream.fd, F_SETFL, flags | O_NONBLOCK);
  if (connect(end->stream.fd, (struct sockaddr *)&peer, sizeof peer) != 0 && errno != EINPROGRESS) {
    return vv_error_errno(error, "refused", "llc-kernel: cannot connect to %s", far_contact);
  }
  if (await_connection(end, far_contact, deadline_ns, error) != 0) return -1;
  fcntl(end->stream.fd, F_SETFL, flags);
  prepare(end);
  return 0;
}

static enum vv_got llc_kernel_send(struct vv_end *end, const uint8_t *message, size_t size_bytes,
                                   struct vv_error *error) {
  return vv_stream_send(&end->stream, &end->config, "llc-kernel", message, size_bytes, error);
}

static enum vv_got llc_kernel_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  return vv_stream_recv(&end->stream, &end->config, "llc-kernel", message, size_bytes, error);
}

static void llc_kernel_close(struct vv_end *end) {
  if (end) give_up(end);
}

const struct vv_stack vv_stack_llc_kernel = {
    .id = "llc-kernel",
    .summary = "LLC type 2 by the kernel: AF_LLC sockets, where it has them",
    .needs = "CAP_NET_RAW, the module llc2",
    .size_bytes_min = 1,
    .size_bytes_max = (size_t)64 << 20,
    .path = VV_PATH_LLC_KERNEL,
    .open = llc_kernel_open,
    .accept = llc_kernel_accept,
    .connect = llc_kernel_connect,
    .send = llc_kernel_send,
    .recv = llc_kernel_recv,
    .close = llc_kernel_close,
};
