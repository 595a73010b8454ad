/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of accord: known numbers, each comes back as it was, and none is read that its writer does not say. */
#include "core/wire/accord.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 70 };

static const struct vv_accord of_others[] = {
    {.what = VV_ACCORD_MAKE, .list = 0x01020304, .part = 0, .members = UINT64_C(0x8000000000000001)},
    {.what = VV_ACCORD_MAKE, .list = 0, .part = 1, .members = 0x3f},
    {.what = VV_ACCORD_DECLINE, .list = UINT32_MAX},
    {.what = VV_ACCORD_GIVE_UP, .list = 7},
    {.what = VV_ACCORD_BYE, .stream = 0, .epoch = 0},
    {.what = VV_ACCORD_BYE, .stream = VV_ACCORD_STREAMS - 1, .epoch = UINT32_MAX},
};
static const struct vv_accord of_first[] = {
    {.what = VV_ACCORD_MADE, .stream = 1, .list = 9, .epoch = 12},
    {.what = VV_ACCORD_REFUSED, .list = 9, .why = VV_ACCORD_DIED, .rank = 0},
    {.what = VV_ACCORD_REFUSED, .list = 9, .why = VV_ACCORD_FULL, .rank = RANKS - 1},
    {.what = VV_ACCORD_ENDED, .stream = 3, .epoch = 1},
};

static bool reads(const struct vv_accord *accord, uint32_t ranks, bool by_first) {
  uint32_t numbers[VV_LETTER_NUMBERS];
  struct vv_accord found;
  vv_accord_emit(accord, numbers);
  return vv_accord_parse(numbers, ranks, by_first, &found);
}

static void assert_same(const struct vv_accord *accord, bool by_first) {
  uint32_t numbers[VV_LETTER_NUMBERS];
  struct vv_accord found;
  vv_accord_emit(accord, numbers);
  assert_true(vv_accord_parse(numbers, RANKS, by_first, &found));
  assert_int_equal(found.what, accord->what);
  assert_int_equal(found.stream, accord->stream);
  assert_int_equal(found.list, accord->list);
  assert_int_equal(found.epoch, accord->epoch);
  assert_int_equal(found.why, accord->why);
  assert_int_equal(found.rank, accord->rank);
  assert_int_equal(found.part, accord->part);
  assert_true(found.members == accord->members);
}

static void its_numbers_are_known(void **state) {
  (void)state;
  uint32_t numbers[VV_LETTER_NUMBERS];
  vv_accord_emit(&of_others[0], numbers);
  assert_memory_equal(numbers, ((uint32_t[]){0x10000000, 0x01020304, 1, 0x80000000}), sizeof numbers);
  vv_accord_emit(&of_first[0], numbers);
  assert_memory_equal(numbers, ((uint32_t[]){0x40000001, 9, 12, 0}), sizeof numbers);
  vv_accord_emit(&of_first[2], numbers);
  assert_memory_equal(numbers, ((uint32_t[]){0x55000000, 9, RANKS - 1, 0}), sizeof numbers);
}

static void each_comes_back_and_only_from_its_writer(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof of_others / sizeof of_others[0]; i++) {
    assert_same(&of_others[i], false);
    assert_false(reads(&of_others[i], RANKS, true));
  }
  for (size_t i = 0; i < sizeof of_first / sizeof of_first[0]; i++) {
    assert_same(&of_first[i], true);
    assert_false(reads(&of_first[i], RANKS, false));
  }
}

static void what_there_cannot_be_is_not_read(void **state) {
  (void)state;
  const struct vv_accord beyond[] = {
      {.what = VV_ACCORD_MAKE, .part = 1, .members = 0x40},
      {.what = VV_ACCORD_MAKE, .part = 2},
      {.what = VV_ACCORD_MAKE, .stream = 1},
      {.what = VV_ACCORD_BYE, .stream = VV_ACCORD_STREAMS},
      {.what = (enum vv_accord_what)0},
      {.what = (enum vv_accord_what)15},
  };
  const struct vv_accord beyond_of_first[] = {
      {.what = VV_ACCORD_MADE, .stream = 0},
      {.what = VV_ACCORD_MADE, .stream = VV_ACCORD_STREAMS},
      {.what = VV_ACCORD_ENDED, .stream = VV_ACCORD_STREAMS},
      {.what = VV_ACCORD_REFUSED, .why = VV_ACCORD_DIED, .rank = RANKS},
      {.what = VV_ACCORD_REFUSED, .why = (enum vv_accord_why)0},
      {.what = VV_ACCORD_REFUSED, .why = (enum vv_accord_why)(VV_ACCORD_FULL + 1)},
  };
  for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) assert_false(reads(&beyond[i], RANKS, false));
  for (size_t i = 0; i < sizeof beyond_of_first / sizeof beyond_of_first[0]; i++)
    assert_false(reads(&beyond_of_first[i], RANKS, true));
}

static void what_has_no_meaning_is_zero(void **state) {
  (void)state;
  uint32_t numbers[VV_LETTER_NUMBERS];
  struct vv_accord found = {.list = 42};
  vv_accord_emit(&of_others[4], numbers);
  numbers[3] = 1;
  assert_false(vv_accord_parse(numbers, RANKS, false, &found));
  numbers[3] = 0;
  numbers[0] |= 1u << 24;
  assert_false(vv_accord_parse(numbers, RANKS, false, &found));
  assert_int_equal(found.list, 42);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(its_numbers_are_known),
      cmocka_unit_test(each_comes_back_and_only_from_its_writer),
      cmocka_unit_test(what_there_cannot_be_is_not_read),
      cmocka_unit_test(what_has_no_meaning_is_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
