/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that messages are sent from and received into.
 *
 * Hot: one slot, used again and again. Cold: a ring of slots, at least twice the
 * last-level cache, so that a slot has left every cache when its turn comes
 * again. Slots lie whole cache lines apart and one further than they need, or
 * they would all fall into the same sets.
 */
#ifndef VV_PROBE_KIT_SLOTS_H
#define VV_PROBE_KIT_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "io/os/error.h"
#include "probe/base/config.h"

struct vv_slots {
  uint8_t *memory; /* page-aligned, touched; owned */
  size_t bytes;
  size_t stride;
  size_t slots; /* >= 1 */
};

/* Makes a ring for messages of up to size_bytes. 0, or -1 and *error "no-memory". */
int vv_slots_open(struct vv_slots *ring, enum vv_probe_buffers kind, size_t size_bytes, struct vv_error *error);
void vv_slots_close(struct vv_slots *ring);

/* The slot of message number seq. */
static inline uint8_t *vv_slots_at(const struct vv_slots *ring, uint64_t seq) {
  return ring->memory + (ring->slots == 1 ? 0 : (seq % ring->slots) * ring->stride);
}

#endif
