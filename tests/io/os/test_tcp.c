/* SPDX-License-Identifier: BSD-3-Clause */
/* How this host sends to itself; what routes say otherwise is shown on a lab (tests/lab/test_tcp.py). */
#include "io/os/tcp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct vv_tcp read_towards(const char *host) {
  struct vv_error error;
  struct vv_address peer;
  struct vv_tcp tcp;
  assert_int_equal(vv_address_parse(host, 9, &peer, &error), 0);
  vv_tcp_read(&peer, &tcp);
  return tcp;
}

static void to_itself_it_goes_through_loopback(void **state) {
  (void)state;
  struct vv_tcp tcp = read_towards("127.0.0.1");
  assert_true(strlen(tcp.congestion_control) > 0);
  assert_string_equal(tcp.iface, "lo");
  assert_int_equal(tcp.initial_window_segments, VV_INVENTORY_UNKNOWN);
  assert_int_equal(tcp.quick_acks, 0);
  assert_in_range(tcp.batch_segments_max, 1, 65535);
}

/* Whether there is a route to that address or not, and whether the host has IPv6 or not. */
static void what_has_no_route_is_unsaid(void **state) {
  (void)state;
  struct vv_tcp tcp = read_towards("2001:db8::1");
  assert_true(strlen(tcp.congestion_control) > 0);
  assert_int_equal(tcp.quick_acks, 0);
}

static void nothing_is_said_of_connections_to_nobody(void **state) {
  (void)state;
  struct vv_tcp tcp;
  vv_tcp_read(NULL, &tcp);
  assert_string_equal(tcp.congestion_control, "");
  assert_string_equal(tcp.iface, "");
  assert_int_equal(tcp.initial_window_segments, VV_INVENTORY_UNKNOWN);
  assert_int_equal(tcp.batch_segments_max, VV_INVENTORY_UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(to_itself_it_goes_through_loopback),
      cmocka_unit_test(what_has_no_route_is_unsaid),
      cmocka_unit_test(nothing_is_said_of_connections_to_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
