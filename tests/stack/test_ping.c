/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs called ping print, and what is read from it. */
#include "stack/ping.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct known {
  const char *text;
  enum vv_ping_got got;
  vv_ns rtt_ns;
};

#define IPUTILS_HEAD "PING 10.0.0.2 (10.0.0.2) 64(92) bytes of data.\n"
#define IPUTILS_TAIL "\n--- 10.0.0.2 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"

static const struct known known[] = {
    {IPUTILS_HEAD "72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.033 ms\n" IPUTILS_TAIL, VV_PING_ANSWER, 33000},
    {IPUTILS_HEAD "72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1.29 ms\n" IPUTILS_TAIL, VV_PING_ANSWER, 1290000},
    {IPUTILS_HEAD "72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=102 ms\n" IPUTILS_TAIL, VV_PING_ANSWER, 102000000},
    {IPUTILS_HEAD
     "72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.033 ms\nwrong data byte #20 should be 0x14 but was 0x0",
     VV_PING_WRONG, 33000},
    {IPUTILS_HEAD "72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.033 ms (BAD CHECKSUM!)\n", VV_PING_WRONG, 33000},
    {IPUTILS_HEAD "\n--- 10.0.0.2 ping statistics ---\n1 packets transmitted, 0 received, 100% packet loss, time 0ms\n",
     VV_PING_SILENCE, -1},
    {IPUTILS_HEAD "From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n", VV_PING_SILENCE, -1},
    {IPUTILS_HEAD "16 bytes from 10.0.0.2: icmp_seq=1 ttl=64\n" IPUTILS_TAIL, VV_PING_SILENCE, -1},
    {IPUTILS_HEAD "16 bytes from 10.0.0.2: icmp_seq=1 ttl=64\nrtt min time=3 ms\n", VV_PING_SILENCE, -1},
    {"PING 10.0.0.2 (10.0.0.2): 56 data bytes\n64 bytes from 10.0.0.2: seq=0 ttl=64 time=0.117 ms\n", /* busybox */
     VV_PING_ANSWER, 117000},
    {"72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=-1 ms\n", VV_PING_SILENCE, -1},
    {"72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=99999999999999999999999999 ms\n", VV_PING_SILENCE, -1},
    {"72 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1", VV_PING_SILENCE, -1},
    {"", VV_PING_SILENCE, -1},
};

static void test_outputs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    vv_ns rtt_ns = -1;
    enum vv_ping_got got = vv_ping_parse(known[i].text, &rtt_ns);
    if (got != known[i].got || rtt_ns != known[i].rtt_ns) {
      fail_msg("%s\nread as %d, %ld ns", known[i].text, (int)got, (long)rtt_ns);
    }
  }
}

static void test_a_program_that_says_nothing_is_silence(void **state) {
  (void)state;
  struct vv_ping ping;
  struct vv_error error;
  vv_ns rtt_ns;
  enum vv_ping_got got;
  if (!vv_ping_exists()) {
    if (getenv("CI")) fail_msg("there is no program ping where CI is set");
    skip();
  }
  vv_ping_init(&ping);
  assert_int_equal(vv_ping_start(&ping, "-no-address", 16, &error), 0);
  while ((got = vv_ping_take(&ping, &rtt_ns)) == VV_PING_NOTHING) poll(NULL, 0, 1);
  assert_int_equal(got, VV_PING_SILENCE);
  assert_int_equal(ping.child.pid, 0);
  vv_ping_stop(&ping);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outputs),
      cmocka_unit_test(test_a_program_that_says_nothing_is_silence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
