/* SPDX-License-Identifier: BSD-3-Clause */
/* The dynamic window: never above its limit or below 1, halved once for one loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/llc/window.h"

static void test_growth(void **state) {
  (void)state;
  struct vv_llc_window window;
  vv_llc_window_init(&window, 127, 8);
  vv_llc_window_acknowledged(&window, 8, true);
  assert_int_equal(window.working, 16); /* one for each, before the first loss */
  vv_llc_window_acknowledged(&window, 8, false);
  assert_int_equal(window.working, 16);
  vv_llc_window_lost(&window, 10);
  assert_int_equal(window.working, 8);
  vv_llc_window_lost(&window, 10); /* the same loss: none of the 10 was acknowledged since */
  assert_int_equal(window.working, 8);
  vv_llc_window_acknowledged(&window, 8, true);
  assert_int_equal(window.working, 9); /* one for a window */
  vv_llc_window_acknowledged(&window, 2, true);
  vv_llc_window_lost(&window, 9);
  assert_int_equal(window.working, 4);
}

static void test_bounds(void **state) {
  (void)state;
  struct vv_rng rng = {1};
  for (unsigned limit = 1; limit < 128; limit++) {
    struct vv_llc_window window;
    vv_llc_window_init(&window, (uint8_t)limit, 16);
    for (int turn = 0; turn < 1000; turn++) {
      uint8_t count = (uint8_t)(vv_rng_next(&rng) % 128);
      if (count % 7 == 0) vv_llc_window_lost(&window, count);
      vv_llc_window_acknowledged(&window, count, count % 2 == 0);
      assert_in_range(window.working, 1, limit);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_growth),
      cmocka_unit_test(test_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
