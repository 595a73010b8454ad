/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/heap.h"

#include <assert.h>

enum { NONE = UINT32_MAX };

size_t vv_heap_bytes(uint32_t room) {
  return room * (sizeof(struct vv_heap_entry) + sizeof(struct vv_heap_run) + sizeof(struct vv_heap_member));
}

void vv_heap_init(struct vv_heap *heap, void *memory, uint32_t room) {
  struct vv_heap_entry *entries = memory;
  struct vv_heap_run *runs = (struct vv_heap_run *)(entries + room);
  struct vv_heap_member *members = (struct vv_heap_member *)(runs + room);
  *heap = (struct vv_heap){.entries = entries, .runs = runs, .members = members, .room = room, .latest = NONE};
  for (uint32_t i = 0; i < room; i++) {
    runs[i].first = i + 1 < room ? i + 1 : NONE;
    members[i].run = NONE;
  }
}

static bool earlier(const struct vv_heap_entry *a, const struct vv_heap_entry *b) {
  return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

static void put(struct vv_heap *heap, uint32_t place, struct vv_heap_entry entry) {
  heap->entries[place] = entry;
  heap->runs[entry.run].place = place;
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

static void begin_run(struct vv_heap *heap, uint32_t id, vv_ns ns) {
  uint32_t run = heap->free_run;
  heap->free_run = heap->runs[run].first;
  heap->runs[run].first = id;
  heap->members[id].before = NONE;
  heap->latest = run;
  sift_up(heap, heap->count++, (struct vv_heap_entry){.ns = ns, .order = heap->orders++, .run = run});
}

/* The last member has left. */
static void end_run(struct vv_heap *heap, uint32_t run) {
  uint32_t place = heap->runs[run].place;
  struct vv_heap_entry last = heap->entries[--heap->count];
  heap->runs[run].first = heap->free_run;
  heap->free_run = run;
  if (heap->latest == run) heap->latest = NONE;
  if (last.run == run) return;
  if (place > 0 && earlier(&last, &heap->entries[(place - 1) / 2])) {
    sift_up(heap, place, last);
  } else {
    sift_down(heap, place, last);
  }
}

static vv_ns run_ns(const struct vv_heap *heap, uint32_t run) {
  return heap->entries[heap->runs[run].place].ns;
}

static void join(struct vv_heap *heap, uint32_t id, vv_ns ns) {
  if (heap->latest != NONE && run_ns(heap, heap->latest) == ns) {
    uint32_t last = heap->runs[heap->latest].last;
    heap->members[last].behind = id;
    heap->members[id].before = last;
  } else {
    begin_run(heap, id, ns);
  }
  heap->members[id].run = heap->latest;
  heap->members[id].behind = NONE;
  heap->runs[heap->latest].last = id;
}

static void leave(struct vv_heap *heap, uint32_t id) {
  struct vv_heap_member *member = &heap->members[id];
  struct vv_heap_run *run = &heap->runs[member->run];
  if (run->first == run->last) {
    end_run(heap, member->run);
  } else if (run->first == id) {
    run->first = member->behind;
  } else if (run->last == id) {
    run->last = member->before;
  } else {
    heap->members[member->before].behind = member->behind;
    heap->members[member->behind].before = member->before;
  }
  member->run = NONE;
}

void vv_heap_set(struct vv_heap *heap, uint32_t id, vv_ns ns) {
  assert(id < heap->room);
  if (heap->members[id].run != NONE) leave(heap, id);
  if (ns != VV_NEVER) join(heap, id, ns);
}

vv_ns vv_heap_get(const struct vv_heap *heap, uint32_t id) {
  assert(id < heap->room);
  uint32_t run = heap->members[id].run;
  return run != NONE ? run_ns(heap, run) : VV_NEVER;
}

vv_ns vv_heap_next_ns(const struct vv_heap *heap) {
  return heap->count > 0 ? heap->entries[0].ns : VV_NEVER;
}

uint32_t vv_heap_next(const struct vv_heap *heap) {
  assert(heap->count > 0);
  return heap->runs[heap->entries[0].run].first;
}
