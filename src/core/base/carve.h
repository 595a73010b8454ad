/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays cut one behind the other out of memory that the caller gives at
 * set-up. The same walk over the same arrays, without memory, says how much
 * they need: so a size and what it is the size of cannot drift apart.
 */
#ifndef VV_CORE_BASE_CARVE_H
#define VV_CORE_BASE_CARVE_H

#include <stddef.h>

struct vv_carve {
  unsigned char *memory; /* aligned for any number or pointer; NULL: only count */
  size_t used_bytes;
};

/* The next `bytes` of the memory, aligned to 8; NULL when only counting. */
static inline void *vv_carve(struct vv_carve *carve, size_t bytes) {
  unsigned char *cut = carve->memory == NULL ? NULL : carve->memory + carve->used_bytes;
  carve->used_bytes += (bytes + 7) / 8 * 8;
  return cut;
}

#endif
