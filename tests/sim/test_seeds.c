/* SPDX-License-Identifier: BSD-3-Clause */
/* Every seed is run once, and one that fails makes the whole fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/seeds.h"

static uint64_t runs, sum;

static bool run(uint64_t seed, char wrong[VV_SEEDS_WRONG_BYTES]) {
  runs++;
  sum += seed;
  snprintf(wrong, VV_SEEDS_WRONG_BYTES, "it is 13");
  return seed != 13;
}

static void test_every_seed_is_run_once(void **state) {
  (void)state;
  runs = sum = 0;
  assert_int_equal(vv_seeds("verb", 3, 6, run), EXIT_SUCCESS);
  assert_true(runs == 4 && sum == 3 + 4 + 5 + 6);
}

static void test_one_that_fails_fails_all_and_stops_none(void **state) {
  (void)state;
  runs = sum = 0;
  assert_int_equal(vv_seeds("verb", 12, 14, run), EXIT_FAILURE);
  assert_int_equal(runs, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_seed_is_run_once),
      cmocka_unit_test(test_one_that_fails_fails_all_and_stops_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
