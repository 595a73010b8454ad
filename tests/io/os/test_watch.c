/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain blocking call is broken by the tick and by input, and costs nothing otherwise. */
#include "io/os/watch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/os/clock.h"

static struct vv_error error;
static int pair[2];

static int set_up(void **state) {
  (void)state;
  return vv_watch_start(5000000, &error) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static void the_tick_breaks_a_blocking_call(void **state) {
  (void)state;
  char byte;
  assert_int_equal(recv(pair[0], &byte, 1, 0), -1);
  assert_int_equal(errno, EINTR);
  assert_true(vv_watch_rang());
}

static void waiting_ends_at_its_deadline(void **state) {
  (void)state;
  vv_ns deadline_ns = vv_clock_ns() + 30000000;
  assert_int_equal(vv_watch_wait(&pair[0], 1, deadline_ns, &error), -1);
  assert_string_equal(error.code, "timeout");
  assert_true(vv_clock_ns() >= deadline_ns);
}

static void waiting_tells_who_has_input(void **state) {
  (void)state;
  int fds[] = {-1, pair[0], pair[1]};
  assert_int_equal(write(pair[0], "x", 1), 1);
  assert_int_equal(vv_watch_wait(fds, 3, VV_NEVER, &error), 2);
  assert_true(vv_watch_has_input(pair[1]));
  assert_false(vv_watch_has_input(pair[0]));
  assert_false(vv_watch_has_input(-1));
}

static void a_sleep_lasts_in_spite_of_ticks(void **state) {
  (void)state;
  vv_ns deadline_ns = vv_clock_ns() + 40000000;
  assert_int_equal(vv_watch_sleep(deadline_ns, &error), 0);
  assert_true(vv_clock_ns() >= deadline_ns);
}

/* Last: standard input stays closed. */
static void the_end_of_input_is_the_end(void **state) {
  (void)state;
  int input[2];
  assert_int_equal(pipe(input), 0);
  assert_int_equal(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
  assert_false(vv_watch_launcher_gone());
  vv_watch_launcher();
  assert_int_equal(write(input[1], "chatter\n", 8), 8);
  assert_false(vv_watch_launcher_gone());
  close(input[1]);
  assert_true(vv_watch_launcher_gone());
  assert_int_equal(vv_watch_wait(&pair[0], 1, VV_NEVER, &error), -1);
  assert_string_equal(error.code, "launcher-gone");
  assert_int_equal(vv_watch_sleep(vv_clock_ns() + INT64_C(60000000000), &error), -1);
  assert_string_equal(error.code, "launcher-gone");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_tick_breaks_a_blocking_call), cmocka_unit_test(waiting_ends_at_its_deadline),
      cmocka_unit_test(waiting_tells_who_has_input),     cmocka_unit_test(a_sleep_lasts_in_spite_of_ticks),
      cmocka_unit_test(the_end_of_input_is_the_end),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
