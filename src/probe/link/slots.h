/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that messages are sent from and received into.
 *
 * Hot: one slot, used again and again. Cold: a ring of slots, at least twice the
 * last-level cache, so that a slot has left every cache when its turn comes
 * again. Slots lie whole cache lines apart and one further than they need, or
 * they would all fall into the same sets. A virtual machine is told of the whole
 * cache of its host, hundreds of MB, and each of its pages has to come from the
 * host first: a ring is kept from one size to the next.
 */
#ifndef VV_PROBE_LINK_SLOTS_H
#define VV_PROBE_LINK_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "io/os/error.h"
#include "probe/base/config.h"

/* All zero: no memory yet. */
struct vv_slots {
  uint8_t *memory; /* page-aligned, touched; owned */
  size_t bytes;
  size_t stride;
  size_t slots; /* >= 1 */
  size_t size_bytes;
  uint64_t seq;  /* the first message of this size */
  uint64_t slot; /* where it lies */
};

/*
 * Cuts a ring for messages of size_bytes, the first of which is number seq. They
 * follow on those before, by the same numbers, or these would be used again while
 * a cache still has them. The memory is another one only if that size needs more
 * or less: a host that is short of memory keeps nothing of a longer message. 1: what
 * slots hold is undefined. 0: it was cut so, and they hold what they held. -1 and
 * *error "no-memory": without memory.
 */
int vv_slots_cut(struct vv_slots *ring, enum vv_probe_buffers kind, size_t size_bytes, uint64_t seq,
                 struct vv_error *error);
void vv_slots_close(struct vv_slots *ring);

/* The slot of message number seq. */
static inline uint8_t *vv_slots_at(const struct vv_slots *ring, uint64_t seq) {
  return ring->memory + (ring->slots == 1 ? 0 : (ring->slot + (seq - ring->seq)) % ring->slots * ring->stride);
}

#endif
