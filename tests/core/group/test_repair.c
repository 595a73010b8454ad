/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets a repair, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/heap.h"
#include "core/group/repair.h"

enum { RTT = 1000, WINDOW = 8 };
_Alignas(16) static uint8_t memory[8192];

static struct vv_repair fresh(void) {
  struct vv_repair repair;
  assert_true(vv_repair_bytes(WINDOW) <= sizeof memory);
  vv_repair_init(&repair, memory, WINDOW, RTT);
  return repair;
}

static void assert_next(struct vv_repair *repair, vv_ns now_ns, uint64_t position, uint32_t rank) {
  struct vv_repair_order order;
  assert_true(vv_repair_next(repair, now_ns, 0, &order));
  assert_true(order.position == position && order.rank == rank);
  assert_true(rank == VV_REPAIR_ALL ? order.ranks > 1 : order.ranks == 1);
}

static void assert_none(struct vv_repair *repair, vv_ns now_ns) {
  struct vv_repair_order order;
  assert_false(vv_repair_next(repair, now_ns, 0, &order));
}

static void test_a_peer_answers_each_at_once(void **state) {
  (void)state;
  struct vv_repair repair = fresh();
  vv_repair_owe(&repair, 100, 3, 7, false, false);
  vv_repair_owe(&repair, 100, 3, 8, false, false);
  assert_true(vv_repair_due_ns(&repair) == 100);
  assert_next(&repair, 100, 3, 7);
  assert_next(&repair, 100, 3, 8);
  assert_none(&repair, 100);
  assert_true(vv_repair_due_ns(&repair) == VV_NEVER);
}

static void test_the_root_waits_for_others_and_sends_once_to_all(void **state) {
  (void)state;
  struct vv_repair repair = fresh();
  vv_repair_owe(&repair, 100, 3, 7, true, false);
  assert_none(&repair, 100);
  assert_true(vv_repair_due_ns(&repair) == 100 + RTT / 2);
  vv_repair_owe(&repair, 200, 3, 8, true, false);
  vv_repair_owe(&repair, 210, 3, 9, true, false);
  assert_next(&repair, 100 + RTT / 2, 3, VV_REPAIR_ALL);
  assert_none(&repair, 100 + RTT);
  vv_repair_owe(&repair, 100 + RTT, 3, 7, true, false); /* on its way */
  assert_none(&repair, 100 + 9 * RTT);
  vv_repair_owe(&repair, 100 + 9 * RTT, 3, 7, true, false); /* never to all a second time */
  vv_repair_owe(&repair, 100 + 9 * RTT, 3, 8, true, false);
  assert_next(&repair, 100 + 10 * RTT, 3, 7);
  assert_next(&repair, 100 + 10 * RTT, 3, 8);
}

static void test_one_who_lacks_it_gets_it_alone(void **state) {
  (void)state;
  struct vv_repair repair = fresh();
  vv_repair_owe(&repair, 0, 3, 7, true, false);
  vv_repair_owe(&repair, 0, 4, 8, true, false);
  assert_next(&repair, RTT / 2, 3, 7);
  assert_next(&repair, RTT / 2, 4, 8);
  vv_repair_owe(&repair, RTT / 2 + 1, 3, 7, true, false); /* asked before it came */
  assert_none(&repair, 5 * RTT);
}

static void test_the_deaf_are_answered_alone_and_at_once(void **state) {
  (void)state;
  struct vv_repair repair = fresh();
  vv_repair_owe(&repair, 0, 3, 7, true, true);
  vv_repair_owe(&repair, 0, 3, 8, true, true);
  assert_next(&repair, 0, 3, 7);
  assert_next(&repair, 0, 3, 8);
}

/* Two ranks lack each of the positions: how many of these go to all. */
static uint32_t all_of(struct vv_repair *repair, vv_ns now_ns, uint64_t horizon, uint64_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    vv_repair_owe(repair, now_ns, first + i, 7, true, false);
    vv_repair_owe(repair, now_ns, first + i, 8, true, false);
  }
  struct vv_repair_order order;
  uint32_t all = 0, one = 0;
  while (vv_repair_next(repair, now_ns + RTT / 2, horizon, &order)) {
    if (order.rank == VV_REPAIR_ALL) {
      all++;
    } else {
      one++;
    }
  }
  assert_int_equal(all + one / 2, count);
  return all;
}

static void test_a_rank_that_sleeps_gets_a_quarter_of_a_window_at_most(void **state) {
  (void)state;
  struct vv_repair repair = fresh();
  assert_int_equal(all_of(&repair, 0, 0, 0, WINDOW - 1), WINDOW / 4);
  assert_int_equal(all_of(&repair, 100 * RTT, 0, WINDOW, 2), 0);
  assert_int_equal(all_of(&repair, 200 * RTT, 1, 2 * WINDOW, 1), 1); /* it has read */
}

static void test_it_is_bounded(void **state) {
  (void)state;
  struct vv_repair repair = fresh();
  for (uint32_t rank = 0; rank < 1000; rank++) vv_repair_owe(&repair, 0, rank % WINDOW, rank, false, false);
  struct vv_repair_order order;
  uint32_t count = 0;
  while (vv_repair_next(&repair, 0, 0, &order)) count++;
  assert_int_equal(count, repair.debts_room);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_peer_answers_each_at_once),
      cmocka_unit_test(test_the_root_waits_for_others_and_sends_once_to_all),
      cmocka_unit_test(test_one_who_lacks_it_gets_it_alone),
      cmocka_unit_test(test_the_deaf_are_answered_alone_and_at_once),
      cmocka_unit_test(test_a_rank_that_sleeps_gets_a_quarter_of_a_window_at_most),
      cmocka_unit_test(test_it_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
