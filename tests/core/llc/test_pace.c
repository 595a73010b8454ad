/* SPDX-License-Identifier: BSD-3-Clause */
/* T1: between its bounds, above what was measured, doubled for each try. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/llc/pace.h"

static void test_bounds(void **state) {
  (void)state;
  struct vv_llc_pace pace;
  vv_llc_pace_init(&pace, 2000 * VV_US, 1000000 * VV_US, 500 * VV_US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 0), 16000 * VV_US); /* nothing is known yet */
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 100), 1000000 * VV_US);
  for (int i = 0; i < 100; i++) vv_llc_pace_measured(&pace, 50 * VV_US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 0), 2000 * VV_US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 1), 4000 * VV_US);
  assert_int_equal(vv_llc_pace_t1_ns(&pace, 3), 16000 * VV_US);
}

/* A window that opens doubles the round trip, each time: no T1 may run out. */
static void test_a_queue_that_grows(void **state) {
  (void)state;
  struct vv_llc_pace pace;
  vv_llc_pace_init(&pace, 2000 * VV_US, 1000000 * VV_US, 500 * VV_US);
  for (vv_ns round_trip = 100 * VV_US; round_trip < 200000 * VV_US; round_trip *= 2) {
    assert_true(vv_llc_pace_t1_ns(&pace, 0) > round_trip);
    vv_llc_pace_measured(&pace, round_trip);
  }
  assert_true(vv_llc_pace_is_queueing(&pace));
}

static void test_queueing(void **state) {
  (void)state;
  struct vv_llc_pace pace;
  vv_llc_pace_init(&pace, 2000 * VV_US, 1000000 * VV_US, 500 * VV_US);
  vv_llc_pace_measured(&pace, 100 * VV_US);
  assert_false(vv_llc_pace_is_queueing(&pace));
  vv_llc_pace_measured(&pace, 4290 * VV_US); /* a host that slept a little */
  assert_false(vv_llc_pace_is_queueing(&pace));
  vv_llc_pace_measured(&pace, 4400 * VV_US);
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
