/* SPDX-License-Identifier: BSD-3-Clause */
/* A group's calls with everything wrong, one thing at a time: a code and a sentence, never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "vaiven/group.h"

/* A group of one, which needs nobody. */
static struct vv_group_config right(void) {
  struct vv_group_config config = {VV_GROUP_CONFIG, .ranks = 1, .address = "127.0.0.1", .meeting = "127.0.0.1:7000",
                                   .timeout_ms = 100};
  memset(config.key, 7, sizeof config.key);
  return config;
}

static void refused(const struct vv_group_config *config, const char *code, const char *says) {
  struct vv_group_problem problem = {0};
  assert_null(vv_group_open(config, &problem));
  assert_string_equal(problem.code, code);
  assert_int_equal(problem.kind, VV_GROUP_WRONG);
  assert_int_equal(problem.rank, -1);
  assert_non_null(strstr(problem.text, says));
  assert_null(vv_group_open(config, NULL));
}

static void test_a_config_with_one_thing_wrong(void **state) {
  (void)state;
  struct vv_group_config config;
  refused(NULL, "bad-call", "no config");
  config = right(), config.size_bytes = 0, refused(&config, "bad-config", "VV_GROUP_CONFIG");
  config = right(), config.size_bytes += 8, refused(&config, "bad-config", "headers of the library");
  config = right(), config.ranks = 0, refused(&config, "bad-rank", "rank 0 of 0");
  config = right(), config.ranks = VV_GROUP_RANKS_MAX + 1, refused(&config, "bad-rank", "1 to 1024");
  config = right(), config.rank = 1, refused(&config, "bad-rank", "rank 1 of 1");
  config = right(), config.address = NULL, refused(&config, "bad-config", "address");
  config = right(), config.meeting = NULL, refused(&config, "bad-config", "meeting");
  config = right(), config.timeout_ms = 0, refused(&config, "bad-config", "timeout_ms");
  config = right(), memset(config.key, 0, sizeof config.key), refused(&config, "bad-key", "all zeros");
  config = right(), config.route = (enum vv_group_route)17, refused(&config, "bad-config", "17");
}

static int exchange(void *context, const void *own, void *all, size_t bytes) {
  (void)context, (void)own, (void)all, (void)bytes;
  fail_msg("%s", "a group of one has nobody to exchange with");
  return -1;
}

static void test_an_exchange_takes_the_place_of_meeting_and_key(void **state) {
  (void)state;
  struct vv_group_config config = right();
  config.meeting = NULL;
  memset(config.key, 0, sizeof config.key);
  config.exchange = exchange;
  struct vv_group *group = vv_group_open(&config, NULL);
  assert_non_null(group);
  vv_group_leave(group);
}

static void test_words_that_are_no_addresses(void **state) {
  (void)state;
  static const char *const addresses[] = {"", " ", "localhost", "256.0.0.1", "192.0.2.1", "::1", "%s%n"};
  static const char *const meetings[] = {"",       ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:65535",
                                         "[::1]:7"};
  enum { LONG = 1000000 };
  char *endless = malloc(LONG + 1);
  assert_non_null(endless);
  memset(endless, '1', LONG);
  endless[LONG] = '\0';
  struct vv_group_config config = right();
  config.ranks = 2;
  for (size_t i = 0; i <= sizeof addresses / sizeof *addresses; i++) {
    struct vv_group_problem problem = {0};
    config.address = i < sizeof addresses / sizeof *addresses ? addresses[i] : endless;
    assert_null(vv_group_open(&config, &problem));
    assert_true(problem.kind == VV_GROUP_WRONG && strlen(problem.text) > 0);
  }
  config.address = "127.0.0.1";
  for (size_t i = 0; i <= sizeof meetings / sizeof *meetings; i++) {
    struct vv_group_problem problem = {0};
    config.meeting = i < sizeof meetings / sizeof *meetings ? meetings[i] : endless;
    assert_null(vv_group_open(&config, &problem));
    assert_true(problem.kind == VV_GROUP_WRONG && strlen(problem.text) > 0);
  }
  free(endless);
}

static void test_calls_without_what_they_are_about(void **state) {
  (void)state;
  struct vv_group_problem problem = {0};
  uint64_t given = 1, asked = 1;
  char text[8] = "alone";
  assert_int_equal(vv_group_broadcast(NULL, 0, text, sizeof text, &problem), -1);
  assert_string_equal(problem.code, "bad-call");
  assert_int_equal(vv_group_receive(NULL, 0, text, sizeof text, NULL, NULL), -1);
  assert_int_equal(vv_group_route_of(NULL), VV_GROUP_ANY);
  assert_int_equal(vv_group_foreign(NULL), 0);
  assert_int_equal(vv_group_shared_bps(NULL), 0);
  vv_group_repairs(NULL, &given, &asked);
  assert_true(given == 0 && asked == 0);
  vv_group_move(NULL, text, sizeof text);
  vv_group_leave(NULL);

  const struct vv_group_config config = right();
  struct vv_group *group = vv_group_open(&config, &problem);
  assert_non_null(group);
  assert_int_equal(vv_group_broadcast(group, 0, NULL, 1, &problem), -1);
  assert_string_equal(problem.code, "bad-call");
  assert_int_equal(vv_group_broadcast(group, 1, text, 1, &problem), -1);
  assert_string_equal(problem.code, "bad-rank");
  assert_int_equal(vv_group_broadcast(group, 0, text, SIZE_MAX, &problem), -1);
  assert_string_equal(problem.code, "bad-size");
  assert_int_equal(vv_group_broadcast(group, 0, NULL, 0, NULL), 0);
  vv_group_repairs(group, &given, &asked);
  vv_group_repairs(group, NULL, NULL);
  vv_group_leave(group);
}

static void test_a_child_of_fork_has_no_place(void **state) {
  (void)state;
  const struct vv_group_config config = right();
  struct vv_group_problem problem = {0};
  struct vv_group *group = vv_group_open(&config, &problem);
  char text[8] = "alone";
  assert_non_null(group);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const bool refuses = vv_group_broadcast(group, 0, text, sizeof text, &problem) == -1 &&
                         strcmp(problem.code, "bad-call") == 0 && strstr(problem.text, "forked") &&
                         vv_group_foreign(group) == 0;
    vv_group_leave(group);
    struct vv_group *own = vv_group_open(&config, &problem);
    const bool opens = own && vv_group_broadcast(own, 0, text, sizeof text, &problem) == 0;
    vv_group_leave(own);
    _exit(refuses && opens ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(vv_group_broadcast(group, 0, text, sizeof text, &problem), 0);
  vv_group_leave(group);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_config_with_one_thing_wrong),
      cmocka_unit_test(test_an_exchange_takes_the_place_of_meeting_and_key),
      cmocka_unit_test(test_words_that_are_no_addresses),
      cmocka_unit_test(test_calls_without_what_they_are_about),
      cmocka_unit_test(test_a_child_of_fork_has_no_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
