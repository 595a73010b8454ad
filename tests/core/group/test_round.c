/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds: all ranks send at once; late, lost, unequal and dead ones; and messages before and behind. */
#include "core/group/round.h"

#include "ranks.h"

/* What rank i gives to a round, and where each rank has it. */
enum { PART_BYTES = 30, AWAY = 100 };
static struct vv_rank_part parts[RANKS][RANKS];

static size_t part_bytes(uint32_t i) {
  return i == 1 ? 0 : PART_BYTES + i;
}

static void give(uint32_t i, uint8_t seed) {
  for (uint32_t j = 0; j < RANKS; j++) {
    parts[i][j] = (struct vv_rank_part){ranks[i].message + (size_t)j * AWAY, part_bytes(j)};
  }
  memset(ranks[i].message, 0, MESSAGE);
  fill(parts[i][i].buffer, part_bytes(i), (uint8_t)(seed + i));
  struct vv_rank_operation operation = {.parts = parts[i]};
  vv_rank_start(&ranks[i].group, now_ns, &operation);
}

static void assert_exchanged(uint32_t i, uint8_t seed) {
  uint8_t right[AWAY];
  assert_true(ranks[i].told[VV_RANK_DONE] == 1 && ranks[i].told[VV_RANK_FAILED] == 0);
  for (uint32_t j = 0; j < RANKS; j++) {
    fill(right, part_bytes(j), (uint8_t)(seed + j));
    assert_memory_equal(ranks[i].message + (size_t)j * AWAY, right, part_bytes(j));
  }
  ranks[i].told[VV_RANK_DONE] = 0;
}

static void give_all(uint8_t seed) {
  for (uint32_t i = 0; i < RANKS; i++) give(i, seed);
}

static void assert_all_exchanged(uint8_t seed) {
  for (uint32_t i = 0; i < RANKS; i++) assert_exchanged(i, seed);
}

static void test_a_round_is_a_datagram_of_each_and_nothing_else(void **state) {
  (void)state;
  for (uint32_t n = 1; n <= 50; n++) { /* many windows: parts alone keep the credit up */
    give_all((uint8_t)n);
    settle();
    assert_all_exchanged((uint8_t)n);
    assert_true(sent_data == n * RANKS && sent_control == 0);
  }
}

static void test_rounds_and_messages_follow_each_other(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 20; n++) {
    give_all((uint8_t)n);
    run(now_ns + 100 * VV_MS);
    assert_all_exchanged((uint8_t)n);
    start_all(n % RANKS, n * 100);
    run(now_ns + 100 * VV_MS);
    assert_delivered(n * 100);
  }
  for (uint32_t i = 0; i < RANKS; i++) vv_rank_close(&ranks[i].group, now_ns);
  run(now_ns + 1000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_CLOSED], 1);
}

static void test_a_group_ends_after_a_round(void **state) {
  (void)state;
  give_all(1);
  settle();
  for (uint32_t i = 0; i < RANKS; i++) vv_rank_close(&ranks[i].group, now_ns);
  run(now_ns + 1000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_CLOSED], 1);
}

/* All ask for it, again and again: it is sent once, when its rank comes. */
static void test_what_a_late_rank_has_not_sent_is_not_sent_twice(void **state) {
  (void)state;
  for (uint32_t late = 0; late < RANKS; late++) {
    for (uint32_t i = 0; i < RANKS; i++) {
      if (i != late) give(i, 3);
    }
    run(now_ns + 1000 * VV_MS);
    for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], 0);
    give(late, 3);
    settle();
    assert_all_exchanged(3);
    run(now_ns + 1000 * VV_MS);
    assert_int_equal(asked_or_deaf(), 0);
  }
}

static uint32_t part_of, part_to;

static bool loses_part(const struct vv_rank_datagram *datagram, uint32_t to) {
  bool part = datagram->way == VV_RANK_TO_DATA && datagram->header[0] == VV_GPDU_PART;
  return part && to == part_to && datagram->header[VV_GPDU_HEADER_BYTES + 1] == part_of;
}

static void test_each_part_lost_in_turn_comes_within_50_ms(void **state) {
  (void)state;
  loses = loses_part;
  for (part_of = 0; part_of < RANKS; part_of++) {
    for (part_to = 0; part_to < RANKS; part_to++) {
      vv_ns begin_ns = now_ns;
      if (part_to == part_of) continue;
      give_all(4);
      run(now_ns + 1000 * VV_MS); /* and then nobody says anything by itself */
      for (uint32_t i = 0; i < RANKS; i++) assert_true(ranks[i].done_ns < begin_ns + 50 * VV_MS);
      assert_all_exchanged(4);
    }
  }
}

/* Those that wait ask once in seconds by then. */
static void test_what_a_very_late_rank_sends_and_is_lost_comes_soon(void **state) {
  (void)state;
  loses = loses_part;
  part_of = 2, part_to = 4;
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != part_of) give(i, 5);
  }
  run(now_ns + 60000 * VV_MS);
  vv_ns begin_ns = now_ns;
  give(part_of, 5);
  run(now_ns + 60000 * VV_MS);
  assert_true(ranks[part_to].done_ns < begin_ns + 50 * VV_MS);
  assert_all_exchanged(5);
}

static void test_the_next_round_tells_of_what_was_lost_in_the_last(void **state) {
  (void)state;
  loses = loses_part;
  part_of = 3, part_to = 1;
  give_all(6);
  settle();
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != part_to) {
      assert_exchanged(i, 6);
      give(i, 7);
    }
  }
  vv_ns begin_ns = now_ns;
  run(now_ns + VV_MS); /* a quarter of a round trip, and no 4 ms */
  assert_true(ranks[part_to].done_ns <= begin_ns + VV_MS);
  assert_exchanged(part_to, 6);
  give(part_to, 7);
  run(now_ns + 50 * VV_MS);
  assert_all_exchanged(7);
}

static void test_a_sleeper_stops_a_round_and_loses_nothing(void **state) {
  (void)state;
  ranks[3].asleep = true;
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != 3) give(i, 8);
  }
  run(now_ns + 60000 * VV_MS);
  assert_int_equal(ranks[3].inboxes[VV_RANK_SOCKET_DATA].count, RANKS - 1);
  assert_true(ranks[3].inboxes[VV_RANK_SOCKET_CONTROL].count < 60);
  ranks[3].asleep = false;
  give(3, 8);
  run(now_ns + 50 * VV_MS);
  assert_all_exchanged(8);
  assert_int_equal(asked_or_deaf(), 0);
}

/* Messages use the credit up; then all at once tell each other where they are, and the round goes on. */
static void test_a_round_waits_for_credit(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 4 * WINDOW; n++) {
    for (uint32_t k = 0; k < n % WINDOW; k++) {
      start_all(0, 5);
      settle();
      assert_delivered(5);
    }
    give_all((uint8_t)n);
    run(now_ns + 3 * VV_MS);
    assert_all_exchanged((uint8_t)n);
  }
}

static void test_parts_of_unequal_sizes_are_named(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) {
    give(i, 9);
    if (i == 2) parts[2][4].bytes--;
  }
  run(now_ns + 100 * VV_MS);
  assert_failed(2, VV_GPDU_UNEQUAL_SIZE);
}

/* Whoever it is, root or not, and whoever comes first. */
static void test_a_message_where_others_make_a_round_is_an_error(void **state) {
  (void)state;
  for (uint32_t odd = 0; odd < RANKS; odd++) {
    for (uint32_t root = 0; root < RANKS; root++) {
      for (uint32_t early = 0; early <= 1; early++) {
        tear_down(state), set_up(state);
        if (early) start(odd, root, 10, true);
        for (uint32_t i = 0; i < RANKS; i++) {
          if (i != odd) give(i, 1);
        }
        settle();
        if (!early) start(odd, root, 10, true);
        run(now_ns + 1000 * VV_MS);
        for (uint32_t i = 0; i < RANKS; i++) {
          assert_true(ranks[i].told[VV_RANK_FAILED] >= 1);
          assert_int_equal(ranks[i].last.failure.why, VV_GPDU_UNEQUAL_ROOT);
        }
      }
    }
  }
}

static void test_a_death_in_a_round_is_named(void **state) {
  (void)state;
  ranks[1].asleep = true;
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != 1) give(i, 1);
  }
  run(50 * VV_MS);
  vv_rank_lost(&ranks[2].group, now_ns, 1, VV_GPDU_DIED);
  run(now_ns + 50 * VV_MS);
  assert_failed(1, VV_GPDU_DIED);
}

static void test_a_deaf_rank_gets_every_part_and_says_so(void **state) {
  (void)state;
  loses = loses_all_but_answers;
  for (uint32_t n = 0; n < 20; n++) {
    give_all((uint8_t)n);
    run(now_ns + 1000 * VV_MS);
    assert_all_exchanged((uint8_t)n);
  }
  assert_int_equal(ranks[4].told[VV_RANK_DEAFENED], 1);
}

static void test_who_can_make_rounds(void **state) {
  (void)state;
  assert_true(vv_group_round_possible(2, 4) && vv_group_round_possible(32, 64));
  assert_false(vv_group_round_possible(1, 64) || vv_group_round_possible(33, 1000) || vv_group_round_possible(8, 15));
  assert_int_equal(vv_group_round_part_bytes(1472), 1446);
}

static void test_rounds_pass_32_bits(void **state) {
  (void)state;
  move_on((UINT64_C(1) << 32) - 2 * RANKS - 2);
  for (uint8_t n = 0; n < 5; n++) {
    give_all(n);
    settle();
    assert_all_exchanged(n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_a_round_is_a_datagram_of_each_and_nothing_else),
      CASE(test_rounds_and_messages_follow_each_other),
      CASE(test_a_group_ends_after_a_round),
      CASE(test_what_a_late_rank_has_not_sent_is_not_sent_twice),
      CASE(test_each_part_lost_in_turn_comes_within_50_ms),
      CASE(test_what_a_very_late_rank_sends_and_is_lost_comes_soon),
      CASE(test_the_next_round_tells_of_what_was_lost_in_the_last),
      CASE(test_a_sleeper_stops_a_round_and_loses_nothing),
      CASE(test_a_round_waits_for_credit),
      CASE(test_parts_of_unequal_sizes_are_named),
      CASE(test_a_message_where_others_make_a_round_is_an_error),
      CASE(test_a_death_in_a_round_is_named),
      CASE(test_a_deaf_rank_gets_every_part_and_says_so),
      CASE(test_who_can_make_rounds),
      CASE(test_rounds_pass_32_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
