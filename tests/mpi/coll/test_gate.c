/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread at a time, none twice, and who is inside hears of others. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpi/coll/gate.h"

static bool came_in;

static void *enter(void *context) {
  (void)context;
  vv_gate_enter();
  __atomic_store_n(&came_in, true, __ATOMIC_SEQ_CST);
  vv_gate_leave();
  return NULL;
}

static void *try(void *context) {
  (void)context;
  came_in = vv_gate_try();
  if (came_in) vv_gate_leave();
  return NULL;
}

static void run(void *(*does)(void *context)) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, does, NULL), 0);
  pthread_join(thread, NULL);
}

static void nobody_comes_in_twice(void **state) {
  (void)state;
  for (int threads = 0; threads < 2; threads++) {
    vv_gate_begin(threads == 1);
    vv_gate_enter();
    assert_false(vv_gate_try());
    assert_false(vv_gate_is_wanted()); /* by another one */
    vv_gate_leave();
    assert_true(vv_gate_try());
    assert_false(vv_gate_try());
    vv_gate_leave();
  }
}

static void who_is_inside_hears_that_another_thread_tried(void **state) {
  (void)state;
  vv_gate_begin(true);
  vv_gate_enter();
  run(try);
  assert_false(came_in);
  assert_true(vv_gate_is_wanted());
  vv_gate_leave();
  assert_false(vv_gate_is_wanted()); /* it may try again */
  run(try);
  assert_true(came_in);
}

static void who_is_inside_hears_that_another_thread_waits(void **state) {
  (void)state;
  pthread_t thread;
  vv_gate_begin(true);
  vv_gate_enter();
  came_in = false;
  assert_int_equal(pthread_create(&thread, NULL, enter, NULL), 0);
  while (!vv_gate_is_wanted()) usleep(1000);
  assert_false(__atomic_load_n(&came_in, __ATOMIC_SEQ_CST));
  vv_gate_leave();
  pthread_join(thread, NULL);
  assert_true(came_in);
  assert_false(vv_gate_is_wanted());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_comes_in_twice),
      cmocka_unit_test(who_is_inside_hears_that_another_thread_tried),
      cmocka_unit_test(who_is_inside_hears_that_another_thread_waits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
