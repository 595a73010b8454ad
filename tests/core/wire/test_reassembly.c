/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from fragments: in disorder, repeated, missing, foreign. */
#include "core/wire/reassembly.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"

enum { UNIT = 49, SIZE_MAX_TESTED = 4000 };

static struct vv_reassembly reassembly;
static uint8_t sent[SIZE_MAX_TESTED];
static uint8_t got[SIZE_MAX_TESTED];

static int setup(void **state) {
  (void)state;
  vv_reassembly_init(&reassembly);
  for (size_t i = 0; i < sizeof sent; i++) sent[i] = (uint8_t)(i * 7 + i / 256);
  memset(got, 0, sizeof got);
  return 0;
}

static struct vv_fragment piece(uint32_t message, size_t size_bytes, size_t index) {
  size_t count = vv_fragment_count(size_bytes, UNIT);
  return (struct vv_fragment){
      .message = message,
      .index = (uint16_t)index,
      .count = (uint16_t)count,
      .data = sent + index * UNIT,
      .data_bytes = index + 1 < count ? UNIT : size_bytes - index * UNIT,
  };
}

static bool take(uint32_t message, size_t size_bytes, size_t index) {
  struct vv_fragment fragment = piece(message, size_bytes, index);
  return vv_reassembly_take(&reassembly, &fragment);
}

static void test_any_order_and_repeats(void **state) {
  (void)state;
  struct vv_rng rng = {3};
  for (uint32_t message = 1; message < 300; message++) {
    size_t size = vv_rng_next(&rng) % SIZE_MAX_TESTED;
    size_t count = vv_fragment_count(size, UNIT), missing = count;
    bool had[SIZE_MAX_TESTED / UNIT + 1] = {false};
    memset(got, 0xee, sizeof got);
    vv_reassembly_expect(&reassembly, got, size, UNIT);
    while (missing > 0) {
      size_t index = vv_rng_next(&rng) % count;
      missing -= !had[index];
      assert_int_equal(take(message, size, index), !had[index] && missing == 0);
      had[index] = true;
    }
    assert_memory_equal(got, sent, size);
    assert_int_equal(got[size], 0xee);
    assert_false(take(message, size, 0)); /* whole already */
  }
}

static void test_a_later_message_takes_the_place_of_one_with_a_hole(void **state) {
  (void)state;
  vv_reassembly_expect(&reassembly, got, 100, UNIT);
  assert_false(take(1, 100, 0));
  assert_false(take(1, 100, 2));
  assert_false(take(2, 100, 0));
  assert_false(take(1, 100, 1)); /* too late: message 1 is lost */
  assert_false(take(2, 100, 1));
  assert_true(take(2, 100, 2));
}

static void test_numbers_wrap(void **state) {
  (void)state;
  vv_reassembly_expect(&reassembly, got, 10, UNIT);
  assert_true(take(UINT32_MAX, 10, 0));
  assert_true(take(0, 10, 0));
  assert_false(take(UINT32_MAX, 10, 0));
  assert_true(take(1, 10, 0));
}

static void test_other_sizes_are_dropped(void **state) {
  (void)state;
  vv_reassembly_expect(&reassembly, got, 100, UNIT);
  assert_false(take(5, 10, 0));
  assert_false(take(5, 101, 2));
  assert_false(take(5, 99, 2));
  assert_false(take(5, 150, 0));
  struct vv_fragment liar = piece(5, 100, 0);
  liar.data_bytes = UNIT + 1; /* would spill into the next */
  assert_false(vv_reassembly_take(&reassembly, &liar));
  assert_false(take(4, 100, 0)); /* and none of them began message 5: 4 is still welcome */
  assert_false(take(4, 100, 1));
  assert_true(take(4, 100, 2));
}

static void test_a_message_goes_on_when_expected_again(void **state) {
  (void)state;
  vv_reassembly_expect(&reassembly, got, 100, UNIT);
  assert_false(take(1, 100, 0));
  vv_reassembly_expect(&reassembly, got, 100, UNIT);
  assert_false(take(1, 100, 1));
  assert_true(take(1, 100, 2));
  assert_memory_equal(got, sent, 100);
}

static void test_empty_and_largest(void **state) {
  (void)state;
  vv_reassembly_expect(&reassembly, got, 0, UNIT);
  assert_true(take(1, 0, 0));
  uint8_t *large = calloc(1, VV_FRAGMENTED_BYTES_MAX);
  assert_non_null(large);
  vv_reassembly_expect(&reassembly, large, VV_FRAGMENTED_BYTES_MAX, UNIT);
  size_t count = vv_fragment_count(VV_FRAGMENTED_BYTES_MAX, UNIT);
  for (size_t index = count; index-- > 0;) {
    size_t before = index * UNIT, left = VV_FRAGMENTED_BYTES_MAX - before;
    struct vv_fragment fragment = {.message = 2,
                                   .index = (uint16_t)index,
                                   .count = (uint16_t)count,
                                   .data = sent,
                                   .data_bytes = left < UNIT ? left : UNIT};
    assert_int_equal(vv_reassembly_take(&reassembly, &fragment), index == 0);
  }
  free(large);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_any_order_and_repeats, setup),
      cmocka_unit_test_setup(test_a_later_message_takes_the_place_of_one_with_a_hole, setup),
      cmocka_unit_test_setup(test_numbers_wrap, setup),
      cmocka_unit_test_setup(test_other_sizes_are_dropped, setup),
      cmocka_unit_test_setup(test_a_message_goes_on_when_expected_again, setup),
      cmocka_unit_test_setup(test_empty_and_largest, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
