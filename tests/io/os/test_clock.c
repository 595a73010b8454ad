/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static void never_goes_back(void **state) {
  (void)state;
  vv_ns before_ns = vv_clock_ns();
  for (int i = 0; i < 100000; i++) {
    vv_ns now_ns = vv_clock_ns();
    assert_true(now_ns >= before_ns);
    before_ns = now_ns;
  }
}

static void counts_nanoseconds(void **state) {
  (void)state;
  struct timespec nap = {.tv_nsec = 20000000};
  vv_ns start_ns = vv_clock_ns(), real_ns = vv_clock_real_ns();
  nanosleep(&nap, NULL);
  assert_true(vv_clock_ns() - start_ns >= 20000000);
  assert_true(real_ns > INT64_C(1600000000) * 1000000000);
}

static void cpu_time_runs_with_work_only(void **state) {
  (void)state;
  struct timespec nap = {.tv_nsec = 50000000};
  vv_ns start_ns = vv_clock_cpu_ns();
  nanosleep(&nap, NULL);
  vv_ns asleep_ns = vv_clock_cpu_ns() - start_ns;
  start_ns = vv_clock_cpu_ns();
  while (vv_clock_cpu_ns() - start_ns < 50000000) continue;
  assert_true(asleep_ns < 25000000);
}

static void knows_its_quality(void **state) {
  (void)state;
  struct vv_clock_quality quality = vv_clock_measure();
  assert_in_range(quality.resolution_ns, 1, 100000000);
  assert_in_range(quality.cost_ns, 0, 100000000);
  assert_true(vv_clock_cpu_cost_ns() > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(never_goes_back),
      cmocka_unit_test(counts_nanoseconds),
      cmocka_unit_test(cpu_time_runs_with_work_only),
      cmocka_unit_test(knows_its_quality),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
