/* SPDX-License-Identifier: BSD-3-Clause */
/* Who keeps count of the groups of a job: what the ranks are told, whatever they ask for and in whatever order. */
#include "io/job/referee.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 70 };

static struct vv_referee referee;
static struct vv_accord told[RANKS]; /* the last word to each */
static uint32_t times[RANKS];        /* how many words each was told since it was looked at */

static void tell(void *context, uint32_t rank, const struct vv_accord *accord) {
  assert_ptr_equal(context, &referee);
  told[rank] = *accord;
  times[rank]++;
}

static int set_up(void **state) {
  (void)state;
  memset(times, 0, sizeof times);
  assert_true(vv_referee_open(&referee, RANKS, tell, &referee));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  vv_referee_close(&referee);
  return 0;
}

/* That rank comes with a list: bits of ranks 0 to 63, and those of the others. */
static void make(uint32_t rank, uint32_t list, uint64_t low, uint64_t high) {
  const struct vv_accord first = {.what = VV_ACCORD_MAKE, .list = list, .members = low};
  const struct vv_accord second = {.what = VV_ACCORD_MAKE, .list = list, .part = 1, .members = high};
  vv_referee_hear(&referee, rank, &first);
  vv_referee_hear(&referee, rank, &second);
}

static void say(uint32_t rank, enum vv_accord_what what, uint32_t list, uint32_t stream, uint32_t epoch) {
  const struct vv_accord accord = {.what = what, .list = list, .stream = stream, .epoch = epoch};
  vv_referee_hear(&referee, rank, &accord);
}

static void assert_silent(uint32_t rank) {
  assert_int_equal(times[rank], 0);
}

static void assert_told(uint32_t rank, enum vv_accord_what what) {
  assert_int_equal(times[rank], 1);
  assert_int_equal(told[rank].what, what);
  times[rank] = 0;
}

static void assert_refused(uint32_t rank, enum vv_accord_why why, uint32_t about) {
  assert_told(rank, VV_ACCORD_REFUSED);
  assert_int_equal(told[rank].why, why);
  assert_int_equal(told[rank].rank, about);
}

/* A group of ranks 1 and 2 is made; its number. */
static struct vv_accord make_pair(uint32_t list) {
  make(1, list, 6, 0);
  assert_silent(1);
  make(2, list, 6, 0);
  assert_told(1, VV_ACCORD_MADE);
  assert_told(2, VV_ACCORD_MADE);
  assert_memory_equal(&told[1], &told[2], sizeof told[1]);
  return told[1];
}

static void end_pair(const struct vv_accord *made) {
  say(1, VV_ACCORD_BYE, 0, made->stream, made->epoch);
  assert_silent(1);
  say(2, VV_ACCORD_BYE, 0, made->stream, made->epoch);
  assert_told(1, VV_ACCORD_ENDED);
  assert_told(2, VV_ACCORD_ENDED);
}

static void the_same_ranks_get_the_same_number_and_another_epoch(void **state) {
  (void)state;
  uint32_t number = 0, epoch = 0;
  for (int i = 0; i < 1000; i++) {
    const struct vv_accord made = make_pair(77);
    assert_true(made.stream == 1 + 77 % (VV_ACCORD_STREAMS - 1) && (number == 0 || made.stream == number));
    assert_true(made.epoch > epoch && made.list == 77);
    number = made.stream;
    epoch = made.epoch;
    end_pair(&made);
  }
  assert_int_equal(referee.kept, 1); /* nothing is kept but the group of all */
}

static void groups_that_are_there_at_once_have_numbers_of_their_own(void **state) {
  (void)state;
  bool used[VV_ACCORD_STREAMS] = {true};
  for (uint32_t i = 0; i < VV_ACCORD_STREAMS - 1; i++) {
    const struct vv_accord made = make_pair(5);
    assert_false(used[made.stream]);
    used[made.stream] = true;
  }
  make(1, 5, 6, 0);
  make(2, 5, 6, 0);
  assert_refused(1, VV_ACCORD_FULL, 0);
  assert_refused(2, VV_ACCORD_FULL, 0);
  make(3, 5, 0x18, 0); /* who is in none of them can share a number */
  make(4, 5, 0x18, 0);
  assert_told(3, VV_ACCORD_MADE);
  assert_told(4, VV_ACCORD_MADE);
}

static void ranks_of_every_part_are_counted(void **state) {
  (void)state;
  make(69, 9, UINT64_C(1) << 63 | 1, 1 << 5);
  make(0, 9, UINT64_C(1) << 63 | 1, 1 << 5);
  assert_silent(0);
  make(63, 9, UINT64_C(1) << 63 | 1, 1 << 5);
  assert_told(0, VV_ACCORD_MADE);
  assert_told(63, VV_ACCORD_MADE);
  assert_told(69, VV_ACCORD_MADE);
}

static void unequal_lists_are_refused_to_all_who_come(void **state) {
  (void)state;
  make(1, 1, 0xe, 0); /* 1, 2, 3 */
  make(2, 2, 0x6, 0); /* 1, 2 */
  assert_refused(1, VV_ACCORD_CROSSED, 2);
  assert_refused(2, VV_ACCORD_CROSSED, 1);
  make(3, 1, 0xe, 0);
  assert_refused(3, VV_ACCORD_CROSSED, 2);
  assert_int_equal(referee.kept, 1); /* who waited elsewhere in the circle has heard it there */
  make(1, 2, 0x6, 0);
  make(2, 2, 0x6, 0);
  assert_told(1, VV_ACCORD_MADE);
  assert_told(2, VV_ACCORD_MADE);
}

static void the_same_ranks_in_another_order_are_another_list(void **state) {
  (void)state;
  make(1, 1, 6, 0);
  make(2, 2, 6, 0);
  assert_refused(1, VV_ACCORD_CROSSED, 2);
  assert_refused(2, VV_ACCORD_CROSSED, 1);
}

static void a_circle_of_three_groups_is_refused_and_who_only_waits_for_it_is_not(void **state) {
  (void)state;
  make(6, 9, 0x42, 0); /* 1, 6: waits for 1, which is in the circle, and is in none itself */
  make(1, 1, 0x6, 0);  /* 1 waits for 2, */
  make(2, 2, 0xc, 0);  /* which waits for 3, */
  assert_silent(1);
  make(3, 3, 0xa, 0); /* which waits for 1 */
  assert_refused(1, VV_ACCORD_CROSSED, 2);
  assert_refused(2, VV_ACCORD_CROSSED, 3);
  assert_refused(3, VV_ACCORD_CROSSED, 1);
  assert_silent(6);
  make(1, 9, 0x42, 0);
  assert_told(6, VV_ACCORD_MADE);
}

static void groups_made_in_orders_that_come_to_an_end_are_made(void **state) {
  (void)state;
  make(1, 1, 0x6, 0); /* 1 waits for 2, */
  make(2, 2, 0xc, 0); /* which makes another one with 3 before */
  make(3, 2, 0xc, 0);
  assert_told(2, VV_ACCORD_MADE);
  assert_told(3, VV_ACCORD_MADE);
  make(2, 1, 0x6, 0);
  assert_told(1, VV_ACCORD_MADE);
  assert_told(2, VV_ACCORD_MADE);
}

static void who_gives_up_names_who_is_absent(void **state) {
  (void)state;
  make(1, 1, 0xe, 0);
  make(3, 1, 0xe, 0);
  say(1, VV_ACCORD_GIVE_UP, 1, 0, 0);
  assert_refused(1, VV_ACCORD_ABSENT, 2);
  assert_refused(3, VV_ACCORD_ABSENT, 2);
  say(3, VV_ACCORD_GIVE_UP, 1, 0, 0); /* as its answer was under way */
  assert_silent(3);
  make(2, 1, 0xe, 0);
  assert_refused(2, VV_ACCORD_ABSENT, 2);
  make(2, 1, 0xe, 0);
  make(1, 1, 0xe, 0);
  make(3, 1, 0xe, 0);
  assert_told(2, VV_ACCORD_MADE);
}

static void who_has_no_room_is_named(void **state) {
  (void)state;
  make(1, 1, 6, 0);
  say(2, VV_ACCORD_DECLINE, 1, 0, 0);
  make(2, 1, 6, 0);
  assert_refused(1, VV_ACCORD_FULL, 2);
  assert_refused(2, VV_ACCORD_FULL, 2);
  make_pair(1);
}

static void who_dies_or_leaves_is_waited_for_no_longer(void **state) {
  (void)state;
  const struct vv_accord made = make_pair(4);
  make(1, 1, 0xa, 0);
  vv_referee_lost(&referee, 3);
  assert_refused(1, VV_ACCORD_DIED, 3);
  make(1, 1, 0xa, 0);
  assert_refused(1, VV_ACCORD_DIED, 3);
  make(1, 2, 0x12, 0);
  say(4, VV_ACCORD_BYE, 0, 0, 0);
  assert_refused(1, VV_ACCORD_LEFT, 4);
  say(1, VV_ACCORD_BYE, 0, made.stream, made.epoch);
  vv_referee_lost(&referee, 2);
  assert_told(1, VV_ACCORD_ENDED);
  assert_silent(2);
}

static void who_leaves_the_group_of_all_needs_no_other(void **state) {
  (void)state;
  const struct vv_accord made = make_pair(4);
  say(2, VV_ACCORD_BYE, 0, 0, 0);
  say(1, VV_ACCORD_BYE, 0, made.stream, made.epoch);
  assert_told(1, VV_ACCORD_ENDED);
}

static void the_group_of_all_ends_when_all_say_bye(void **state) {
  (void)state;
  vv_referee_lost(&referee, 5);
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    if (rank > 0) assert_silent(0);
    say(rank, VV_ACCORD_BYE, 0, 0, 0);
    say(rank, VV_ACCORD_BYE, 0, 0, 0);
  }
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    if (rank != 5) assert_told(rank, VV_ACCORD_ENDED);
  }
  assert_silent(5);
}

static void a_mad_rank_fills_no_memory(void **state) {
  (void)state;
  for (uint32_t list = 0; list < 1000; list++) {
    make(1, list, 6, 0);
    make(1, list + 1, 6, 0); /* one at a time: not heard */
    say(1, VV_ACCORD_GIVE_UP, list, 0, 0);
    say(1, VV_ACCORD_BYE, 0, list % VV_ACCORD_STREAMS, list + 1);
  }
  assert_true(referee.refused <= 65);
  times[1] = 0;
  make(1, 8, 8, 0); /* a group that it is not in */
  assert_refused(1, VV_ACCORD_FULL, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(the_same_ranks_get_the_same_number_and_another_epoch),
      CASE(groups_that_are_there_at_once_have_numbers_of_their_own),
      CASE(ranks_of_every_part_are_counted),
      CASE(unequal_lists_are_refused_to_all_who_come),
      CASE(the_same_ranks_in_another_order_are_another_list),
      CASE(a_circle_of_three_groups_is_refused_and_who_only_waits_for_it_is_not),
      CASE(groups_made_in_orders_that_come_to_an_end_are_made),
      CASE(who_gives_up_names_who_is_absent),
      CASE(who_has_no_room_is_named),
      CASE(who_dies_or_leaves_is_waited_for_no_longer),
      CASE(who_leaves_the_group_of_all_needs_no_other),
      CASE(the_group_of_all_ends_when_all_say_bye),
      CASE(a_mad_rank_fills_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
