/* SPDX-License-Identifier: BSD-3-Clause */
/* When a receiver asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/heap.h"
#include "core/group/gap.h"

#define RTT VV_MS

static struct vv_gap gap_of(uint32_t ranks, uint32_t window) {
  struct vv_gap gap;
  vv_gap_init(&gap, RTT, 0, ranks, window);
  return gap;
}

static void test_it_asks_when_nothing_comes(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  assert_true(gap.ask_ns == VV_NEVER);
  vv_gap_begin(&gap, 0, false);
  assert_true(gap.ask_ns == 4 * RTT);
  vv_gap_came(&gap, 3 * RTT, VV_GAP_NOTHING, true);
  assert_true(gap.ask_ns == 7 * RTT);
  vv_gap_end(&gap);
  assert_true(gap.ask_ns == VV_NEVER);
}

static void test_reordered_is_not_lost(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  vv_gap_came(&gap, 100, VV_GAP_HOLE, true);
  assert_true(gap.ask_ns == 100 + RTT / 4);
  vv_gap_came(&gap, 110, VV_GAP_NOTHING, true); /* there it is */
  assert_true(gap.ask_ns == 110 + 4 * RTT);
  vv_gap_came(&gap, 200, VV_GAP_HOLE, true);
  for (int i = 1; i <= VV_GAP_REORDER; i++) vv_gap_came(&gap, 200 + (uint64_t)i, VV_GAP_HOLE, true);
  assert_true(gap.ask_ns == 200 + VV_GAP_REORDER); /* three later ones: lost */
}

static void test_waits_grow_but_not_for_ever(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(2, 80);
  vv_gap_begin(&gap, 0, false);
  vv_ns last_ns = 0;
  for (int i = 0; i < 60; i++) {
    vv_ns now_ns = gap.ask_ns;
    assert_true(now_ns - last_ns <= VV_GAP_WAIT_NS_MAX && now_ns > last_ns);
    last_ns = now_ns;
    vv_gap_asked(&gap, now_ns, 0, true);
  }
  assert_true(last_ns > VV_GAP_WAIT_NS_MAX);
}

static void test_an_answer_starts_the_waits_anew(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  vv_gap_told(&gap, 0);
  for (int i = 0; i < 5; i++) vv_gap_asked(&gap, gap.ask_ns, 3, false);
  vv_ns now_ns = gap.asked_ns + RTT;
  assert_true(gap.ask_ns > now_ns + 16 * RTT);
  vv_gap_came(&gap, now_ns, VV_GAP_HOLE, false); /* one of three: the others may be lost, their sender is not */
  assert_true(gap.ask_ns == now_ns + 2 * RTT);
}

static void test_full_links_are_asked_more_rarely(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  vv_ns last_ns = RTT;
  for (vv_ns now_ns = 0; now_ns < 10000 * VV_MS; now_ns += 1000 * VV_MS) {
    vv_gap_told(&gap, now_ns);
    vv_gap_asked(&gap, now_ns, 1, false);
    vv_gap_came(&gap, now_ns + 40 * RTT, VV_GAP_NOTHING, false);
    assert_true(gap.answer_ns > last_ns && gap.answer_ns < 40 * RTT);
    last_ns = gap.answer_ns;
  }
  vv_gap_told(&gap, 20000 * VV_MS);
  vv_gap_asked(&gap, 20000 * VV_MS, 1, false);
  assert_true(gap.ask_ns > 20000 * VV_MS + 60 * RTT);
  vv_gap_came(&gap, 30000 * VV_MS, VV_GAP_NOTHING, false); /* its helper had slept */
  assert_true(gap.answer_ns == 64 * RTT);
}

/* While data come by multicast each question is the first; what answers them may come at once, to a rank that sleeps.
 */
static void test_no_more_is_asked_for_than_a_sleeper_has_room_for(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 48);
  vv_ns now_ns = 0;
  gap.deaf = true;
  assert_true(vv_gap_wants_more(&gap, now_ns));
  vv_gap_asked(&gap, now_ns, 6 + VV_GAP_MORE_MAX, false);
  for (uint32_t asked = 6 + VV_GAP_MORE_MAX; asked < 40;) {
    vv_gap_begin(&gap, now_ns, true);
    assert_true(gap.attempt == 0);
    assert_false(vv_gap_wants_more(&gap, now_ns));
    const uint32_t room = vv_gap_room(&gap, now_ns);
    assert_int_equal(room, asked + 6 <= 24 ? 6 : asked < 24 ? 24 - asked : 1);
    vv_gap_asked(&gap, now_ns, room, false);
    asked += room;
    now_ns += RTT;
  }
  for (int i = 0; i < 40; i++) vv_gap_brought(&gap);
  assert_int_equal(vv_gap_room(&gap, now_ns), 6);
  vv_gap_asked(&gap, now_ns, 30, false);
  assert_int_equal(vv_gap_room(&gap, now_ns + 2 * RTT - 1), 1);
  assert_int_equal(vv_gap_room(&gap, now_ns + 2 * RTT), 6); /* what was lost is forgotten */
}

static void test_a_refusal_leads_to_the_root_once(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  vv_gap_told(&gap, 10);
  vv_gap_asked(&gap, 10, 1, false);
  vv_gap_refused(&gap, 20);
  assert_true(gap.ask_ns == 20);
  vv_gap_asked(&gap, 20, 1, true);
  vv_ns later_ns = gap.ask_ns;
  vv_gap_refused(&gap, 30);
  assert_true(gap.ask_ns == later_ns && later_ns > 30);
}

static void test_a_silent_root_is_spared(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80); /* 80 / 2 / 8 = 5 questions of each rank */
  vv_gap_begin(&gap, 0, false);
  for (int i = 0; i < 5; i++) {
    assert_false(vv_gap_spares_root(&gap));
    vv_gap_asked(&gap, (uint64_t)i * VV_MS, 1, true);
  }
  assert_true(vv_gap_spares_root(&gap));
  vv_gap_heard_root(&gap);
  assert_false(vv_gap_spares_root(&gap));
}

static void test_what_still_flows_is_not_lost(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  vv_gap_told(&gap, 100);
  for (vv_ns i = 1; i <= 20; i++) { /* in order, and more is known to have been sent */
    vv_gap_came(&gap, i * RTT / 5, VV_GAP_REST, true);
    assert_true(gap.ask_ns == i * RTT / 5 + RTT / 4);
  }
}

static void test_silence_is_known_when_the_socket_was_empty_then(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  assert_false(vv_gap_is_silent(&gap));
  vv_gap_dry(&gap, gap.ask_ns - 1);
  assert_false(vv_gap_is_silent(&gap));
  vv_gap_dry(&gap, gap.ask_ns);
  vv_gap_dry(&gap, 1); /* by another one who looked, and was slow to say so */
  assert_true(vv_gap_is_silent(&gap));
}

/* Questions that name something, as many as it takes, and the answer to the first. */
static void be_answered(struct vv_gap *gap, uint64_t edge) {
  for (uint64_t i = 1; i <= VV_GAP_DEAF_ASKS; i++) {
    vv_gap_asked(gap, i * RTT, 16, false);
    assert_false(vv_gap_repaired(gap, edge, edge));
  }
}

static void test_the_deaf_notice(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  be_answered(&gap, 100);
  for (uint64_t i = 1; i < VV_GAP_DEAF; i++) assert_false(vv_gap_repaired(&gap, 100 + i, 100 + i));
  assert_false(vv_gap_repaired(&gap, 200, 107)); /* what was sent since may lie in the socket */
  assert_true(vv_gap_repaired(&gap, 200, 108) && gap.deaf);
  assert_false(vv_gap_repaired(&gap, 200, 200)); /* it is known */
  vv_gap_came(&gap, 5 * RTT, VV_GAP_NOTHING, false);
  assert_true(gap.ask_ns > 5 * RTT && gap.ask_ns < 7 * RTT); /* sooner than who hears */
  for (int i = 0; i < 4; i++) {
    assert_int_equal(vv_gap_wants_more(&gap, (101 + i) * RTT),
                     i < 2); /* whoever sleeps meanwhile can hold the answers */
    vv_gap_asked(&gap, (uint64_t)(101 + i) * RTT, 8, false);
  }
  for (int i = 1; i < VV_GAP_HEARS; i++) assert_false(vv_gap_heard(&gap)); /* one that slips through ... */
  assert_true(!vv_gap_repaired(&gap, 300, 300) && gap.deaf);               /* ... is no sign of hearing */
  for (int i = 1; i <= VV_GAP_HEARS; i++) assert_int_equal(vv_gap_heard(&gap), i == VV_GAP_HEARS);
  assert_false(gap.deaf);
}

static void test_who_hears_or_was_never_answered_is_not_deaf(void **state) {
  (void)state;
  struct vv_gap gap = gap_of(8, 80);
  vv_gap_begin(&gap, 0, false);
  for (vv_ns i = 1; i <= 20; i++) vv_gap_asked(&gap, i * RTT, 0, false); /* the root is late: these name nothing */
  assert_false(vv_gap_repaired(&gap, 100, 100));
  assert_false(vv_gap_repaired(&gap, 200, 200));
  be_answered(&gap, 300);
  assert_false(vv_gap_heard(&gap)); /* it had lost what was sent until then, and hears what comes now */
  assert_false(vv_gap_repaired(&gap, 400, 400));
  be_answered(&gap, 400);
  assert_true(vv_gap_repaired(&gap, 500, 500));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_asks_when_nothing_comes),
      cmocka_unit_test(test_reordered_is_not_lost),
      cmocka_unit_test(test_waits_grow_but_not_for_ever),
      cmocka_unit_test(test_no_more_is_asked_for_than_a_sleeper_has_room_for),
      cmocka_unit_test(test_a_refusal_leads_to_the_root_once),
      cmocka_unit_test(test_an_answer_starts_the_waits_anew),
      cmocka_unit_test(test_full_links_are_asked_more_rarely),
      cmocka_unit_test(test_a_silent_root_is_spared),
      cmocka_unit_test(test_the_deaf_notice),
      cmocka_unit_test(test_what_still_flows_is_not_lost),
      cmocka_unit_test(test_silence_is_known_when_the_socket_was_empty_then),
      cmocka_unit_test(test_who_hears_or_was_never_answered_is_not_deaf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
