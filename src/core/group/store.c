/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/store.h"

#include <assert.h>

#include "core/base/carve.h"

static void lay_out(struct vv_store *store, struct vv_carve *carve) {
  store->slots = vv_carve(carve, store->room * sizeof *store->slots);
  store->bodies = vv_carve(carve, (size_t)store->room * store->body_bytes);
}

size_t vv_store_bytes(uint32_t window_datagrams, uint32_t body_bytes) {
  struct vv_store store = {.room = 2 * window_datagrams, .body_bytes = body_bytes};
  struct vv_carve carve = {0};
  lay_out(&store, &carve);
  return carve.used_bytes;
}

void vv_store_init(struct vv_store *store, void *memory, uint32_t window_datagrams, uint32_t body_bytes) {
  *store = (struct vv_store){.room = 2 * window_datagrams, .body_bytes = body_bytes};
  struct vv_carve carve = {.memory = memory};
  assert(memory != NULL);
  lay_out(store, &carve);
  for (uint32_t i = 0; i < store->room; i++) store->slots[i] = (struct vv_store_slot){.state = VV_STORE_EMPTY};
}

const struct vv_store_slot *vv_store_find(const struct vv_store *store, uint64_t position) {
  const struct vv_store_slot *slot = &store->slots[position % store->room];
  return slot->state != VV_STORE_EMPTY && slot->position == position ? slot : NULL;
}

static uint8_t *body_at(const struct vv_store *store, uint64_t position) {
  return store->bodies + position % store->room * store->body_bytes;
}

const uint8_t *vv_store_body(const struct vv_store *store, const struct vv_store_slot *slot) {
  assert(slot->state == VV_STORE_HELD);
  return body_at(store, slot->position);
}

uint8_t *vv_store_hold(struct vv_store *store, uint64_t position, enum vv_gpdu_kind kind, bool own, size_t bytes) {
  assert(bytes <= store->body_bytes);
  store->slots[position % store->room] =
      (struct vv_store_slot){position, (uint32_t)bytes, VV_STORE_HELD, (uint8_t)kind, own};
  return body_at(store, position);
}

void vv_store_drop(struct vv_store *store, uint64_t position) {
  struct vv_store_slot *slot = &store->slots[position % store->room];
  if (slot->position == position) slot->state = VV_STORE_EMPTY;
}

void vv_store_place(struct vv_store *store, uint64_t position, enum vv_gpdu_kind kind, bool own) {
  store->slots[position % store->room] = (struct vv_store_slot){position, 0, VV_STORE_PLACED, (uint8_t)kind, own};
}

bool vv_store_outlives(const struct vv_store *store, uint64_t position, uint64_t end) {
  return position + store->room / 2 >= end;
}
