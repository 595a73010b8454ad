/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is due next among things with numbers: each of 0 .. room-1 has one
 * deadline or none. Equal deadlines come in the order in which they were set,
 * so that whatever is driven by a heap runs the same way every time.
 */
#ifndef VV_CORE_BASE_HEAP_H
#define VV_CORE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_NEVER UINT64_MAX /* no deadline */

struct vv_heap_entry {
  uint64_t ns;
  uint64_t order; /* among equals */
  uint32_t id;
};

struct vv_heap {
  struct vv_heap_entry *entries; /* the earliest first, each no later than its two children */
  uint32_t *places;              /* of each id among the entries; UINT32_MAX: it has no deadline */
  uint32_t count;
  uint32_t room;
  uint64_t orders; /* given so far */
};

/* The memory that a heap for 0 .. room-1 needs. It is the caller's, aligned for uint64_t, as long as the heap lives. */
size_t vv_heap_bytes(uint32_t room);
void vv_heap_init(struct vv_heap *heap, void *memory, uint32_t room);

/* Gives id (< room) a deadline, in place of the one it had. VV_NEVER takes it away. O(log room). */
void vv_heap_set(struct vv_heap *heap, uint32_t id, uint64_t ns);

/* The deadline of id; VV_NEVER when it has none. */
uint64_t vv_heap_get(const struct vv_heap *heap, uint32_t id);

/* The earliest deadline, VV_NEVER when there is none, and whose it is. */
uint64_t vv_heap_next_ns(const struct vv_heap *heap);
uint32_t vv_heap_next(const struct vv_heap *heap);

#endif
