/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever the clock does, no time is negative. */
#include "probe/kit/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct vv_error error;

static void time_goes_on_or_stands(void **state) {
  (void)state;
  vv_ns ns;
  assert_int_equal(vv_series_elapsed(1000, 1500, &ns, &error), 0);
  assert_int_equal(ns, 500);
  assert_int_equal(vv_series_elapsed(-7, -7, &ns, &error), 0);
  assert_int_equal(ns, 0);
}

static void a_clock_that_goes_back_is_an_error(void **state) {
  (void)state;
  vv_ns ns;
  assert_int_equal(vv_series_elapsed(1500, 1000, &ns, &error), -1);
  assert_string_equal(error.code, "clock-backwards");
  assert_non_null(strstr(error.text, "500 ns"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_goes_on_or_stands),
      cmocka_unit_test(a_clock_that_goes_back_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
