/* SPDX-License-Identifier: BSD-3-Clause */
/* What users and drivers of a group see of sender, receiver and peer, among a few ranks. */
#include "ranks.h"

static void test_a_small_message_is_one_datagram_and_no_answer(void **state) {
  (void)state;
  start_all(2, 1);
  settle();
  assert_delivered(1);
  assert_true(sent_data == 1 && sent_control == 0);
}

static void test_every_size(void **state) {
  (void)state;
  const uint64_t sizes[] = {0, 1, 87, 88, 89, 200, 201, 88 + 8 * 112, 10000, MESSAGE};
  for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    start_all(i % RANKS, sizes[i]);
    run(now_ns + VV_MS);
    assert_delivered(sizes[i]);
  }
}

static void test_a_group_of_one(void **state) {
  (void)state;
  struct vv_rank_config alone = {.ranks = 1, .datagram_bytes = DATAGRAM, .window_datagrams = WINDOW, .rtt_ns = VV_MS};
  struct vv_rank group;
  struct vv_rank_event event;
  void *memory = malloc(vv_rank_bytes(&alone));
  vv_rank_init(&group, memory, &alone);
  struct vv_rank_operation operation = {0, ranks[0].message, UINT64_C(5) << 30, true, 0, false, NULL};
  vv_rank_start(&group, 0, &operation);
  assert_true(vv_rank_event(&group, &event) && event.kind == VV_RANK_DONE && event.size_bytes == UINT64_C(5) << 30);
  vv_rank_close(&group, 0);
  assert_true(vv_rank_event(&group, &event) && event.kind == VV_RANK_CLOSED);
  assert_true(vv_rank_deadline_ns(&group) == VV_NEVER);
  free(memory);
}

static uint32_t victim_number, multicasts;

static bool loses_one(const struct vv_rank_datagram *datagram, uint32_t to) {
  if (datagram->way != VV_RANK_TO_DATA) return false;
  if (to == 0) multicasts++; /* the root is rank 4: each datagram passes here once, first */
  return multicasts == victim_number;
}

static void test_each_datagram_lost_in_turn_comes_within_50_ms(void **state) {
  (void)state;
  loses = loses_one;
  ranks[2].stream = ranks[3].stream = true;
  for (uint64_t size = 1; size <= 3000; size += 1499) {
    for (victim_number = 1; victim_number <= vv_cut_count(size, BODY); victim_number++) {
      multicasts = 0;
      vv_ns begin_ns = now_ns;
      start_all(4, size);
      run(now_ns + 100 * VV_MS); /* and the root's application computes */
      for (uint32_t i = 0; i < RANKS; i++) assert_true(ranks[i].done_ns < begin_ns + 50 * VV_MS);
      assert_delivered(size);
    }
  }
}

static void test_what_is_late_and_not_lost_is_not_sent_again(void **state) {
  (void)state;
  for (uint64_t size = 1; size <= 3000; size += 2999) {
    queued = true;
    start_all(RANKS - 1, size);
    run(now_ns + 100 * VV_MS); /* all ask, more than once */
    for (uint32_t i = 0; i < RANKS - 1; i++) assert_true(ranks[i].group.counts.asks > 1);
    queued = false;
    run(now_ns + VV_MS);
    assert_delivered(size);
    for (uint32_t i = 0; i < RANKS; i++) {
      assert_true(ranks[i].group.counts.repairs_one + ranks[i].group.counts.repairs_all == 0);
    }
  }
}

/* Its engine has heard of it by CONTROL, again and again; its application reads one datagram after the other. */
static void test_what_lies_in_the_socket_is_not_asked_for(void **state) {
  (void)state;
  struct rank *late = &ranks[3];
  for (uint32_t root = 0; root < 3; root++) {
    for (uint32_t i = 0; i < RANKS; i++) {
      if (i != 3) start(i, root, MESSAGE, true);
    }
    late->reads = 0;
    run(now_ns + 500 * VV_MS);
    assert_int_equal(late->inboxes[VV_RANK_SOCKET_DATA].count, WINDOW);
    assert_int_equal(late->group.sight.edge, late->group.consumed + WINDOW);
    start(3, root, MESSAGE, true);
    run(now_ns + 500 * VV_MS); /* it is descheduled, and asks nothing by name */
    late->reads = 1;
    run(now_ns + 500 * VV_MS);
    for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], root + 1);
    assert_int_equal(asked_or_deaf(), 0);
  }
}

static bool loses_rest(const struct vv_rank_datagram *datagram, uint32_t to) {
  return to == 3 && datagram->way == VV_RANK_TO_DATA && multicasts++ >= victim_number;
}

/* But the rest of a message, of which others tell, is asked for as soon as the socket is known to be empty. */
static void test_what_is_known_to_be_sent_and_does_not_lie_there_is_asked_for(void **state) {
  (void)state;
  loses = loses_rest;
  for (victim_number = 0; victim_number < 3; victim_number++) {
    multicasts = 0;
    start_all(0, 400);
    run(now_ns + 20 * VV_MS);
    assert_delivered(400);
  }
  assert_int_equal(ranks[3].told[VV_RANK_DEAFENED], 0); /* others came after these */
}

static void test_a_sleeper_stops_the_root_and_loses_nothing(void **state) {
  (void)state;
  ranks[2].stream = true;
  ranks[3].asleep = true;
  start_all(1, MESSAGE);
  run(2000 * VV_MS);
  assert_int_equal(ranks[3].inboxes[VV_RANK_SOCKET_DATA].count, WINDOW);
  assert_true(ranks[3].inboxes[VV_RANK_SOCKET_CONTROL].count < 20);
  assert_true(ranks[1].told[VV_RANK_LATE] == 1 && ranks[1].last.rank == 3 && ranks[1].told[VV_RANK_DONE] == 0);
  ranks[3].asleep = false;
  run(now_ns + 100 * VV_MS);
  assert_delivered(MESSAGE);
}

static void test_a_message_may_go_on_in_another_buffer(void **state) {
  static uint8_t elsewhere[MESSAGE];
  (void)state;
  for (uint32_t i = 1; i <= 2; i++) { /* who knows the size and who does not: before anything came, and in the middle */
    ranks[4].asleep = true;
    start_all(0, 10000);
    vv_rank_redirect(&ranks[i].group, now_ns, elsewhere, i == 2 ? 10000 : MESSAGE);
    run(now_ns + VV_MS);
    assert_true(ranks[i].group.consumed > ranks[i].group.current.first);
    vv_rank_redirect(&ranks[i].group, now_ns, ranks[i].message, MESSAGE);
    memset(elsewhere, 0xff, sizeof elsewhere);
    ranks[4].asleep = false;
    run(now_ns + 100 * VV_MS);
    assert_delivered(10000);
  }
}

static void test_a_message_that_does_not_fit_elsewhere_is_an_error(void **state) {
  (void)state;
  ranks[4].asleep = true;
  start_all(0, 10000);
  run(now_ns + VV_MS);
  vv_rank_redirect(&ranks[1].group, now_ns, ranks[1].message, 9999);
  ranks[4].asleep = false;
  run(now_ns + 100 * VV_MS);
  assert_failed(1, VV_GPDU_UNEQUAL_SIZE);
}

static void test_many_roots_do_not_overrun_a_sleeper(void **state) {
  (void)state;
  ranks[0].asleep = true;
  for (uint32_t n = 0; n < WINDOW; n++) {
    for (uint32_t i = 1; i < RANKS; i++) start(i, 1 + n % (RANKS - 1), 5, true);
    run(now_ns + VV_MS);
    for (uint32_t i = 1; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], n + 1);
  }
  for (uint32_t i = 1; i < RANKS; i++) start(i, 1, 5, true);
  run(now_ns + 500 * VV_MS);
  assert_int_equal(ranks[1].told[VV_RANK_DONE], WINDOW); /* the next must wait */
  assert_int_equal(ranks[0].inboxes[VV_RANK_SOCKET_DATA].count, WINDOW);
  ranks[0].asleep = false;
  for (uint32_t n = 0; n <= WINDOW; n++) {
    start(0, n == WINDOW ? 1 : 1 + n % (RANKS - 1), 5, true);
    run(now_ns + 50 * VV_MS);
  }
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], WINDOW + 1);
}

static void test_unequal_sizes_are_named(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) start(i, 0, i == 2 ? 11 : 10, true);
  run(100 * VV_MS);
  assert_failed(2, VV_GPDU_UNEQUAL_SIZE);
}

/* What is one datagram long is over before anybody can know: then the next operation says it. */
static void test_two_roots_are_found(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) start(i, i == 2 ? 2 : 0, 10, true);
  settle();
  start_all(0, 10);
  run(100 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].last.failure.why, VV_GPDU_UNEQUAL_ROOT);
}

static void test_no_root_is_found(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) start(i, i == 0 ? 1 : 0, 10, true);
  run(10000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].last.failure.why, VV_GPDU_UNEQUAL_ROOT);
}

static void test_a_death_is_named_to_all_now_and_later(void **state) {
  (void)state;
  ranks[1].asleep = true;
  start_all(1, 50);
  run(50 * VV_MS);
  vv_rank_lost(&ranks[2].group, now_ns, 1, VV_GPDU_DIED);
  run(now_ns + 50 * VV_MS);
  assert_failed(1, VV_GPDU_DIED);
  start(4, 0, 5, true);
  settle();
  assert_int_equal(ranks[4].told[VV_RANK_FAILED], 2);
}

static void test_a_deaf_rank_learns_of_a_death_by_asking(void **state) {
  (void)state;
  loses = loses_all_but_answers;
  ranks[1].asleep = true;
  start_all(1, 50);
  run(20 * VV_MS);
  vv_rank_lost(&ranks[2].group, now_ns, 1, VV_GPDU_DIED);
  run(now_ns + 60000 * VV_MS);
  assert_failed(1, VV_GPDU_DIED);
}

static void test_a_deaf_rank_gets_everything_and_says_so(void **state) {
  (void)state;
  loses = loses_all_but_answers;
  start_all(0, MESSAGE);
  run(100 * VV_MS);
  assert_int_equal(ranks[4].told[VV_RANK_DEAFENED], 1);
  run(30000 * VV_MS);
  assert_delivered(MESSAGE);
  assert_int_equal(ranks[4].told[VV_RANK_DEAFENED], 1);
  loses = NULL;
  for (uint32_t heard = 1; heard <= VV_GAP_HEARS; heard++) {
    start_all(0, 10);
    settle();
    assert_delivered(10);
    assert_int_equal(ranks[4].told[VV_RANK_HEARING], heard == VV_GAP_HEARS);
  }
}

static void test_closing_waits_for_the_last(void **state) {
  (void)state;
  start_all(0, 10);
  settle();
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != 3) vv_rank_close(&ranks[i].group, now_ns);
  }
  ranks[3].asleep = true;
  run(1000 * VV_MS);
  assert_int_equal(ranks[0].told[VV_RANK_CLOSED], 0);
  ranks[3].asleep = false;
  vv_rank_close(&ranks[3].group, now_ns);
  run(now_ns + 20000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_CLOSED], 1);
}

static void test_who_leaves_has_seen_all_of_it(void **state) {
  (void)state;
  start_all(0, 10);
  settle();
  vv_rank_close(&ranks[1].group, now_ns);
  vv_rank_lost(&ranks[1].group, now_ns, 0, VV_GPDU_LEFT);
  settle();
  assert_int_equal(ranks[1].told[VV_RANK_CLOSED], 1);
  vv_rank_lost(&ranks[2].group, now_ns, 0, VV_GPDU_LEFT);
  start(2, 0, 10, true); /* but rank 0 has left */
  settle();
  assert_int_equal(ranks[2].last.failure.why, VV_GPDU_LEFT);
}

static void test_positions_pass_32_bits(void **state) {
  (void)state;
  move_on((UINT64_C(1) << 32) - 20);
  loses = loses_one;
  victim_number = 19;
  multicasts = 0;
  start_all(4, 5000);
  run(1000 * VV_MS);
  assert_delivered(5000);
}

static void test_strangers_change_nothing(void **state) {
  (void)state;
  struct vv_rank before = ranks[0].group;
  uint8_t noise[DATAGRAM] = {VV_GPDU_HEAD, 0, 0, 9};
  for (size_t count = 0; count <= DATAGRAM; count++) {
    vv_rank_take(&ranks[0].group, 0, VV_RANK_SOCKET_DATA, noise, count);
    vv_rank_take(&ranks[0].group, 0, VV_RANK_SOCKET_CONTROL, noise, count);
  }
  assert_true(ranks[0].group.counts.foreign == 2 * (DATAGRAM + 1));
  ranks[0].group.counts.foreign = 0;
  assert_memory_equal(&ranks[0].group, &before, sizeof before);
}

/* A peer that has gone mad: a HEAD of no rank of this group names nobody, and ends nothing. */
static void test_a_root_that_is_no_rank_is_foreign(void **state) {
  (void)state;
  static const uint8_t zeros[10];
  struct vv_gpdu head = {.kind = VV_GPDU_HEAD, .rank = 60000, .size_bytes = 10, .data = zeros, .data_bytes = 10};
  uint8_t bytes[DATAGRAM] = {0};
  start_all(0, 10);
  size_t count = vv_gpdu_emit(&ranks[0].group.keys, 9, &head, bytes) + 10;
  for (uint32_t i = 0; i < RANKS; i++) {
    vv_rank_take(&ranks[i].group, now_ns, VV_RANK_SOCKET_DATA, bytes, count);
    assert_int_equal(ranks[i].group.counts.foreign, 1);
  }
  settle();
  assert_delivered(10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_a_small_message_is_one_datagram_and_no_answer),
      CASE(test_every_size),
      CASE(test_a_group_of_one),
      CASE(test_each_datagram_lost_in_turn_comes_within_50_ms),
      CASE(test_what_is_late_and_not_lost_is_not_sent_again),
      CASE(test_what_lies_in_the_socket_is_not_asked_for),
      CASE(test_what_is_known_to_be_sent_and_does_not_lie_there_is_asked_for),
      CASE(test_a_sleeper_stops_the_root_and_loses_nothing),
      CASE(test_a_message_may_go_on_in_another_buffer),
      CASE(test_a_message_that_does_not_fit_elsewhere_is_an_error),
      CASE(test_many_roots_do_not_overrun_a_sleeper),
      CASE(test_unequal_sizes_are_named),
      CASE(test_two_roots_are_found),
      CASE(test_no_root_is_found),
      CASE(test_a_death_is_named_to_all_now_and_later),
      CASE(test_a_deaf_rank_learns_of_a_death_by_asking),
      CASE(test_a_deaf_rank_gets_everything_and_says_so),
      CASE(test_closing_waits_for_the_last),
      CASE(test_who_leaves_has_seen_all_of_it),
      CASE(test_positions_pass_32_bits),
      CASE(test_strangers_change_nothing),
      CASE(test_a_root_that_is_no_rank_is_foreign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
