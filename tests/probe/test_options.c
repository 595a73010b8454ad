/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines, good and bad. */
#include "probe/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "probe/ask/question.h"

static struct vv_error error;
static struct vv_probe_config config;

/* The words, separated by single spaces, as argv. */
static int parse(const char *words) {
  static char copy[512];
  char *argv[40], *rest = copy;
  int argc = 0;
  strcpy(copy, words);
  while ((argv[argc] = strsep(&rest, " "))) argc++;
  vv_options_free(&config);
  return vv_options_parse(&config, argc, argv, &error);
}

static void a_near_end(void **state) {
  (void)state;
  assert_int_equal(parse("p near tcp --peer [::1]:4000 --sizes 1,64,67108864 --samples 10 --cell-ms 50 --timeout-ms 7 "
                         "--write split --wait spin --buffers cold --idle-ms 3 --cpu 1 --port 4000-4010 --key-stdin "
                         "--rate-bps 100000000 --hops 2 --mtu 1500 --idle-wire"),
                   0);
  assert_string_equal(config.stack->id, "tcp");
  assert_string_equal(config.question->id, "pingpong");
  assert_int_equal(vv_address_port(&config.address), 4000);
  assert_int_equal(config.size_count, 3);
  assert_int_equal(config.sizes[2], 67108864);
  assert_int_equal(config.samples, 10);
  assert_int_equal(config.cell_ns, 50000000);
  assert_int_equal(config.timeout_ns, 7000000);
  assert_int_equal(config.write, VV_WRITE_SPLIT);
  assert_int_equal(config.wait, VV_WAIT_SPIN);
  assert_int_equal(config.buffers, VV_PROBE_BUFFERS_COLD);
  assert_int_equal(config.idle_ns, 3000000);
  assert_int_equal(config.cpu, 1);
  assert_int_equal(config.port_min, 4000);
  assert_int_equal(config.port_max, 4010);
  assert_true(config.key_stdin);
  assert_int_equal(config.rate_bps, 100000000);
  assert_int_equal(config.hops, 2);
  assert_int_equal(config.mtu_bytes, 1500);
  assert_true(config.idle_wire);
}

static void what_is_not_said_has_a_default(void **state) {
  (void)state;
  assert_int_equal(parse("p far udp --bind 127.0.0.1"), 0);
  assert_int_equal(config.port_max, 0);
  assert_int_equal(config.cpu, -1);
  assert_int_equal(config.timeout_ns, 1000000000);
  assert_int_equal(parse("p near tcp --peer 127.0.0.1:1 --ask connect"), 0);
  assert_int_equal(config.size_count, 0);
  assert_int_equal(parse("p near null --sizes 0"), 0);
  assert_int_equal(parse("p near icmp --peer 127.0.0.1 --sizes 0"), 0);
}

static void wrong_usage_is_refused(void **state) {
  (void)state;
  static const char *const lines[][2] = {
      {"p", "usage"},
      {"p fly", "usage"},
      {"p near", "usage"},
      {"p near carrier-pigeon --sizes 1", "unknown-stack"},
      {"p near tcp --sizes 1", "usage"},
      {"p near tcp --peer 127.0.0.1 --sizes 1", "usage"},
      {"p near tcp --peer host:1 --sizes 1", "bad-address"},
      {"p near tcp --peer 127.0.0.1:1", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --idle-wire", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --ask stream --mtu 1500 --rate-bps 1000 --hops 1 --idle-wire", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1,,2", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1,x", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes -1", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 67108865", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 0", "size-limit"},
      {"p near udp --peer 127.0.0.1:1 --sizes 65508", "size-limit"},
      {"p near udp --peer 127.0.0.1:1 --sizes 1 --write split", "usage"},
      {"p near udp --peer 127.0.0.1:1 --ask connect", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --ask me", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --samples 0", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --wait forever", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --bind 127.0.0.1", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --frobnicate", "usage"},
      {"p near tcp --peer 127.0.0.1:1 --sizes 1 --key-stdin --key-file f", "usage"},
      {"p far tcp", "usage"},
      {"p far null --bind 127.0.0.1", "usage"},
      {"p far tcp --bind 127.0.0.1 --port 0", "usage"},
      {"p far tcp --bind 127.0.0.1 --port 9-8", "usage"},
      {"p far tcp --bind 127.0.0.1 --port 1-2-3", "usage"},
      {"p far tcp --bind 127.0.0.1 --port 70000", "usage"},
      {"p far tcp --bind 127.0.0.1 --port 0000000000000001-2", "usage"},
      {"p wire tcp --sizes 1", "usage"},
  };
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    assert_int_equal(parse(lines[i][0]), -1);
    assert_string_equal(error.code, lines[i][1]);
    assert_true(strlen(error.remedy) > 0);
  }
}

static void a_size_limit_is_named(void **state) {
  (void)state;
  assert_int_equal(parse("p near udp --peer 127.0.0.1:1 --sizes 1,70000"), -1);
  assert_non_null(strstr(error.text, "udp"));
  assert_non_null(strstr(error.text, "70000"));
  assert_non_null(strstr(error.text, "65507"));
}

static int tear_down(void **state) {
  (void)state;
  vv_options_free(&config);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_near_end),
      cmocka_unit_test(what_is_not_said_has_a_default),
      cmocka_unit_test(wrong_usage_is_refused),
      cmocka_unit_test(a_size_limit_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, tear_down);
}
