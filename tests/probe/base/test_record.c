/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as the bytes that a reader gets. */
#include "probe/base/record.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int saved, pipe_fds[2];
static char line[4096];

/* Standard output becomes a pipe; cmocka writes there too, but only before and after a test. */
static int set_up(void **state) {
  (void)state;
  fflush(stdout);
  saved = dup(STDOUT_FILENO);
  return pipe(pipe_fds) != 0 || dup2(pipe_fds[1], STDOUT_FILENO) < 0;
}

static int tear_down(void **state) {
  (void)state;
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(pipe_fds[0]);
  close(pipe_fds[1]);
  return 0;
}

static const char *written(void) {
  ssize_t got = read(pipe_fds[0], line, sizeof line - 1);
  line[got > 0 ? got : 0] = '\0';
  return line;
}

static void all_kinds_of_values(void **state) {
  (void)state;
  const int64_t values[] = {1, -2, INT64_MIN};
  struct vv_error error;
  struct vv_record record;
  vv_record_begin(&record, "test");
  vv_record_int(&record, "n", INT64_MAX);
  vv_record_bool(&record, "yes", true);
  vv_record_null(&record, "none");
  vv_record_ints(&record, "v", values, 3);
  vv_record_ints(&record, "empty", values, 0);
  vv_record_object(&record, "o");
  vv_record_array(&record, "a");
  vv_record_text(&record, NULL, "x");
  vv_record_object(&record, NULL);
  vv_record_object_end(&record);
  vv_record_array_end(&record);
  vv_record_object_end(&record);
  vv_record_bool(&record, "no", false);
  assert_int_equal(vv_record_end(&record, &error), 0);
  assert_string_equal(written(),
                      "{\"type\":\"test\",\"n\":9223372036854775807,\"yes\":true,\"none\":null,"
                      "\"v\":[1,-2,-9223372036854775808],\"empty\":[],\"o\":{\"a\":[\"x\",{}]},\"no\":false}\n");
}

static void texts_are_escaped(void **state) {
  (void)state;
  struct vv_error error;
  struct vv_record record;
  vv_record_begin(&record, "t");
  vv_record_text(&record, "a\"b", "q\"u\\o\n\x01\x7f<&'$(id)");
  vv_record_text(&record, "utf8", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  vv_record_text(&record, "broken", "\xff\xc3(\xed\xa0\x80\xe2\x82");
  assert_int_equal(vv_record_end(&record, &error), 0);
  assert_string_equal(written(), "{\"type\":\"t\",\"a\\u0022b\":\"q\\u0022u\\u005co\\u000a\\u0001\\u007f<&'$(id)\","
                                 "\"utf8\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\","
                                 "\"broken\":\"\\ufffd\\ufffd(\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"}\n");
}

static void a_stream_tells_its_schema(void **state) {
  (void)state;
  struct vv_error error;
  struct vv_record record;
  vv_record_begin_stream(&record, "ready");
  assert_int_equal(vv_record_end(&record, &error), 0);
  assert_string_equal(written(), "{\"type\":\"ready\",\"schema\":1,\"probe\":\"" VV_VERSION "\"}\n");
}

static void an_error_has_all_its_parts(void **state) {
  (void)state;
  struct vv_error error;
  vv_error_set(&error, "no-room", "there is no %s", "thing");
  vv_error_remedy(&error, "bring one");
  vv_record_error(&error);
  assert_string_equal(written(), "{\"type\":\"error\",\"code\":\"no-room\",\"kind\":\"lacking\",\"text\":\"there is no "
                                 "thing\",\"remedy\":\"bring one\"}\n");
}

static void a_full_device_is_noticed(void **state) {
  (void)state;
  struct vv_error error;
  struct vv_record record;
  int full = open("/dev/full", O_WRONLY);
  assert_true(full >= 0);
  assert_true(dup2(full, STDOUT_FILENO) >= 0);
  vv_record_begin(&record, "lost");
  assert_int_equal(vv_record_end(&record, &error), -1);
  assert_string_equal(error.code, "no-output");
  close(full);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(all_kinds_of_values),        TEST(texts_are_escaped),        TEST(a_stream_tells_its_schema),
      TEST(an_error_has_all_its_parts), TEST(a_full_device_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
