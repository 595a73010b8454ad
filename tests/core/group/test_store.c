/* SPDX-License-Identifier: BSD-3-Clause */
/* The store keeps two windows of positions, and forgets the oldest for the newest. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/group/store.h"

enum { WINDOW = 4, BODY = 16 };

static enum vv_gpdu_kind kind_of(uint64_t position) {
  return (enum vv_gpdu_kind)(VV_GPDU_HEAD + position % 3);
}

static void test_two_windows_are_kept(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[1024];
  struct vv_store store;
  assert_true(vv_store_bytes(WINDOW, BODY) <= sizeof memory);
  vv_store_init(&store, memory, WINDOW, BODY);
  for (uint64_t position = 0; position < 20; position++) {
    assert_null(vv_store_find(&store, position));
    memset(vv_store_hold(&store, position, kind_of(position), position % 2 == 0, BODY), (int)position, BODY);
    for (uint64_t old = 0; old <= position; old++) {
      const struct vv_store_slot *slot = vv_store_find(&store, old);
      assert_int_equal(slot != NULL, old + 2 * WINDOW > position);
      if (slot == NULL) continue;
      assert_true(slot->kind == kind_of(old) && slot->own == (old % 2 == 0) && slot->bytes == BODY);
      assert_int_equal(vv_store_body(&store, slot)[BODY - 1], old);
    }
  }
}

static void test_placed_and_dropped(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[1024];
  struct vv_store store;
  vv_store_init(&store, memory, WINDOW, BODY);
  vv_store_place(&store, 7, VV_GPDU_HEAD, false);
  assert_int_equal(vv_store_find(&store, 7)->state, VV_STORE_PLACED);
  vv_store_drop(&store, 15); /* another position in the same slot */
  assert_non_null(vv_store_find(&store, 7));
  vv_store_drop(&store, 7);
  assert_null(vv_store_find(&store, 7));
}

static void test_what_outlives_an_operation_is_its_last_window(void **state) {
  (void)state;
  _Alignas(16) uint8_t memory[1024];
  struct vv_store store;
  vv_store_init(&store, memory, WINDOW, BODY);
  for (uint64_t position = 90; position < 100; position++) {
    assert_int_equal(vv_store_outlives(&store, position, 100), position >= 100 - WINDOW);
  }
  assert_true(vv_store_outlives(&store, 0, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_windows_are_kept),
      cmocka_unit_test(test_placed_and_dropped),
      cmocka_unit_test(test_what_outlives_an_operation_is_its_last_window),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
