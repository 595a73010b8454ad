/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/heap.h"

#include <assert.h>

size_t vv_heap_bytes(uint32_t room) {
  return room * (sizeof(struct vv_heap_entry) + sizeof(uint32_t));
}

void vv_heap_init(struct vv_heap *heap, void *memory, uint32_t room) {
  struct vv_heap_entry *entries = memory;
  *heap = (struct vv_heap){.entries = entries, .places = (uint32_t *)(entries + room), .room = room};
  for (uint32_t i = 0; i < room; i++) heap->places[i] = UINT32_MAX;
}

static bool earlier(const struct vv_heap_entry *a, const struct vv_heap_entry *b) {
  return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static void put(struct vv_heap *heap, uint32_t place, struct vv_heap_entry entry) {
  heap->entries[place] = entry;
  heap->places[entry.id] = place;
}

static void sift_up(struct vv_heap *heap, uint32_t place, struct vv_heap_entry entry) {
  while (place > 0) {
    uint32_t parent = (place - 1) / 2;
    if (!earlier(&entry, &heap->entries[parent])) break;
    put(heap, place, heap->entries[parent]);
    place = parent;
  }
  put(heap, place, entry);
}

static void sift_down(struct vv_heap *heap, uint32_t place, struct vv_heap_entry entry) {
  for (;;) {
    uint32_t child = 2 * place + 1;
    if (child >= heap->count) break;
    if (child + 1 < heap->count && earlier(&heap->entries[child + 1], &heap->entries[child])) child++;
    if (!earlier(&heap->entries[child], &entry)) break;
    put(heap, place, heap->entries[child]);
    place = child;
  }
  put(heap, place, entry);
}

static bool has(const struct vv_heap *heap, uint32_t id) {
  assert(id < heap->room);
  return heap->places[id] != UINT32_MAX;
}

static void settle(struct vv_heap *heap, uint32_t place, struct vv_heap_entry entry) {
  if (place > 0 && earlier(&entry, &heap->entries[(place - 1) / 2])) {
    sift_up(heap, place, entry);
  } else {
    sift_down(heap, place, entry);
  }
}

static void take_away(struct vv_heap *heap, uint32_t id) {
  uint32_t place = heap->places[id];
  struct vv_heap_entry last = heap->entries[--heap->count];
  heap->places[id] = UINT32_MAX;
  if (last.id != id) settle(heap, place, last);
}

void vv_heap_set(struct vv_heap *heap, uint32_t id, uint64_t ns) {
  bool had = has(heap, id);
  if (ns == VV_NEVER) {
    if (had) take_away(heap, id);
    return;
  }
  struct vv_heap_entry entry = {.ns = ns, .order = heap->orders++, .id = id};
  if (had) {
    settle(heap, heap->places[id], entry);
  } else {
    sift_up(heap, heap->count++, entry);
  }
}

uint64_t vv_heap_get(const struct vv_heap *heap, uint32_t id) {
  return has(heap, id) ? heap->entries[heap->places[id]].ns : VV_NEVER;
}

uint64_t vv_heap_next_ns(const struct vv_heap *heap) {
  return heap->count > 0 ? heap->entries[0].ns : VV_NEVER;
}

uint32_t vv_heap_next(const struct vv_heap *heap) {
  assert(heap->count > 0);
  return heap->entries[0].id;
}
