/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A UDP receive buffer as Linux keeps it: what each datagram is charged depends
 * on the memory that its frame took, not on its size; a datagram that finds the
 * buffer full is lost; what was read is given back only when a quarter of the
 * buffer has been read, or nothing is left in it.
 */
#ifndef VV_SIM_SOCKET_H
#define VV_SIM_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/gpdu.h"

/* A datagram on its way: one piece of memory, however many receive it. */
struct vv_sim_packet {
  uint32_t references;
  uint32_t count;
  bool data; /* for DATA sockets, else for CONTROL sockets */
  bool good; /* somebody has parsed it, and `pdu` is what it says */
  struct vv_gpdu pdu;
  uint8_t bytes[];
};

struct vv_sim_socket {
  struct vv_sim_packet **queue; /* a ring */
  uint32_t room, first, count, count_max;
  uint64_t buffer_bytes;
  uint64_t charged_bytes;
  uint64_t read_bytes; /* read, and not given back */
  uint64_t lost;       /* datagrams that found it full */
};

/* What the kernel charges for a datagram of that size on a shaped virtual link. */
uint64_t vv_sim_charge_bytes(size_t count);

struct vv_sim_packet *vv_sim_packet_new(size_t count);
void vv_sim_packet_drop(struct vv_sim_packet *packet);

void vv_sim_socket_open(struct vv_sim_socket *socket, uint64_t buffer_bytes);
void vv_sim_socket_close(struct vv_sim_socket *socket);

/* Puts a reference to the packet in; false when it is lost. */
bool vv_sim_socket_put(struct vv_sim_socket *socket, struct vv_sim_packet *packet);

/* The oldest datagram, whose reference is the caller's; NULL: none. */
struct vv_sim_packet *vv_sim_socket_take(struct vv_sim_socket *socket);

#endif
