/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is due next among things with numbers: each of 0 .. room-1 has one
 * deadline or none. Equal deadlines come in the order in which they were set,
 * so that whatever is driven by a heap runs the same way every time.
 *
 * Those that are set one after the other to the same time are a run, which has
 * one place in the heap: a frame that reaches a thousand stations at once costs
 * little more than one that reaches one.
 */
#ifndef VV_CORE_BASE_HEAP_H
#define VV_CORE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"

struct vv_heap_entry {
  vv_ns ns;
  uint64_t order; /* among equals */
  uint32_t run;
};

struct vv_heap_run {
  uint32_t place; /* among the entries */
  uint32_t first; /* of its members; of a free run, the next free one */
  uint32_t last;
};

struct vv_heap_member {
  uint32_t run; /* UINT32_MAX: it has no deadline */
  uint32_t before;
  uint32_t behind;
};

struct vv_heap {
  struct vv_heap_entry *entries; /* the earliest first, each no later than its two children */
  struct vv_heap_run *runs;
  struct vv_heap_member *members; /* by id */
  uint32_t count;                 /* of entries */
  uint32_t room;
  uint32_t free_run; /* UINT32_MAX: none */
  uint32_t latest;   /* the run that was begun last; UINT32_MAX: it is over */
  uint64_t orders;   /* given so far */
};

/* The memory that a heap for 0 .. room-1 needs. It is the caller's, aligned for uint64_t, as long as the heap lives. */
size_t vv_heap_bytes(uint32_t room);
void vv_heap_init(struct vv_heap *heap, void *memory, uint32_t room);

/* Gives id (< room) a deadline, in place of the one it had. VV_NEVER takes it away. O(log of the runs). */
void vv_heap_set(struct vv_heap *heap, uint32_t id, vv_ns ns);

/* The deadline of id; VV_NEVER when it has none. */
vv_ns vv_heap_get(const struct vv_heap *heap, uint32_t id);

/* The earliest deadline, VV_NEVER when there is none, and whose it is. */
vv_ns vv_heap_next_ns(const struct vv_heap *heap);
uint32_t vv_heap_next(const struct vv_heap *heap);

#endif
