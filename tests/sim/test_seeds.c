/* SPDX-License-Identifier: BSD-3-Clause */
/* Every seed is run once, and one that fails makes the whole fail; or one run is asked for by words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/seeds.h"

static uint64_t runs, sum;

static bool run(uint64_t seed, char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  runs++;
  sum += seed;
  snprintf(wrong, VV_SIM_SEEDS_WRONG_BYTES, "it is 13");
  return seed != 13;
}

static void test_every_seed_is_run_once(void **state) {
  (void)state;
  runs = sum = 0;
  assert_int_equal(vv_sim_seeds("verb", 3, 6, run), EXIT_SUCCESS);
  assert_true(runs == 4 && sum == 3 + 4 + 5 + 6);
}

static void test_one_that_fails_fails_all_and_stops_none(void **state) {
  (void)state;
  runs = sum = 0;
  assert_int_equal(vv_sim_seeds("verb", 12, 14, run), EXIT_FAILURE);
  assert_int_equal(runs, 3);
}

static enum vv_sim_seeds_outcome asked(int argc, char **argv, uint64_t *seed, char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  if (argc != 1) return VV_SIM_SEEDS_USAGE;
  *seed = (uint64_t)atoi(argv[0]);
  return run(*seed, wrong) ? VV_SIM_SEEDS_RIGHT : VV_SIM_SEEDS_WRONG;
}

static void test_a_verb_runs_seeds_or_what_is_asked(void **state) {
  (void)state;
  const struct vv_sim_seeds_verb verb = {"verb", "usage\n", run, asked};
  char *seeds[] = {"--seeds", "3-6"}, *right[] = {"12"}, *wrong[] = {"13"}, *bad[] = {"--seeds", "6"};
  runs = sum = 0;
  assert_int_equal(vv_sim_seeds_verb(&verb, 2, seeds), EXIT_SUCCESS);
  assert_true(runs == 4 && sum == 3 + 4 + 5 + 6);
  assert_int_equal(vv_sim_seeds_verb(&verb, 1, right), EXIT_SUCCESS);
  assert_int_equal(vv_sim_seeds_verb(&verb, 1, wrong), EXIT_FAILURE);
  assert_int_equal(vv_sim_seeds_verb(&verb, 2, bad), 2);
  assert_int_equal(runs, 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_seed_is_run_once),
      cmocka_unit_test(test_one_that_fails_fails_all_and_stops_none),
      cmocka_unit_test(test_a_verb_runs_seeds_or_what_is_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
