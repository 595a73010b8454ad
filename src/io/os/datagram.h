/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel can do for sockets beyond POSIX, asked for in one place. Each
 * function says what follows where it cannot (a build with -Dportable=true has
 * none of it).
 */
#ifndef VV_IO_OS_DATAGRAM_H
#define VV_IO_OS_DATAGRAM_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define VV_DATAGRAM_STREAMS 256

/* Which datagrams a socket lets in: others cost no room in its buffer. */
struct vv_datagram_filter {
  uint8_t kind_min, kind_max; /* the first byte is one of these */
  uint32_t stream;            /* and the next three are this, whose lowest byte is 0, and a number that is admitted */
  uint32_t admitted[VV_DATAGRAM_STREAMS / 32]; /* bit n % 32 of word n / 32: the number n */
  struct sockaddr_in own;                      /* and it is not from there */
};

/* Lets only such IPv4 datagrams through from now on. Without it they are dropped by who reads them. */
void vv_datagram_filter(int fd, const struct vv_datagram_filter *filter);

/* Only multicast groups that this socket has joined; without it any group that the host has joined. */
void vv_datagram_joined_only(int fd);

/*
 * IPv4 datagrams that this socket sends are fragmented by the MTU of the interface, and by no smaller one that a router
 * has told, or anybody in its name (ICMP "fragmentation needed" is not signed). 0, or -1 and errno. Without it the
 * kernel may believe what it is told.
 */
int vv_datagram_own_mtu(int fd);

/* Asks for the largest receive buffer that anybody may have. The bytes it has: 0 if the kernel does not say. */
uint64_t vv_datagram_room_bytes(int fd);

/* What the kernel has charged to that buffer for what lies in it: 0 if it does not say. */
uint64_t vv_datagram_charged_bytes(int fd);

#define VV_DATAGRAM_BATCH 16

/*
 * Receives up to VV_DATAGRAM_BATCH datagrams, and tells their bytes. wait: for the first one, as the socket waits; then
 * those that are there. How many, or -1 and errno. One system call for all of them; without it one for each, and one
 * more.
 */
int vv_datagram_recv_many(int fd, struct msghdr *messages, size_t *bytes, unsigned count, bool wait);

/* Sends them, waiting for room. How many went, the first not among them if -1 and errno. One system call likewise. */
int vv_datagram_send_many(int fd, const struct msghdr *messages, unsigned count);

#define VV_DATAGRAM_TRAIN_BYTES_MAX 65000 /* of a train */

/*
 * From now on the kernel cuts what is sent in one call and is longer into datagrams of each_bytes, the last of which
 * may be shorter: they pass the kernel as one. 0: no more. False: it cannot, and nothing has changed.
 */
bool vv_datagram_cut(int fd, size_t each_bytes);

#endif
