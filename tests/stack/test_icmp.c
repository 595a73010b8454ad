/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The icmp stack on the loopback interface of a network namespace of its own,
 * over a raw socket, a ping socket and the program ping. The last two need
 * root, to become somebody who is not.
 */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "io/os/watch.h"
#include "stack/stack.h"

#include "../namespace.h"

enum { NOBODY = 65534, SIZE_MAX_TESTED = 65507 };

static vv_ns stop_at_ns = VV_NEVER;

static bool ask_stop(void *context) {
  (void)context;
  return vv_clock_ns() >= stop_at_ns;
}

static int make_namespace(void **state) {
  (void)state;
  struct vv_error error;
  enter_namespace();
  have_namespace = have_namespace && change_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = 1500}) == 0;
  return vv_watch_start(5000000, &error);
}

static void need(bool condition, const char *what) {
  if (condition) return;
  if (getenv("CI")) fail_msg("%s, where CI is set", what);
  print_message("%s\n", what);
  skip();
}

static bool set_sysctl(const char *name, const char *value) {
  char path[128];
  snprintf(path, sizeof path, "/proc/sys/net/ipv4/%s", name);
  int fd = open(path, O_WRONLY);
  bool done = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
  if (fd >= 0) close(fd);
  return done;
}

static struct vv_end *connected(enum vv_wait wait, size_t size_bytes_max, struct vv_error *error) {
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_stack_config config = {
      .address = "127.0.0.1", .wait = wait, .size_bytes_max = size_bytes_max, .stop = {.ask = ask_stop}};
  struct vv_end *end = vv_stack_icmp.open(&config, contact, error);
  if (end && vv_stack_icmp.connect(end, "127.0.0.1", vv_clock_ns() + 60000000000, error) != 0) {
    vv_stack_icmp.close(end);
    end = NULL;
  }
  return end;
}

/* 0 when the answer was what was sent and its time can be. */
static int exchange(struct vv_end *end, size_t size_bytes) {
  static uint8_t out[SIZE_MAX_TESTED], in[SIZE_MAX_TESTED];
  struct vv_error error = {0};
  struct vv_rng rng = {size_bytes};
  for (size_t i = 0; i < size_bytes; i++) out[i] = (uint8_t)vv_rng_next(&rng);
  memset(in, 0, sizeof in);
  vv_ns before_ns = vv_clock_ns(), start_ns = vv_stack_icmp.clock_ns(end);
  if (vv_stack_icmp.send(end, out, size_bytes, &error) != VV_GOT_MESSAGE) return 1;
  if (vv_stack_icmp.recv(end, in, size_bytes, &error) != VV_GOT_MESSAGE) return 2;
  vv_ns rtt_ns = vv_stack_icmp.clock_ns(end) - start_ns;
  if (rtt_ns < 0 || rtt_ns > vv_clock_ns() - before_ns) return 3;
  /* The clock has caught up with the time. */
  if (vv_stack_icmp.clock_ns(end) < before_ns + rtt_ns) return 4;
  return memcmp(in, out, size_bytes) == 0 ? 0 : 5;
}

static int exchange_sizes(enum vv_wait wait, const char *way) {
  static const size_t sizes[] = {0, 1, 15, 16, 18, 1472, 1473, 30000, SIZE_MAX_TESTED};
  struct vv_error error = {0};
  struct vv_end *end = connected(wait, SIZE_MAX_TESTED, &error);
  if (!end) {
    print_error("%s\n", error.text);
    return 10;
  }
  int result = strcmp(vv_stack_icmp.way(end), way) == 0 ? 0 : 11;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && result == 0; i++) {
    if (vv_stack_icmp.parts(end, sizes[i]) != 1) result = 12;
    if (result == 0) result = exchange(end, sizes[i]);
  }
  vv_stack_icmp.close(end);
  return result;
}

static void test_raw_socket(void **state) {
  (void)state;
  need(have_namespace, "no network namespace can be made");
  assert_int_equal(exchange_sizes(VV_WAIT_BLOCK, "raw socket"), 0);
  assert_int_equal(exchange_sizes(VV_WAIT_SPIN, "raw socket"), 0);
}

static int as_nobody(const char *group_range, const char *way) {
  need(have_namespace && geteuid() == 0, "needs root");
  need(set_sysctl("ping_group_range", group_range), "ping_group_range cannot be set");
  pid_t child = fork();
  if (child == 0) {
    struct vv_error error;
    if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0) _exit(99);
    /* A child inherits no timer. */
    if (vv_watch_start(5000000, &error) != 0) _exit(98);
    _exit(exchange_sizes(VV_WAIT_BLOCK, way));
  }
  int status;
  while (waitpid(child, &status, 0) < 0) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_ping_socket(void **state) {
  (void)state;
  assert_int_equal(as_nobody("0 2147483647", "ping socket"), 0);
}

static void test_program(void **state) {
  (void)state;
  need(access("/usr/bin/ping", X_OK) == 0 || access("/bin/ping", X_OK) == 0, "there is no program ping");
  assert_int_equal(as_nobody("1 0", "program ping"), 0);
}

static void test_no_answer_is_given_up(void **state) {
  (void)state;
  need(have_namespace, "no network namespace can be made");
  need(set_sysctl("icmp_echo_ignore_all", "1"), "echo cannot be turned off");
  struct vv_error error = {0};
  assert_null(connected(VV_WAIT_BLOCK, 100, &error));
  assert_string_equal(error.code, "timeout");
  assert_true(error.remedy[0]);
  set_sysctl("icmp_echo_ignore_all", "0");
  struct vv_end *end = connected(VV_WAIT_BLOCK, 100, &error);
  assert_non_null(end);
  set_sysctl("icmp_echo_ignore_all", "1");
  uint8_t message[100] = {0};
  stop_at_ns = vv_clock_ns() + 30000000;
  assert_int_equal(vv_stack_icmp.send(end, message, 100, &error), VV_GOT_MESSAGE);
  assert_int_equal(vv_stack_icmp.recv(end, message, 100, &error), VV_GOT_STOPPED);
  stop_at_ns = VV_NEVER;
  set_sysctl("icmp_echo_ignore_all", "0");
  /* What came too late, or never, does not stand for the next answer. */
  assert_int_equal(exchange(end, 100), 0);
  vv_stack_icmp.close(end);
}

/* A host whose memory for fragments holds 30000 bytes but not 60000, as some hosts' did. */
static void test_a_host_that_fails_above_32_kb_is_measured_by_halves(void **state) {
  (void)state;
  need(have_namespace, "no network namespace can be made");
  bool small = set_sysctl("ipfrag_low_thresh", "1000") && set_sysctl("ipfrag_high_thresh", "70000") &&
               set_sysctl("ipfrag_time", "1");
  need(small, "the memory for fragments cannot be set");
  struct vv_error error = {0};
  struct vv_end *end = connected(VV_WAIT_BLOCK, 60000, &error);
  if (!end) fail_msg("%s", error.text);
  assert_int_equal(vv_stack_icmp.parts(end, 60000), 2);
  assert_int_equal(vv_stack_icmp.parts(end, 32769), 2);
  assert_int_equal(vv_stack_icmp.parts(end, 32768), 1);
  assert_int_equal(exchange(end, 30000), 0);
  vv_stack_icmp.close(end);
  set_sysctl("ipfrag_high_thresh", "4194304");
}

static void test_only_ipv4(void **state) {
  (void)state;
  struct vv_error error = {0};
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_stack_config config = {.address = "::1", .size_bytes_max = 100, .stop = {.ask = ask_stop}};
  assert_null(vv_stack_icmp.open(&config, contact, &error));
  assert_string_equal(error.code, "bad-address");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_raw_socket),
      cmocka_unit_test(test_ping_socket),
      cmocka_unit_test(test_program),
      cmocka_unit_test(test_no_answer_is_given_up),
      cmocka_unit_test(test_a_host_that_fails_above_32_kb_is_measured_by_halves),
      cmocka_unit_test(test_only_ipv4),
  };
  return cmocka_run_group_tests(tests, make_namespace, NULL);
}
