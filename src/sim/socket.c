/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/socket.h"

#include <stdlib.h>

#include "sim/memory.h"

/* 212992 bytes hold 71 full or 154 tiny datagrams. */
enum { FULL_CHARGE = 2990, TINY_CHARGE = 1380, TINY_BYTES = 128 };

uint64_t vv_sim_charge_bytes(size_t count) {
  return count <= TINY_BYTES ? TINY_CHARGE : FULL_CHARGE;
}

struct vv_sim_packet *vv_sim_packet_new(size_t count) {
  struct vv_sim_packet *packet = vv_sim_memory_must(malloc(sizeof *packet + count));
  *packet = (struct vv_sim_packet){.references = 1, .count = (uint32_t)count};
  return packet;
}

void vv_sim_packet_drop(struct vv_sim_packet *packet) {
  if (--packet->references == 0) free(packet);
}

void vv_sim_socket_open(struct vv_sim_socket *socket, uint64_t buffer_bytes) {
  uint32_t room = (uint32_t)(buffer_bytes / TINY_CHARGE + 2);
  *socket = (struct vv_sim_socket){.room = room, .buffer_bytes = buffer_bytes};
  socket->queue = vv_sim_memory_must(malloc(room * sizeof(struct vv_sim_packet *)));
}

void vv_sim_socket_close(struct vv_sim_socket *socket) {
  struct vv_sim_packet *packet;
  while ((packet = vv_sim_socket_take(socket)) != NULL) vv_sim_packet_drop(packet);
  free(socket->queue);
  socket->queue = NULL;
}

bool vv_sim_socket_put(struct vv_sim_socket *socket, struct vv_sim_packet *packet) {
  uint64_t charge = vv_sim_charge_bytes(packet->count);
  if (socket->charged_bytes + charge > socket->buffer_bytes || socket->count == socket->room) {
    socket->lost++;
    return false;
  }
  packet->references++;
  socket->charged_bytes += charge;
  socket->queue[(socket->first + socket->count++) % socket->room] = packet;
  if (socket->count > socket->count_max) socket->count_max = socket->count;
  return true;
}

struct vv_sim_packet *vv_sim_socket_take(struct vv_sim_socket *socket) {
  if (socket->count == 0) return NULL;
  struct vv_sim_packet *packet = socket->queue[socket->first];
  socket->first = (socket->first + 1) % socket->room;
  socket->count--;
  socket->read_bytes += vv_sim_charge_bytes(packet->count);
  if (socket->count == 0 || socket->read_bytes >= socket->buffer_bytes / 4) {
    socket->charged_bytes -= socket->read_bytes;
    socket->read_bytes = 0;
  }
  return packet;
}
