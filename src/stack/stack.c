/* SPDX-License-Identifier: BSD-3-Clause */
#include "stack/stack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PORT_FIRST 49152 /* RFC 6335: dynamic ports */
#define PORT_LAST  65535

size_t vv_stack_pieces(const uint8_t *message, size_t size_bytes, struct iovec pieces[2]) {
  size_t head = size_bytes > VV_STACK_PIECE_BYTES ? VV_STACK_PIECE_BYTES : size_bytes / 2;
  pieces[0] = (struct iovec){.iov_base = (void *)(uintptr_t)message, .iov_len = head};
  pieces[1] = (struct iovec){.iov_base = (void *)(uintptr_t)(message + head), .iov_len = size_bytes - head};
  return head;
}

int vv_stack_iface(const struct vv_stack_config *config, char name[VV_IFACE_NAME_MAX], struct vv_error *error) {
  if (!config->iface) return vv_iface_of(config->address, name, error);
  if (snprintf(name, VV_IFACE_NAME_MAX, "%s", config->iface) < VV_IFACE_NAME_MAX) return 0;
  return vv_error_set(error, "no-iface", "'%.40s' is too long for the name of an interface", config->iface);
}

uint16_t vv_stack_port(const struct vv_stack_config *config, uint64_t hash, uint16_t count) {
  unsigned low = config->port_min ? config->port_min : PORT_FIRST,
           high = config->port_min ? config->port_max : PORT_LAST;
  unsigned first = (low + count - 1) / count, beyond = (high + 1) / count;
  return first < beyond ? (uint16_t)((first + hash % (beyond - first)) * count) : 0;
}

enum vv_got vv_stack_judge(const struct vv_watch_stop *stop, const char *id, const char *what, struct vv_error *error) {
  bool no_room = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
  bool asked = errno == EINTR || (no_room && vv_watch_rang());
  if (asked) return stop->ask(stop->context) ? VV_GOT_STOPPED : VV_GOT_MESSAGE;
  if (no_room) return VV_GOT_MESSAGE;
  if (errno == ECONNRESET || errno == EPIPE || errno == ENOTCONN || errno == ECONNREFUSED) return VV_GOT_CLOSED;
  vv_error_errno(error, "socket", "%s: cannot %s", id, what);
  return VV_GOT_ERROR;
}

int vv_stack_check_macs(const uint8_t own[6], const uint8_t peer[6], struct vv_error *error) {
  static const uint8_t loopback[6];
  if (memcmp(own, peer, sizeof loopback) != 0 || memcmp(own, loopback, sizeof loopback) == 0) return 0;
  vv_error_set(error, "one-host", "both ends are on one interface, and Ethernet brings no frame back to its sender");
  return vv_error_remedy(error, "put the ends on two hosts; on one host use tcp, or MPI's shared memory");
}
