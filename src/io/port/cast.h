/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sockets of one rank of a group: UDP over IPv4.
 *
 *   data      what roots send to everybody          port P of the group's address
 *   everyone  control PDUs to everybody             port P + 1 of the group's address
 *   own       control PDUs to this rank; all that it sends leaves from here
 *
 * The group's address is a multicast address, or the broadcast address of the
 * subnet. Several ranks may share a host: each has a copy of what goes to all. Where
 * neither address reaches all, each rank has the first two sockets at its own address
 * and ports of their own, and what goes to all goes to each.
 */
#ifndef VV_IO_PORT_CAST_H
#define VV_IO_PORT_CAST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/wire/trial.h"
#include "io/os/datagram.h"
#include "io/os/error.h"

enum { VV_CAST_DATA, VV_CAST_EVERYONE, VV_CAST_OWN, VV_CAST_SOCKETS };

#define VV_CAST_BATCH VV_DATAGRAM_BATCH

struct vv_cast {
  int fds[VV_CAST_SOCKETS];    /* -1: closed */
  struct sockaddr_in own;      /* where `own` is bound */
  struct sockaddr_in group;    /* address of the group, port P; 0 until it is joined, own where there is none */
  uint16_t ports[VV_CAST_OWN]; /* of `data` and `everyone` */
  uint32_t mtu_bytes;          /* of that interface */
  uint32_t shared_mbps;        /* of the medium that it shares with others (vv_iface_shared_mbps); 0: of its own */
  uint64_t room_bytes;         /* of each socket's buffer; 0: unknown */
  bool awaits;                 /* vv_cast_await comes to an end */
  size_t cut_bytes;            /* so long are the datagrams of a train, which passes the kernel as one; 0: no trains */
  struct vv_datagram_filter filter; /* of `data` and `everyone` */
  uint32_t filter_changes;          /* so often it was changed since the group's address was joined */
};

/* Opens `own` at that numeric IPv4 address, any port. 0, or -1 and *error ("bad-address", "no-iface", "no-port",
 * "socket"). Close it in both cases. */
int vv_cast_open(struct vv_cast *cast, const char *address, struct vv_error *error);

/* The multicast address that the session's key and the group's stream name, in 239.192.0.0/14 (RFC 2365, section 6.2).
 */
struct in_addr vv_cast_group_of(const uint8_t key[16], uint32_t stream);

/*
 * Opens `data` and `everyone` at that address and ports port, port + 1, and hears
 * datagrams of that stream alone, whose lowest byte is 0; what was joined before is
 * left. `shared`: a multicast address that other ranks on this host must hear too.
 * 0, or -1 and *error. `own` hears the VV_DATAGRAM_STREAMS streams that begin there.
 */
int vv_cast_join(struct vv_cast *cast, struct in_addr address, uint16_t port, uint32_t stream, bool shared,
                 struct vv_error *error);

/* The same where there is no address of the group: both at that of this rank, and ports that the kernel draws. */
int vv_cast_join_alone(struct vv_cast *cast, uint32_t stream, struct vv_error *error);

/*
 * Hears the streams of these numbers above the one that was joined, too, from now on and for as long as it is joined:
 * a kernel is told once of each. Each < VV_DATAGRAM_STREAMS.
 */
void vv_cast_admit(struct vv_cast *cast, const uint32_t *numbers, unsigned count);

/* Leaves the multicast group and joins it again: switches then hear that this host is there. */
void vv_cast_rejoin(struct vv_cast *cast);

/*
 * The next datagrams of that socket, each in the next `room` of `bytes`, which has
 * VV_CAST_BATCH of them, and how long they are: 0 if one is longer than room, or of
 * this rank itself. How many; fewer than VV_CAST_BATCH: no more have come. Does not wait.
 */
unsigned vv_cast_recv(struct vv_cast *cast, int socket, uint8_t *bytes, size_t room, size_t counts[VV_CAST_BATCH]);

/*
 * The same of `data`, `most` datagrams. Sleeps for the first, a few milliseconds at
 * most, if cast->awaits: who waits for one datagram makes one system call. 0: none
 * has come, or a signal has.
 */
unsigned vv_cast_await(struct vv_cast *cast, uint8_t *bytes, size_t room, size_t counts[VV_CAST_BATCH], unsigned most);

/* Datagrams of that length are sent as trains from now on, if the kernel has such, and none that are longer; 0: none.
 */
void vv_cast_cut(struct vv_cast *cast, size_t datagram_bytes);

/* A datagram to send: where to, and its two pieces. */
struct vv_cast_datagram {
  struct sockaddr_in to;
  struct iovec pieces[2];
};

/*
 * Sends up to VV_CAST_BATCH datagrams; waits for room in the socket. Those in a row
 * that go to one place pass the kernel as one train (vv_cast_cut). What does not go is lost, as on any wire (ENOBUFS
 * and what a peer's kernel says).
 */
void vv_cast_send(struct vv_cast *cast, struct vv_cast_datagram *datagrams, unsigned count);

/* Where those that have that address of the group hear `data` or `everyone`. */
struct sockaddr_in vv_cast_place(const struct vv_cast *cast, int socket);

void vv_cast_close(struct vv_cast *cast);

#endif
