/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The road between two ranks of a job, as one of them sees it: messages both ways over
 * one stream of bytes that neither loses nor reorders any (the kernel's TCP; who is at
 * the other end is proved before). Pure: the owner carries the bytes.
 *
 * A message has a label, and goes to whoever takes one with that label: those of one
 * label arrive in order, and are in nobody's way who waits for another label, up to
 * VV_ROAD_UNTAKEN_MAX of them. While there is room at the receiver a small one travels
 * at once, and is kept there until it is taken. A large one is offered, and its bytes
 * travel when the receiver has said where they go: they are copied once, by the kernel.
 * So memory is bounded at both ends, whatever the other one does.
 *
 *   EAGER   label, size, its bytes      at most VV_ROAD_EAGER_BYTES, out of the credit but for its reserve
 *   OFFER   label, size                 out of the credit, too: VV_ROAD_KEPT_BYTES
 *   GO      number of the offer, size   the receiver is ready; size 0: it has no room, and lets it go
 *   DATA    number of the offer, size, its bytes
 *   CREDIT  bytes, 0                    so many of the receiver's store are free again
 *
 * A header is core/wire/milestone.h's. Offers are numbered as they come, from 0.
 */
#ifndef VV_CORE_ROAD_ROAD_H
#define VV_CORE_ROAD_ROAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/milestone.h"

#define VV_ROAD_EAGER_BYTES   16384 /* the largest message that travels before it is asked for */
#define VV_ROAD_KEPT_BYTES    128 /* what the store is charged for a message that nobody takes yet, besides its bytes */
#define VV_ROAD_STORE_BYTES   (8 * (VV_ROAD_EAGER_BYTES + VV_ROAD_KEPT_BYTES)) /* of the credit, and of the store */
#define VV_ROAD_RESERVE_BYTES (VV_ROAD_STORE_BYTES / 4)                        /* of the credit, for offers alone */
#define VV_ROAD_UNTAKEN_MAX   (VV_ROAD_RESERVE_BYTES / VV_ROAD_KEPT_BYTES)
#define VV_ROAD_KEPT_MAX      (VV_ROAD_STORE_BYTES / VV_ROAD_KEPT_BYTES)

/* A message that goes. Whoever sends it keeps it and its bytes where they are until it is done. */
struct vv_road_send {
  uint64_t label;
  const uint8_t *data;
  size_t size_bytes;
  bool done; /* its bytes have been given to the stream, or the receiver has let it go */
  struct vv_road_send *next;
  uint64_t number; /* of its offer */
};

/* A message that is waited for, likewise. */
struct vv_road_take {
  uint64_t label;
  uint8_t *buffer;
  size_t room_bytes;
  bool done;
  size_t size_bytes; /* of the message that came; above room_bytes: nothing of it is there */
  struct vv_road_take *next;
  uint64_t number; /* of the offer that it takes */
};

/* A message, or an offer of one, that nobody has taken yet. */
struct vv_road_kept {
  uint64_t label, number;
  size_t size_bytes;
  size_t at; /* an eager one's bytes in the store, which go round */
  bool offer;
  bool whole;                   /* all its bytes are there */
  bool released;                /* it is with who took it */
  struct vv_road_take *claimed; /* by whom, while its bytes are still coming */
};

struct vv_road_sends {
  struct vv_road_send *first, *last;
};
struct vv_road_takes {
  struct vv_road_take *first, *last;
};

struct vv_road {
  struct vv_road_sends waiting, offered, called; /* not begun; offered; the receiver said GO */
  struct vv_road_takes open, going, gone;        /* no message yet; GO is to be said; GO was said */
  uint64_t offers_sent, offers_came;
  size_t credit_bytes; /* of the other end's store, that this end may use */
  size_t used_bytes;   /* of the store here, as charged, kept or not yet given back */
  size_t free_bytes;   /* of these, to be given back */
  struct {             /* what leaves */
    uint8_t header[VV_MILESTONE_BYTES];
    size_t header_left;
    const uint8_t *data;
    size_t data_left;
    struct vv_road_send *send; /* done when all has left */
  } out;
  struct { /* what comes */
    uint8_t header[VV_MILESTONE_BYTES];
    size_t header_got;
    size_t left;               /* bytes behind the header */
    struct vv_road_take *take; /* they go to its buffer, or nowhere */
    struct vv_road_kept *kept; /* or into the store */
  } in;
  uint32_t kept_first, kept_count;
  struct vv_road_kept kept[VV_ROAD_KEPT_MAX];
  size_t store_at; /* where the next byte goes */
  uint8_t store[VV_ROAD_STORE_BYTES];
  uint8_t nowhere[VV_ROAD_KEPT_BYTES]; /* for bytes that nobody has room for */
};

/* Nothing under way, all credit there. */
void vv_road_init(struct vv_road *road);

/* Begins to send; what it needs besides the members up to size_bytes is set here. */
void vv_road_send(struct vv_road *road, struct vv_road_send *send);

/* Begins to wait for the next message of that label; it may be done at once. */
void vv_road_take(struct vv_road *road, struct vv_road_take *take);

/* The label of the next message, from place *at on, which begins with 0, that has come and that nobody takes yet.
 * False: there are no more. */
bool vv_road_untaken(const struct vv_road *road, uint32_t *at, uint64_t *label);

/* Bytes that are to leave next: at most two pieces. How many pieces; 0: nothing is to leave. */
struct vv_road_piece {
  const uint8_t *data;
  size_t bytes;
};
unsigned vv_road_out(struct vv_road *road, struct vv_road_piece pieces[2]);

/* So many of them have left. */
void vv_road_left(struct vv_road *road, size_t bytes);

/* Where the next bytes that come are to be put, and how many fit there: at least 1. */
uint8_t *vv_road_in(struct vv_road *road, size_t *bytes);

/* So many have come there. False: the other end does not keep to what is said above, and nothing is to be believed. */
bool vv_road_came(struct vv_road *road, size_t bytes);

#endif
