/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/host.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct vv_error error;

static void says_what_it_is(void **state) {
  (void)state;
  struct vv_host host;
  const uint16_t one = 1;
  vv_host_read(&host, NULL);
  assert_true(strlen(host.arch) > 0);
  assert_string_equal(host.byte_order, *(const uint8_t *)&one == 1 ? "little" : "big");
  assert_in_range(vv_host_cache_bytes(), 4096, (size_t)1 << 32);
}

static void random_numbers_differ(void **state) {
  (void)state;
  uint8_t a[16] = {0}, b[16] = {0};
  assert_int_equal(vv_host_random(a, sizeof a, &error), 0);
  assert_int_equal(vv_host_random(b, sizeof b, &error), 0);
  assert_memory_not_equal(a, b, sizeof a);
}

static void a_cpu_that_is_not_there_is_refused(void **state) {
  (void)state;
  assert_int_equal(vv_host_pin(1023, &error), -1);
  assert_string_equal(error.code, "no-cpu");
  assert_int_equal(vv_host_pin(-1, &error), -1);
}

static void comes_first_where_it_may(void **state) {
  (void)state;
  const struct sched_param none = {0};
  if (vv_host_come_first(&error) != 0) {
    assert_string_equal(error.code, "no-permission");
    return;
  }
  assert_int_equal(sched_getscheduler(0), SCHED_FIFO);
  assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(says_what_it_is),
      cmocka_unit_test(random_numbers_differ),
      cmocka_unit_test(a_cpu_that_is_not_there_is_refused),
      cmocka_unit_test(comes_first_where_it_may),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
