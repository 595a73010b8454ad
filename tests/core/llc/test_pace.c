/* SPDX-License-Identifier: BSD-3-Clause */
/* T1: between its bounds, above what was measured, doubled for each try. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/llc/pace.h"

#define US UINT64_C(1000)

static void test_bounds(void **state) {
  (void)state;
  struct vv_llc_pace pace;
  vv_llc_pace_init(&pace, 2000 * US, 1000000 * US, 500 * US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 0), 16000 * US); /* nothing is known yet */
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 100), 1000000 * US);
  for (int i = 0; i < 100; i++) vv_llc_pace_measured(&pace, 50 * US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 0), 2000 * US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 1), 4000 * US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 3), 16000 * US);
}

/* A window that opens doubles the round trip, each time: no T1 may run out. */
static void test_a_queue_that_grows(void **state) {
  (void)state;
  struct vv_llc_pace pace;
  vv_llc_pace_init(&pace, 2000 * US, 1000000 * US, 500 * US);
  for (uint64_t round_trip = 100 * US; round_trip < 200000 * US; round_trip *= 2) {
    assert_true(vv_llc_pace_t1_ns(&pace, 0) > round_trip);
    vv_llc_pace_measured(&pace, round_trip);
  }
  assert_true(vv_llc_pace_is_queueing(&pace));
}

static void test_queueing(void **state) {
  (void)state;
  struct vv_llc_pace pace;
  vv_llc_pace_init(&pace, 2000 * US, 1000000 * US, 500 * US);
  vv_llc_pace_measured(&pace, 100 * US);
  assert_false(vv_llc_pace_is_queueing(&pace));
  vv_llc_pace_measured(&pace, 4290 * US); /* a host that slept a little */
  assert_false(vv_llc_pace_is_queueing(&pace));
  vv_llc_pace_measured(&pace, 4400 * US);
  assert_true(vv_llc_pace_is_queueing(&pace));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_a_queue_that_grows),
      cmocka_unit_test(test_queueing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
