/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which positions this rank has, and the bytes of those that no user's buffer
 * holds: ahead of what is consumed, because they came early; behind it, because
 * a peer may still ask for them. Twice the window: whoever lacks position p keeps
 * every root below p + window, so nobody is asked for what it has overwritten.
 */
#ifndef VV_CORE_GROUP_STORE_H
#define VV_CORE_GROUP_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/gpdu.h"

enum vv_store_state {
  VV_STORE_EMPTY,
  VV_STORE_HELD,   /* the bytes are here */
  VV_STORE_PLACED, /* the bytes are in the buffer of the present operation */
};

struct vv_store_slot {
  uint64_t position;
  uint32_t bytes; /* HELD: of the body */
  uint8_t state;
  uint8_t kind; /* enum vv_gpdu_kind: whose body it is */
  bool own;     /* this rank sent it first */
};

struct vv_store {
  struct vv_store_slot *slots;
  uint8_t *bodies;
  uint32_t room; /* slots */
  uint32_t body_bytes;
};

size_t vv_store_bytes(uint32_t window_datagrams, uint32_t body_bytes);
void vv_store_init(struct vv_store *store, void *memory, uint32_t window_datagrams, uint32_t body_bytes);

/* The slot of that position; NULL when the store has it not. */
const struct vv_store_slot *vv_store_find(const struct vv_store *store, uint64_t position);

/* The body that a HELD slot holds. */
const uint8_t *vv_store_body(const struct vv_store *store, const struct vv_store_slot *slot);

/* Takes a slot for that position, whatever was in it, and gives the place for its body of `bytes`. */
uint8_t *vv_store_hold(struct vv_store *store, uint64_t position, enum vv_gpdu_kind kind, bool own, size_t bytes);

/* Forgets that position. */
void vv_store_drop(struct vv_store *store, uint64_t position);

/*
 * True when a peer may ask for that position after an operation that ends at `end`, whose buffer is then the user's
 * again: it is held from the beginning, when its bytes are at hand.
 */
bool vv_store_outlives(const struct vv_store *store, uint64_t position, uint64_t end);

/* Notes that the position lies in the buffer of the present operation. */
void vv_store_place(struct vv_store *store, uint64_t position, enum vv_gpdu_kind kind, bool own);

#endif
