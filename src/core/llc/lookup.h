/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From an address to the number of a link: a hash table that is made anew when
 * a link gets another peer, which is seldom, and asked for every frame.
 */
#ifndef VV_CORE_LLC_LOOKUP_H
#define VV_CORE_LLC_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "core/llc/address.h"

#define VV_LLC_LOOKUP_NONE UINT32_MAX

struct vv_llc_lookup {
  uint32_t *places; /* numbers, VV_LLC_LOOKUP_NONE where there is none */
  uint32_t mask;    /* places - 1: their count is a power of 2, and at least half of them are free */
};

/* How many places a table for so many links has. They are the caller's, as long as the table. */
uint32_t vv_llc_lookup_places(uint32_t links);
/* An empty table. */
void vv_llc_lookup_init(struct vv_llc_lookup *lookup, uint32_t *places, uint32_t links);
/* Puts a number in, of an address that is not in it. */
void vv_llc_lookup_add(struct vv_llc_lookup *lookup, const struct vv_llc_address *address, uint32_t number);
/* The address of number i is at addresses + i * stride. VV_LLC_LOOKUP_NONE when no number has this address. */
uint32_t vv_llc_lookup_find(const struct vv_llc_lookup *lookup, const struct vv_llc_address *address,
                            const struct vv_llc_address *addresses, size_t stride);

#endif
