/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate: kept over time, lowered by loss that many share, regained. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/group/rate.h"

enum { BYTES = 1250, WINDOW = 80 };

/* Sends as fast as it may for a second: how many datagrams. */
static uint32_t send_for_a_second(struct vv_rate *rate, vv_ns *now_ns) {
  uint32_t count = 0;
  for (vv_ns end_ns = *now_ns + 1000000000; *now_ns < end_ns; count++) {
    vv_rate_sent(rate, *now_ns, BYTES);
    *now_ns = vv_rate_ready_ns(rate, *now_ns);
  }
  return count;
}

static void test_the_rate_is_kept(void **state) {
  (void)state;
  struct vv_rate rate;
  vv_ns now_ns = 5;
  vv_rate_init(&rate, 10000000, 4 * BYTES, WINDOW);
  uint32_t count = send_for_a_second(&rate, &now_ns); /* a datagram a millisecond, and the burst */
  assert_in_range(count, 1000, 1005);
  now_ns += 1000000000; /* what was not used is not saved, but for the burst */
  count = send_for_a_second(&rate, &now_ns);
  assert_in_range(count, 1000, 1005);
}

static void test_no_rate_is_no_limit(void **state) {
  (void)state;
  struct vv_rate rate;
  vv_rate_init(&rate, 0, 0, WINDOW);
  for (int i = 0; i < 1000; i++) vv_rate_sent(&rate, 7, BYTES);
  assert_true(vv_rate_ready_ns(&rate, 7) == 7);
}

static void test_shared_loss_slows_and_luck_does_not(void **state) {
  (void)state;
  struct vv_rate rate;
  vv_rate_init(&rate, 10000000, BYTES, WINDOW);
  for (int i = 0; i < WINDOW; i++) {
    if (i < WINDOW / 8) vv_rate_lost(&rate);
    vv_rate_sent(&rate, 0, BYTES);
  }
  assert_true(rate.rate_bps == 10000000);
  for (int i = 0; i < WINDOW; i++) {
    if (i <= WINDOW / 8) vv_rate_lost(&rate);
    vv_rate_sent(&rate, 0, BYTES);
  }
  assert_true(rate.rate_bps == 8500000);
  for (int i = 0; i < 15 * WINDOW; i++) vv_rate_sent(&rate, 0, BYTES);
  assert_true(rate.rate_bps == 10000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_rate_is_kept),
      cmocka_unit_test(test_no_rate_is_no_limit),
      cmocka_unit_test(test_shared_loss_slows_and_luck_does_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
