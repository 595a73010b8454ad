/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/early.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

void vv_llc_early_init(struct vv_llc_early *early, uint32_t places) {
  early->free = VV_LLC_NO_EARLY;
  for (uint32_t place = places; place-- > 0;) {
    early->pdus[place].next = early->free;
    early->free = place;
  }
}

/* True when that place is before the number, in the sense of numbers that wrap. */
static bool is_before(const struct vv_llc_early *early, uint32_t place, uint32_t number) {
  return place != VV_LLC_NO_EARLY && (int32_t)(early->pdus[place].number - number) < 0;
}

void vv_llc_early_keep(struct vv_llc_early *early, uint32_t *chain, uint32_t number, const uint8_t *bytes,
                       uint32_t count) {
  assert(count <= early->room_bytes);
  uint32_t place = early->free, *link = chain;
  while (is_before(early, *link, number)) link = &early->pdus[*link].next;
  bool kept = *link != VV_LLC_NO_EARLY && early->pdus[*link].number == number;
  if (kept || place == VV_LLC_NO_EARLY) return;
  early->free = early->pdus[place].next;
  early->pdus[place] = (struct vv_llc_early_pdu){.number = number, .count = count, .next = *link};
  *link = place;
  memcpy(early->bytes + (size_t)place * early->room_bytes, bytes, count);
}

void vv_llc_early_pop(struct vv_llc_early *early, uint32_t *chain) {
  uint32_t place = *chain;
  assert(place != VV_LLC_NO_EARLY);
  *chain = early->pdus[place].next;
  early->pdus[place].next = early->free;
  early->free = place;
}

uint32_t vv_llc_early_first(struct vv_llc_early *early, uint32_t *chain, uint32_t number) {
  while (is_before(early, *chain, number)) vv_llc_early_pop(early, chain);
  return *chain;
}

void vv_llc_early_clear(struct vv_llc_early *early, uint32_t *chain) {
  while (*chain != VV_LLC_NO_EARLY) vv_llc_early_pop(early, chain);
}
