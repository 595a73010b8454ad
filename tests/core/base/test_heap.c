/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap against a search of a plain table, over random orders: the earliest comes first, equals in their order. */
#include "core/base/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/rng.h"

enum { ROOM = 37 };

struct table {
  vv_ns ns[ROOM];
  uint64_t order[ROOM];
};

static uint32_t first_of(const struct table *table) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < ROOM; i++) {
    bool before =
        table->ns[i] != table->ns[best] ? table->ns[i] < table->ns[best] : table->order[i] < table->order[best];
    if (before) best = i;
  }
  return best;
}

static void check(const struct vv_heap *heap, const struct table *table) {
  uint32_t first = first_of(table);
  assert_int_equal(vv_heap_next_ns(heap), table->ns[first]);
  if (table->ns[first] != VV_NEVER) assert_int_equal(vv_heap_next(heap), first);
  for (uint32_t i = 0; i < ROOM; i++) assert_int_equal(vv_heap_get(heap, i), table->ns[i]);
}

static void one_life(uint64_t seed) {
  void *memory = malloc(vv_heap_bytes(ROOM));
  struct vv_heap heap;
  struct table table;
  struct vv_rng rng = {.state = seed};
  vv_heap_init(&heap, memory, ROOM);
  for (uint32_t i = 0; i < ROOM; i++) table.ns[i] = VV_NEVER;
  for (uint64_t step = 0; step < 500; step++) {
    uint32_t id = (uint32_t)(vv_rng_next(&rng) % ROOM);
    /* Few different times, so that many are equal; one order in four takes a deadline away. */
    vv_ns ns = vv_rng_next(&rng) % 4 == 0 ? VV_NEVER : vv_rng_next(&rng) % 9;
    vv_heap_set(&heap, id, ns);
    table.ns[id] = ns;
    table.order[id] = step;
    check(&heap, &table);
  }
  free(memory);
}

static void test_the_earliest_comes_first(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) one_life(seed);
}

static void test_deadlines_leave_in_order(void **state) {
  (void)state;
  void *memory = malloc(vv_heap_bytes(1000));
  struct vv_heap heap;
  struct vv_rng rng = {.state = 3};
  vv_heap_init(&heap, memory, 1000);
  assert_int_equal(vv_heap_next_ns(&heap), VV_NEVER);
  for (uint32_t i = 0; i < 1000; i++) vv_heap_set(&heap, i, vv_rng_next(&rng) >> 1);
  vv_ns last = 0;
  for (uint32_t left = 1000; left > 0; left--) {
    vv_ns ns = vv_heap_next_ns(&heap);
    assert_true(ns != VV_NEVER && ns >= last);
    last = ns;
    vv_heap_set(&heap, vv_heap_next(&heap), VV_NEVER);
  }
  assert_int_equal(vv_heap_next_ns(&heap), VV_NEVER);
  free(memory);
}

/* A run has one place; who is set again to its time, after another, is in a run of its own behind it. */
static void test_equals_in_a_row_share_a_place(void **state) {
  (void)state;
  static const uint32_t order[] = {0, 1, 3, 2, 4};
  void *memory = malloc(vv_heap_bytes(5));
  struct vv_heap heap;
  vv_heap_init(&heap, memory, 5);
  for (uint32_t i = 0; i < 4; i++) vv_heap_set(&heap, i, 50);
  assert_int_equal(heap.count, 1);
  vv_heap_set(&heap, 4, 70);
  vv_heap_set(&heap, 2, 50);
  assert_int_equal(heap.count, 3);
  for (uint32_t i = 0; i < 5; i++) {
    assert_int_equal(vv_heap_next(&heap), order[i]);
    vv_heap_set(&heap, order[i], VV_NEVER);
  }
  assert_int_equal(heap.count, 0);
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_earliest_comes_first),
      cmocka_unit_test(test_deadlines_leave_in_order),
      cmocka_unit_test(test_equals_in_a_row_share_a_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
