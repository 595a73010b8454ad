/* SPDX-License-Identifier: BSD-3-Clause */
/* SplitMix64 against published numbers, and that its unit numbers fill the interval evenly. */
#include "core/base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void numbers_as_published(void **state) {
  (void)state;
  const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                               16408922859458223821u};
  struct vv_rng rng = {.state = 1234567};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) assert_int_equal(vv_rng_next(&rng), expected[i]);
}

static void unit_is_even(void **state) {
  (void)state;
  struct vv_rng rng = {.state = 7};
  int tenths[10] = {0};
  for (int i = 0; i < 100000; i++) {
    double x = vv_rng_unit(&rng);
    assert_true(x >= 0 && x < 1);
    tenths[(int)(x * 10)]++;
  }
  /* 10000 expected, standard deviation 95. */
  for (int i = 0; i < 10; i++) assert_in_range(tenths[i], 9500, 10500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_as_published),
      cmocka_unit_test(unit_is_even),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
