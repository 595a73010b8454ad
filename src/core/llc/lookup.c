/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/lookup.h"

#include <string.h>

uint32_t vv_llc_lookup_places(uint32_t links) {
  uint32_t places = 2;
  while (places < 2 * links) places *= 2;
  return places;
}

void vv_llc_lookup_init(struct vv_llc_lookup *lookup, uint32_t *places, uint32_t links) {
  *lookup = (struct vv_llc_lookup){.places = places, .mask = vv_llc_lookup_places(links) - 1};
  for (uint32_t i = 0; i <= lookup->mask; i++) places[i] = VV_LLC_LOOKUP_NONE;
}

#define FNV_BASIS 2166136261u
#define FNV_PRIME 16777619u

/* FNV-1a. Who chooses addresses to collide slows nobody but a host that he could flood as well. */
static uint32_t hash(const struct vv_llc_address *address) {
  uint32_t value = FNV_BASIS;
  for (int i = 0; i < VV_MAC_BYTES; i++) value = (value ^ address->mac[i]) * FNV_PRIME;
  value = (value ^ address->sap) * FNV_PRIME;
  return value ^ value >> 16;
}

void vv_llc_lookup_add(struct vv_llc_lookup *lookup, const struct vv_llc_address *address, uint32_t number) {
  uint32_t place = hash(address) & lookup->mask;
  while (lookup->places[place] != VV_LLC_LOOKUP_NONE) place = (place + 1) & lookup->mask;
  lookup->places[place] = number;
}

uint32_t vv_llc_lookup_find(const struct vv_llc_lookup *lookup, const struct vv_llc_address *address,
                            const struct vv_llc_address *addresses, size_t stride) {
  for (uint32_t place = hash(address) & lookup->mask;; place = (place + 1) & lookup->mask) {
    uint32_t number = lookup->places[place];
    if (number == VV_LLC_LOOKUP_NONE) return VV_LLC_LOOKUP_NONE;
    const void *at = (const char *)addresses + number * stride;
    if (vv_llc_address_compare(at, address) == 0) return number;
  }
}
