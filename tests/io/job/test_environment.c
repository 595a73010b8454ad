/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that is told by its environment who it is: what a launcher may get wrong, one thing at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "vaiven/group.h"

static char path[] = "/tmp/test-environment-XXXXXX";

static void write_key(const char *text, mode_t mode) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  assert_int_equal(chmod(path, mode), 0);
}

/* A place as it should be; a test then changes one thing. */
static int set_up(void **state) {
  (void)state;
  setenv("VAIVEN_RANKS", "3", 1);
  setenv("VAIVEN_RANK", "2", 1);
  setenv("VAIVEN_ADDRESS", "10.1.0.3", 1);
  setenv("VAIVEN_MEETING", "10.1.0.1:7000", 1);
  setenv("VAIVEN_KEY_FILE", path, 1);
  write_key("000102030405060708090a0b0c0d0e0f\n", 0600);
  return 0;
}

static void refused(const char *code, const char *says) {
  struct vv_group_config config = {VV_GROUP_CONFIG};
  struct vv_group_problem problem = {0};
  assert_int_equal(vv_group_from_environment(&config, &problem), -1);
  assert_string_equal(problem.code, code);
  assert_non_null(strstr(problem.text, says));
  assert_int_equal(problem.rank, -1);
}

static void test_a_place_is_read(void **state) {
  (void)state;
  struct vv_group_config config = {VV_GROUP_CONFIG, .timeout_ms = 77};
  struct vv_group_problem problem;
  assert_int_equal(vv_group_from_environment(&config, &problem), 0);
  assert_int_equal(config.ranks, 3);
  assert_int_equal(config.rank, 2);
  assert_string_equal(config.address, "10.1.0.3");
  assert_string_equal(config.meeting, "10.1.0.1:7000");
  for (uint8_t i = 0; i < VV_GROUP_KEY_BYTES; i++) assert_int_equal(config.key[i], i);
  assert_int_equal(config.timeout_ms, 77);
  assert_int_equal(config.size_bytes, sizeof config);
}

static void test_a_missing_word_is_named(void **state) {
  static const char *const names[] = {"VAIVEN_RANKS", "VAIVEN_RANK", "VAIVEN_ADDRESS", "VAIVEN_MEETING",
                                      "VAIVEN_KEY_FILE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    set_up(state);
    unsetenv(names[i]);
    refused("no-place", names[i]);
    setenv(names[i], "", 1);
    refused("no-place", "vaiven run --stack group");
  }
}

static void test_a_number_that_cannot_be_is_named(void **state) {
  static const char *const wrong[] = {"-1", "3", "x", "1x", " 1", "99999999999999999999", "4294967296"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    set_up(state);
    setenv("VAIVEN_RANK", wrong[i], 1);
    refused("bad-config", "VAIVEN_RANK");
  }
  setenv("VAIVEN_RANKS", "0", 1);
  refused("bad-config", "from 1 to 1024");
  setenv("VAIVEN_RANKS", "1025", 1);
  refused("bad-config", "VAIVEN_RANKS is 1025");
}

static void test_a_key_that_proves_nothing_is_refused(void **state) {
  (void)state;
  write_key("000102030405060708090a0b0c0d0e0f\n", 0640);
  refused("bad-key", "by others");
  write_key("000102030405060708090a0b0c0d0e", 0600);
  refused("bad-key", "32 hexadecimal digits");
  write_key("000102030405060708090a0b0c0d0eXX", 0600);
  refused("bad-key", "32 hexadecimal digits");
  setenv("VAIVEN_KEY_FILE", "/tmp", 1);
  refused("bad-key", "is no file");
  setenv("VAIVEN_KEY_FILE", "/nowhere/key", 1);
  refused("no-key", "/nowhere/key");
}

static void test_without_a_config_there_is_nothing_to_fill(void **state) {
  (void)state;
  struct vv_group_problem problem;
  assert_int_equal(vv_group_from_environment(NULL, &problem), -1);
  assert_string_equal(problem.code, "bad-call");
  assert_int_equal(vv_group_from_environment(NULL, NULL), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_place_is_read, set_up),
      cmocka_unit_test(test_a_missing_word_is_named),
      cmocka_unit_test(test_a_number_that_cannot_be_is_named),
      cmocka_unit_test_setup(test_a_key_that_proves_nothing_is_refused, set_up),
      cmocka_unit_test(test_without_a_config_there_is_nothing_to_fill),
  };
  const int fd = mkstemp(path);
  if (fd < 0) return 1;
  close(fd);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  return failed;
}
