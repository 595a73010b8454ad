/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of 32-bit numbers (indices into something), first in first out, of a fixed size. */
#ifndef VV_CORE_BASE_RING_H
#define VV_CORE_BASE_RING_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct vv_ring {
  uint32_t *values; /* the caller's: room of them, as long as the ring lives */
  uint32_t room;
  uint32_t first; /* place of the oldest */
  uint32_t count;
};

/* Puts a number behind all others: false when the ring is full. */
static inline bool vv_ring_push(struct vv_ring *ring, uint32_t value) {
  if (ring->count == ring->room) return false;
  uint32_t behind = ring->room - ring->first;
  ring->values[ring->count < behind ? ring->first + ring->count : ring->count - behind] = value;
  ring->count++;
  return true;
}

/* The oldest number; the ring is not empty. */
static inline uint32_t vv_ring_first(const struct vv_ring *ring) {
  assert(ring->count > 0);
  return ring->values[ring->first];
}

/* Takes the oldest number away and returns it; the ring is not empty. */
static inline uint32_t vv_ring_pop(struct vv_ring *ring) {
  uint32_t value = vv_ring_first(ring);
  ring->first = ring->first + 1 == ring->room ? 0 : ring->first + 1;
  ring->count--;
  return value;
}

#endif
