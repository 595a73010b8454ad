/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever the clock does, no time is negative; a pause is spent as its end waits. */
#include "probe/kit/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

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

/* How often this process gave its processor back while a series paused five times, 2 ms each. */
static long sleeps_in_pauses(enum vv_wait wait) {
  static const struct vv_stack stack;
  struct vv_probe_config config = {.stack = &stack, .wait = wait};
  struct vv_session session = {.config = &config, .stack = &stack};
  struct vv_series series = {.session = &session, .idle_ns = 2 * VV_MS};
  struct rusage before, after;
  vv_ns began_ns = vv_clock_ns();
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 5; i++) assert_int_equal(vv_series_pause(&series, &error), 0);
  getrusage(RUSAGE_SELF, &after);
  assert_true(vv_clock_ns() - began_ns >= 10 * VV_MS);
  return after.ru_nvcsw - before.ru_nvcsw;
}

static void a_pause_is_spent_as_the_end_waits(void **state) {
  (void)state;
  assert_true(sleeps_in_pauses(VV_WAIT_BLOCK) >= 5);
  assert_int_equal(sleeps_in_pauses(VV_WAIT_SPIN), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_goes_on_or_stands),
      cmocka_unit_test(a_clock_that_goes_back_is_an_error),
      cmocka_unit_test(a_pause_is_spent_as_the_end_waits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
