/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts a message together from fragments that come in any order, more than
 * once, or not at all.
 *
 * One message is under way at a time. A fragment of a later one of the right
 * size takes its place: what is missing of the earlier one is lost. Fragments
 * of earlier messages, and of a message that was whole already, are dropped.
 */
#ifndef VV_CORE_WIRE_REASSEMBLY_H
#define VV_CORE_WIRE_REASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/fragment.h"

struct vv_reassembly {
  uint8_t *into; /* the caller's */
  size_t size_bytes;
  size_t unit_bytes;
  size_t count;     /* fragments of such a message */
  size_t missing;   /* of the message under way */
  uint32_t message; /* under way, or the last that was whole */
  bool any;         /* message means something */
  uint64_t have[(VV_FRAGMENTS_MAX + 63) / 64];
};

void vv_reassembly_init(struct vv_reassembly *reassembly);

/*
 * From now on messages of size_bytes (<= VV_FRAGMENTED_BYTES_MAX), cut in units
 * of unit_bytes, are written to `into`. Said again with the same values it
 * keeps what has come.
 */
void vv_reassembly_expect(struct vv_reassembly *reassembly, uint8_t *into, size_t size_bytes, size_t unit_bytes);

/* Takes a fragment: true when the message is whole with it. */
bool vv_reassembly_take(struct vv_reassembly *reassembly, const struct vv_fragment *fragment);

#endif
