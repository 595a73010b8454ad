/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP, one datagram a message; above the MTU the IP layer fragments it. Both sockets are connected: strangers are
 * filtered by the kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/os/datagram.h"
#include "io/os/socket.h"
#include "io/os/watch.h"
#include "stack/flows.h"

#define SIZE_BYTES_MAX 65507 /* 65535 less the IPv4 header (20) and the UDP header (8) */

struct vv_end {
  int fd;
  struct vv_stack_config config;
  struct vv_address own;
};

static void *give_up(struct vv_end *end) {
  if (end->fd >= 0) close(end->fd);
  free(end);
  return NULL;
}

/* The largest message must fit the buffers, whose default is below two of them on some systems. */
static int make_room(struct vv_end *end, struct vv_error *error) {
  int room_bytes = 8 * SIZE_BYTES_MAX;
  if (setsockopt(end->fd, SOL_SOCKET, SO_SNDBUF, &room_bytes, sizeof room_bytes) == 0 &&
      setsockopt(end->fd, SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof room_bytes) == 0) {
    return 0;
  }
  return vv_error_errno(error, "socket", "udp: cannot set the size of a socket's buffers");
}

/*
 * Probing the path's MTU would turn large messages into errors: they are to be fragmented. Over IPv6 no router does
 * that for us, so the kernel has to believe those who say what fits.
 */
static int allow_fragments(struct vv_end *end, struct vv_error *error) {
  int v6 = IPV6_PMTUDISC_DONT;
  int result = end->own.any.sa_family == AF_INET ? vv_datagram_own_mtu(end->fd)
                                                 : setsockopt(end->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &v6, sizeof v6);
  return result == 0 ? 0 : vv_error_errno(error, "socket", "udp: cannot turn path MTU discovery off");
}

static struct vv_end *udp_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  struct vv_end *end = malloc(sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for a udp end");
    return NULL;
  }
  *end = (struct vv_end){.fd = -1, .config = *config};
  if (vv_address_parse(config->address, 0, &end->own, error) != 0) return give_up(end);
  end->fd = vv_socket_bound(SOCK_DGRAM, &end->own, config->port_min, config->port_max, error);
  if (end->fd < 0 || make_room(end, error) != 0 || allow_fragments(end, error) != 0) return give_up(end);
  vv_address_format(&end->own, contact);
  return end;
}

static int udp_connect(struct vv_end *end, const char *peer_contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)deadline_ns;
  struct vv_address peer;
  if (vv_address_parse_pair(peer_contact, &peer, error) != 0) return -1;
  if (connect(end->fd, &peer.any, peer.length) == 0) return 0;
  return vv_error_errno(error, "unreachable", "udp: cannot reach %s", peer_contact);
}

static enum vv_got udp_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int flags = end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0;
  struct iovec pieces[2];
  struct msghdr both = {.msg_iov = pieces, .msg_iovlen = 2};
  if (end->config.write == VV_WRITE_WRITEV) vv_stack_pieces(message, size_bytes, pieces);
  for (;;) {
    ssize_t sent = end->config.write == VV_WRITE_WRITEV ? sendmsg(end->fd, &both, flags)
                                                        : send(end->fd, message, size_bytes, flags);
    if (sent >= 0) return VV_GOT_MESSAGE;
    enum vv_got got = vv_stack_judge(&end->config.stop, "udp", "send", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
}

static enum vv_got udp_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int flags = MSG_TRUNC | (end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0);
  for (;;) {
    ssize_t got_bytes = recv(end->fd, message, size_bytes, flags);
    if (got_bytes == (ssize_t)size_bytes) return VV_GOT_MESSAGE;
    if (got_bytes >= 0) continue;
    enum vv_got got = vv_stack_judge(&end->config.stop, "udp", "receive", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
}

static int udp_descriptor(const struct vv_end *end) {
  return end->fd;
}

static enum vv_got udp_flow(struct vv_flow *flows, size_t count, const struct vv_watch_stop *stop,
                            struct vv_error *error) {
  return vv_flows_run(flows, count, udp_descriptor, true, stop, error);
}

static void udp_close(struct vv_end *end) {
  if (end) give_up(end);
}

const struct vv_stack vv_stack_udp = {
    .id = "udp",
    .summary = "UDP, one datagram a message, fragmented by IP above the MTU",
    .size_bytes_min = 0,
    .size_bytes_max = SIZE_BYTES_MAX,
    .datagram = true,
    .path = VV_PATH_UDP,
    .open = udp_open,
    .accept = udp_connect,
    .connect = udp_connect,
    .send = udp_send,
    .recv = udp_recv,
    .flow = udp_flow,
    .close = udp_close,
};
