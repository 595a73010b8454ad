/* SPDX-License-Identifier: BSD-3-Clause */
/* The programmed transport does what its program says. */
#include "stack/null.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct vv_error error;
static struct vv_null_program program;

static void without_a_text_it_has_its_defaults(void **state) {
  (void)state;
  assert_int_equal(vv_null_program_parse(&program, NULL, &error), 0);
  assert_int_equal(vv_null_program_rtt_ns(&program, 0), 100000);
  assert_int_equal(vv_null_program_rtt_ns(&program, 1000), 100160);
  assert_int_equal(program.seed, -1);
}

static void times_are_exact(void **state) {
  (void)state;
  assert_int_equal(vv_null_program_parse(&program, "alpha_ns=1000,beta_ns=0.5,knee=100:50,knee=1000:0:2", &error), 0);
  assert_int_equal(vv_null_program_rtt_ns(&program, 100), 2 * (1000 + 50));
  assert_int_equal(vv_null_program_rtt_ns(&program, 102), 2 * (1000 + 51 + 50));
  assert_int_equal(vv_null_program_rtt_ns(&program, 1000), 2 * (1000 + 500 + 50));
  assert_int_equal(vv_null_program_rtt_ns(&program, 1010), 2 * (1000 + 505 + 50 + 20));
}

static void every_name_is_read(void **state) {
  (void)state;
  assert_int_equal(vv_null_program_parse(&program,
                                         "o_s=1,o_r=2,g=3,G=0.25,start=0.3,noise=0.1,launch=0.2,warm=7:9,loss=0.3,late="
                                         "0.4,corrupt=0.5,resolution_ns=11,"
                                         "back=12,seed=13",
                                         &error),
                   0);
  assert_true(program.noise > 0.09 && program.launch > 0.19 && program.loss > 0.29);
  assert_true(program.late > 0.39 && program.corrupt > 0.49);
  assert_true(program.start > 0.29 && program.start < 0.31);
  assert_int_equal(program.o_s_ns, 1);
  assert_int_equal(program.o_r_ns, 2);
  assert_int_equal(program.gap_ns, 3);
  assert_true(program.gap_byte_ns > 0.24 && program.gap_byte_ns < 0.26);
  assert_int_equal(program.warm_count, 7);
  assert_int_equal(program.warm_ns, 9);
  assert_int_equal(program.resolution_ns, 11);
  assert_int_equal(program.back, 12);
  assert_int_equal(program.seed, 13);
}

static void nonsense_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",        "alpha",    "alpha_ns=",       "alpha_ns=x",   "alpha_ns=-1", "beta_ns=nan",
      "loss=2",  "knee=5",   "knee=5:",         "knee=5:6:7:8", "speed=1",     "seed=1,",
      "late=1e", "knee=a:1", "resolution_ns=0", "alpha_ns=1 2", "launch=1"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    assert_int_equal(vv_null_program_parse(&program, texts[i], &error), -1);
    assert_string_equal(error.code, "usage");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_text_it_has_its_defaults),
      cmocka_unit_test(times_are_exact),
      cmocka_unit_test(every_name_is_read),
      cmocka_unit_test(nonsense_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
