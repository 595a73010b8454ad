/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules: how many casts and messages an operation takes, and that none has more steps than there is room for. That
 * the results are right, whatever happens when, is shown by the simulator (vaiven-sim coll).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/coll/schedule.h"

enum { RANKS_MAX = 1024 };

static struct vv_schedule_step steps[VV_SCHEDULE_STEPS_MAX(RANKS_MAX)];
static struct vv_schedule_part parts[RANKS_MAX], round_parts[RANKS_MAX];
static struct vv_schedule schedule = {.steps = steps, .parts = round_parts};

static struct vv_schedule_ranks who(uint32_t ranks, uint32_t rank, bool casts) {
  return (struct vv_schedule_ranks){ranks, rank, casts, false, 1408, 16384};
}

static uint32_t steps_of(enum vv_schedule_kind kind) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < schedule.count; i++) found += steps[i].kind == kind;
  return found;
}

static void cut(uint32_t ranks, size_t bytes) {
  for (uint32_t i = 0; i < ranks; i++) parts[i] = (struct vv_schedule_part){i * bytes, bytes};
}

static void test_a_broadcast_is_one_cast(void **state) {
  (void)state;
  struct vv_schedule_ranks ranks = who(8, 3, true);
  vv_schedule_broadcast(&schedule, &ranks, 5, 1000000);
  assert_int_equal(schedule.count, 1);
  assert_true(steps[0].kind == VV_SCHEDULE_CAST && steps[0].peer == 5 && steps[0].bytes == 1000000);
  vv_schedule_broadcast(&schedule, &ranks, 5, 0);
  assert_int_equal(schedule.count, 0);
}

static void test_without_casts_a_broadcast_is_a_binomial_tree(void **state) {
  (void)state;
  uint32_t sent = 0, taken = 0, most = 0;
  for (uint32_t rank = 0; rank < 13; rank++) {
    struct vv_schedule_ranks ranks = who(13, rank, false);
    vv_schedule_broadcast(&schedule, &ranks, 4, 100);
    uint32_t sends = steps_of(VV_SCHEDULE_SEND);
    sent += sends;
    taken += steps_of(VV_SCHEDULE_TAKE);
    if (sends > most) most = sends;
    assert_int_equal(steps_of(VV_SCHEDULE_TAKE), rank != 4);
  }
  assert_int_equal(sent, 12);
  assert_int_equal(taken, 12);
  assert_int_equal(most, 4);
}

static void test_a_small_scatter_is_one_datagram(void **state) {
  (void)state;
  struct vv_schedule_ranks root = who(8, 0, true), other = who(8, 1, true);
  cut(8, 176);
  vv_schedule_scatter(&schedule, &root, 0, parts);
  assert_int_equal(steps_of(VV_SCHEDULE_CAST), 1);
  vv_schedule_scatter(&schedule, &other, 0, parts);
  assert_int_equal(schedule.scratch_bytes, 1408);
  cut(8, 177);
  vv_schedule_scatter(&schedule, &root, 0, parts);
  assert_int_equal(steps_of(VV_SCHEDULE_CAST), 0);
  assert_int_equal(steps_of(VV_SCHEDULE_SEND), 7);
}

/* What the busiest rank takes of an allreduce: the numbers of all while they are few, else its slice and the others'.
 */
static void test_an_allreduce_of_many_numbers_is_slices(void **state) {
  (void)state;
  struct vv_schedule_ranks ranks = who(8, 2, true);
  vv_schedule_allreduce(&schedule, &ranks, 256, 8);
  assert_int_equal(steps_of(VV_SCHEDULE_CAST), 8);
  assert_int_equal(steps_of(VV_SCHEDULE_SEND), 0);
  vv_schedule_allreduce(&schedule, &ranks, 257, 8);
  assert_int_equal(steps_of(VV_SCHEDULE_CAST), 8);
  assert_int_equal(steps_of(VV_SCHEDULE_TAKE), 7);
  for (uint32_t i = 0; i < schedule.count; i++) assert_true(steps[i].bytes <= (size_t)33 * 8);
}

/* Where each gives a datagram at most, and so an allgather, a barrier and an allreduce of few numbers are one round. */
static void test_little_of_each_is_a_round(void **state) {
  (void)state;
  struct vv_schedule_ranks ranks = who(8, 2, true);
  ranks.rounds = true;
  cut(8, 1408);
  vv_schedule_allgather(&schedule, &ranks, parts);
  assert_true(steps_of(VV_SCHEDULE_ROUND) == 1 && steps_of(VV_SCHEDULE_CAST) == 0);
  assert_true(round_parts[5].offset_bytes == 5 * 1408 && round_parts[5].bytes == 1408);
  parts[7].bytes = 1409;
  vv_schedule_allgather(&schedule, &ranks, parts);
  assert_true(steps_of(VV_SCHEDULE_ROUND) == 0 && steps_of(VV_SCHEDULE_CAST) == 8);
  cut(8, 0);
  vv_schedule_allgather(&schedule, &ranks, parts);
  assert_int_equal(schedule.count, 0);
  vv_schedule_barrier(&schedule, &ranks);
  assert_true(schedule.count == 1 && steps[0].kind == VV_SCHEDULE_ROUND && round_parts[3].bytes == 0);
  vv_schedule_allreduce(&schedule, &ranks, 176, 8);
  assert_true(steps_of(VV_SCHEDULE_ROUND) == 1 && steps_of(VV_SCHEDULE_CAST) == 0);
  assert_true(round_parts[7].offset_bytes == 7 * 1408 && round_parts[7].bytes == 1408);
  vv_schedule_allreduce(&schedule, &ranks, 177, 8);
  assert_true(steps_of(VV_SCHEDULE_ROUND) == 0 && steps_of(VV_SCHEDULE_CAST) == 8);
  vv_schedule_allreduce(&schedule, &ranks, 1024, 8); /* slices of 1 KiB */
  assert_true(steps_of(VV_SCHEDULE_ROUND) == 1 && steps_of(VV_SCHEDULE_TAKE) == 7);
  ranks.casts = false;
  vv_schedule_barrier(&schedule, &ranks);
  assert_int_equal(steps_of(VV_SCHEDULE_ROUND), 0);
}

static void test_there_is_room_for_every_schedule(void **state) {
  (void)state;
  const uint32_t sizes[] = {1, 2, 3, 7, 64, RANKS_MAX};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (int casts = 0; casts <= 1; casts++) {
      struct vv_schedule_ranks ranks = who(sizes[s], sizes[s] / 2, casts);
      cut(sizes[s], 1000);
      vv_schedule_barrier(&schedule, &ranks);
      vv_schedule_allgather(&schedule, &ranks, parts);
      vv_schedule_gather(&schedule, &ranks, sizes[s] / 2, parts);
      vv_schedule_scatter(&schedule, &ranks, sizes[s] / 2, parts);
      vv_schedule_reduce(&schedule, &ranks, sizes[s] / 2, 100000, 8);
      vv_schedule_reduce(&schedule, &ranks, sizes[s] / 2, 1, 8);
      vv_schedule_allreduce(&schedule, &ranks, 1, 8);
      vv_schedule_allreduce(&schedule, &ranks, 100000, 8);
      assert_true(schedule.count <= VV_SCHEDULE_STEPS_MAX(sizes[s]));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_broadcast_is_one_cast),
      cmocka_unit_test(test_without_casts_a_broadcast_is_a_binomial_tree),
      cmocka_unit_test(test_a_small_scatter_is_one_datagram),
      cmocka_unit_test(test_an_allreduce_of_many_numbers_is_slices),
      cmocka_unit_test(test_little_of_each_is_a_round),
      cmocka_unit_test(test_there_is_room_for_every_schedule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
