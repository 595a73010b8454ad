/* SPDX-License-Identifier: BSD-3-Clause */
/* Control lines through a real pair of sockets: whole, in pieces, too long, malformed. */
#include "probe/link/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/os/clock.h"

static struct vv_error error;
static struct vv_control here, there;
static char line[VV_LINE_BYTES_MAX];

static int set_up(void **state) {
  (void)state;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
  vv_control_init(&here, pair[0]);
  vv_control_init(&there, pair[1]);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  vv_control_close(&here);
  vv_control_close(&there);
  return 0;
}

static vv_ns soon_ns(void) {
  return vv_clock_ns() + 20000000;
}

static vv_ns later_ns(void) {
  return vv_clock_ns() + 60000000000;
}

static void lines_arrive_one_by_one(void **state) {
  (void)state;
  assert_int_equal(vv_control_send(&here, &error, "cell size=%d", 64), 0);
  assert_int_equal(vv_control_send(&here, &error, "end"), 0);
  assert_int_equal(vv_control_take(&there, line, &error), 1);
  assert_string_equal(line, "cell size=64");
  assert_int_equal(vv_control_take(&there, line, &error), 1);
  assert_string_equal(line, "end");
  assert_int_equal(vv_control_take(&there, line, &error), 0);
}

static void a_piece_is_no_line(void **state) {
  (void)state;
  assert_int_equal(write(here.fd, "hal", 3), 3);
  assert_int_equal(vv_control_take(&there, line, &error), 0);
  assert_int_equal(vv_control_receive(&there, line, soon_ns(), &error), -1);
  assert_string_equal(error.code, "timeout");
  assert_int_equal(write(here.fd, "f\nand", 5), 5);
  assert_int_equal(vv_control_take(&there, line, &error), 1);
  assert_string_equal(line, "half");
}

static void a_line_without_end_is_refused(void **state) {
  (void)state;
  char flood[2 * VV_LINE_BYTES_MAX];
  memset(flood, 'x', sizeof flood);
  assert_int_equal(write(here.fd, flood, sizeof flood), sizeof flood);
  assert_int_equal(vv_control_take(&there, line, &error), -1);
  assert_string_equal(error.code, "bad-control");
  assert_int_equal(vv_control_send(&here, &error, "%s%2000d", "", 1), -1);
  assert_string_equal(error.code, "bad-control");
}

static void the_end_is_told(void **state) {
  (void)state;
  vv_control_close(&here);
  assert_int_equal(vv_control_take(&there, line, &error), -1);
  assert_string_equal(error.code, "peer-gone");
  assert_int_equal(vv_control_send(&there, &error, "hello"), -1);
  assert_string_equal(error.code, "peer-gone");
}

static void an_error_line_is_the_others_error(void **state) {
  (void)state;
  struct vv_error theirs;
  vv_error_set(&theirs, "no-memory", "no 128 MB: for messages");
  vv_control_send_error(&here, &theirs);
  assert_int_equal(vv_control_expect(&there, "go", line, later_ns(), &error), -1);
  assert_string_equal(error.code, "no-memory");
  assert_int_equal(error.kind, VV_CODE_GONE); /* whatever it was there */
  assert_non_null(strstr(error.text, "no 128 MB: for messages"));
  assert_int_equal(vv_control_send(&here, &error, "error code=A\"B text=x"), 0);
  assert_int_equal(vv_control_expect(&there, "go", line, later_ns(), &error), -1);
  assert_string_equal(error.code, "peer-error");
}

static void another_verb_is_refused(void **state) {
  (void)state;
  assert_int_equal(vv_control_send(&here, &error, "gone"), 0);
  assert_int_equal(vv_control_expect(&there, "go", line, later_ns(), &error), -1);
  assert_string_equal(error.code, "bad-control");
}

static void a_number_that_is_none_is_an_error(void **state) {
  (void)state;
  int64_t number;
  assert_int_equal(vv_control_number("verb n=-22", "n", &number, &error), 0);
  assert_int_equal(number, -22);
  assert_int_equal(vv_control_number("verb n=x", "n", &number, &error), -1);
  assert_string_equal(error.code, "bad-control");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(lines_arrive_one_by_one),           TEST(a_piece_is_no_line),
      TEST(a_line_without_end_is_refused),     TEST(the_end_is_told),
      TEST(an_error_line_is_the_others_error), TEST(another_verb_is_refused),
      TEST(a_number_that_is_none_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
