/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that works for us: it is found or not, heard, fed, waited for, and gone when it is stopped. */
#include "io/os/child.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct vv_child child;
static struct vv_error error;

static void start(const char *script, unsigned pipes) {
  char text[256];
  strcpy(text, script);
  char *const argv[] = {"sh", "-c", text, NULL};
  vv_child_init(&child);
  assert_int_equal(vv_child_start(&child, argv, pipes, &error), 0);
}

static void programs_are_found_or_not(void **state) {
  (void)state;
  char *const argv[] = {"no-such-program-here", NULL};
  assert_true(vv_child_exists("sh"));
  assert_false(vv_child_exists(argv[0]));
  vv_child_init(&child);
  assert_int_equal(vv_child_start(&child, argv, VV_CHILD_OUT, &error), -1);
  assert_string_equal(error.code, "no-program");
  assert_non_null(strstr(error.text, argv[0]));
  assert_int_equal(child.pid, 0);
  assert_int_equal(child.out, -1);
}

static void its_lines_come_one_by_one(void **state) {
  (void)state;
  char line[VV_CHILD_LINE_MAX];
  start("printf 'one\\n\\ntwo' >&2; exit 3", VV_CHILD_ERR);
  assert_int_equal(vv_child_line(&child, line), 1);
  assert_string_equal(line, "one");
  assert_int_equal(vv_child_line(&child, line), 1);
  assert_string_equal(line, "");
  assert_int_equal(vv_child_line(&child, line), 1);
  assert_string_equal(line, "two"); /* without an end of its own */
  assert_int_equal(vv_child_line(&child, line), 0);
  assert_int_equal(vv_child_wait(&child), 3);
}

static void a_long_line_comes_in_pieces(void **state) {
  (void)state;
  char line[VV_CHILD_LINE_MAX];
  size_t bytes = 0;
  start("printf '%01000d\\n' 7 >&2", VV_CHILD_ERR);
  while (vv_child_line(&child, line) == 1) bytes += strlen(line);
  assert_int_equal(bytes, 1000);
  assert_int_equal(vv_child_wait(&child), 0);
}

static void it_reads_and_writes(void **state) {
  (void)state;
  char got[8] = "";
  start("cat; echo $TZ", VV_CHILD_IN | VV_CHILD_OUT);
  assert_int_equal(write(child.in, "ab\n", 3), 3);
  vv_child_finish(&child);
  for (size_t bytes = 0; bytes < 8;) {
    ssize_t more = read(child.out, got + bytes, 8 - bytes);
    assert_true(more > 0);
    bytes += (size_t)more;
  }
  assert_memory_equal(got, "ab\nUTC0\n", 8);
  assert_int_equal(vv_child_wait(&child), 0);
  assert_int_equal(child.out, -1);
}

static void what_is_stopped_is_gone(void **state) {
  (void)state;
  start("exec sleep 600", VV_CHILD_IN | VV_CHILD_OUT | VV_CHILD_ERR);
  pid_t pid = child.pid;
  vv_child_stop(&child);
  assert_int_equal(kill(pid, 0), -1);
  assert_int_equal(errno, ESRCH);
  assert_int_equal(child.in, -1);
  vv_child_stop(&child); /* nothing is left to stop */
}

static void a_killed_program_has_no_status_of_its_own(void **state) {
  (void)state;
  start("kill -9 $$", 0);
  assert_int_equal(vv_child_wait(&child), 128);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_are_found_or_not),   cmocka_unit_test(its_lines_come_one_by_one),
      cmocka_unit_test(a_long_line_comes_in_pieces), cmocka_unit_test(it_reads_and_writes),
      cmocka_unit_test(what_is_stopped_is_gone),     cmocka_unit_test(a_killed_program_has_no_status_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
