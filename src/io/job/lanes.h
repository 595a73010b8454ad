/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roads of a rank to others of its job (core/road/road.h), each over a TCP
 * connection of its own, made when the first message goes or is waited for. A rank
 * listens where it hears datagrams, at the TCP port of the same number. Both ends
 * prove that they are of this session (CALL and ANSWER, core/wire/letter.h) before a
 * byte is believed. Where two ranks call each other at once the call of the lower one
 * counts.
 *
 * The kernel's TCP carries them, and no protocol of ours: between two ranks nobody
 * else is to be served, and its congestion control and its repairs are better than
 * what we would write.
 *
 * One descriptor tells of all of them. Nothing here waits.
 */
#ifndef VV_IO_JOB_LANES_H
#define VV_IO_JOB_LANES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "core/road/road.h"
#include "core/wire/letter.h"
#include "io/os/error.h"

/* A message that was begun. Whoever begins it keeps it, and its bytes, where they are until it has ended. */
struct vv_lanes_message {
  bool sends;
  struct vv_road_send send; /* of one that goes: label, data, size_bytes */
  struct vv_road_take take; /* of one that is waited for: label, buffer, room_bytes */
  bool ended;
  bool failed; /* the other rank is gone, or does not keep to the rules */
  struct vv_lanes_message *next;
};

struct vv_lanes_lane; /* the road to one rank, and its connection */

/* Who has connected and has not proved anything yet. */
#define VV_LANES_GUESTS_MAX 16
struct vv_lanes_guest {
  int fd; /* -1: none */
  uint8_t challenge[VV_LETTER_NONCE_BYTES];
  uint8_t letter[VV_LETTER_CALL_BYTES];
  size_t got;
};

struct vv_lanes {
  uint32_t ranks, rank;
  const struct sockaddr_in *peers; /* by rank */
  uint8_t key[VV_KEY_BYTES];       /* of the session */
  int listener;
  int fd;                         /* an epoll: readable when there is something to do */
  struct vv_lanes_lane **by_rank; /* by rank; NULL: none yet */
  bool in_use;                    /* there is one */
  bool has_untaken;               /* messages may be there that nobody took when they came */
  struct vv_lanes_guest guests[VV_LANES_GUESTS_MAX];
  uint32_t guest_next; /* whose place the next one gets */
};

/* Nothing is open, and close does nothing. */
void vv_lanes_init(struct vv_lanes *lanes);

/* Listens at that address and the TCP port of that number. 0, or -1 and *error. */
int vv_lanes_listen(struct vv_lanes *lanes, const struct sockaddr_in *own, struct vv_error *error);

/* Who the others are, all of which listen. 0, or -1 and *error. */
int vv_lanes_open(struct vv_lanes *lanes, uint32_t ranks, uint32_t rank, const struct sockaddr_in *peers,
                  const uint8_t key[VV_KEY_BYTES], struct vv_error *error);

/* Begins a message to or from another rank. It may have ended when this returns. */
void vv_lanes_begin(struct vv_lanes *lanes, uint32_t peer, struct vv_lanes_message *message);

/* As vv_road_untaken, of the road to that rank. */
bool vv_lanes_untaken(const struct vv_lanes *lanes, uint32_t peer, uint32_t *at, uint64_t *label);

/* Takes and sends what can be taken and sent now. */
void vv_lanes_turn(struct vv_lanes *lanes);

/* That rank is gone: messages to and from it fail, and those that are begun later. */
void vv_lanes_lost(struct vv_lanes *lanes, uint32_t peer);

void vv_lanes_close(struct vv_lanes *lanes);

#endif
