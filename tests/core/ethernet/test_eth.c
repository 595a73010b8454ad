/* SPDX-License-Identifier: BSD-3-Clause */
/* What frames take of a link: the sizes and times that everybody can work out by hand. */
#include "core/ethernet/eth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_bytes_of_frames(void **state) {
  (void)state;
  assert_int_equal(vv_eth_wire_bytes(0, false), 84);
  assert_int_equal(vv_eth_wire_bytes(46, false), 84);
  assert_int_equal(vv_eth_wire_bytes(47, false), 85);
  assert_int_equal(vv_eth_wire_bytes(1500, false), 1538);
  assert_int_equal(vv_eth_wire_bytes(9000, false), 9038);
  /* A tag stands in for pad, and lengthens what needs none. */
  assert_int_equal(vv_eth_wire_bytes(0, true), 84);
  assert_int_equal(vv_eth_wire_bytes(42, true), 84);
  assert_int_equal(vv_eth_wire_bytes(43, true), 85);
  assert_int_equal(vv_eth_wire_bytes(1500, true), 1542);
}

static void test_times_of_frames(void **state) {
  (void)state;
  assert_int_equal(vv_eth_ns(84, 10000000), 67200);
  assert_int_equal(vv_eth_ns(1538, 10000000), 1230400);
  assert_int_equal(vv_eth_ns(1538, 100000000), 123040);
  assert_int_equal(vv_eth_ns(84, UINT64_C(100000000000)), 7); /* 6.72 */
  assert_int_equal(vv_eth_ns(1538, 7000000), 1757715);        /* 1757714.3 */
}

static void test_times_of_long_messages(void **state) {
  (void)state;
  assert_int_equal(vv_eth_ns(UINT64_C(5000000000), 10000000), 4000 * VV_SEC);
  assert_int_equal(vv_eth_ns(UINT64_C(4294967297), UINT64_C(10000000000)), 3435973838); /* .6 */
  assert_int_equal(vv_eth_ns(UINT64_C(1) << 40, UINT64_C(400000000000)), 21990232556);  /* .3 */
}

static void test_no_frame_is_faster_than_its_rate(void **state) {
  (void)state;
  for (uint64_t rate_bps = 999983; rate_bps < UINT64_C(400000000000); rate_bps = rate_bps * 7 / 3) {
    for (uint64_t bytes = 84; bytes <= 9042; bytes++) {
      vv_ns ns = vv_eth_ns(bytes, rate_bps);
      assert_true(ns * rate_bps >= bytes * 8000000000 && (ns - 1) * rate_bps < bytes * 8000000000);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes_of_frames),
      cmocka_unit_test(test_times_of_frames),
      cmocka_unit_test(test_times_of_long_messages),
      cmocka_unit_test(test_no_frame_is_faster_than_its_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
