/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of a trial: known bytes, and none believed that the job did not send in this stream. */
#include "core/wire/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { STREAM = 0x123456, NUMBER = 0x01020304 };

static const uint8_t key[VV_KEY_BYTES] = {1, 2, 3}, other_key[VV_KEY_BYTES] = {1, 2, 4};

static void its_bytes_are_known(void **state) {
  (void)state;
  uint8_t bytes[VV_TRIAL_BYTES];
  vv_trial_emit(key, STREAM, NUMBER, bytes);
  static const uint8_t begin[] = {VV_TRIAL_KIND, 0x12, 0x34, 0x56, 1, 2, 3, 4};
  assert_memory_equal(bytes, begin, sizeof begin);
  assert_true(VV_TRIAL_KIND < VV_GPDU_HEAD); /* no kind of a PDU */
}

static void a_number_comes_back(void **state) {
  (void)state;
  uint8_t bytes[VV_TRIAL_BYTES + 100] = {0};
  uint32_t number = 0;
  vv_trial_emit(key, STREAM, NUMBER, bytes);
  assert_true(vv_trial_parse(key, STREAM, bytes, VV_TRIAL_BYTES, &number));
  assert_int_equal(number, NUMBER);
  number = 0;
  assert_true(vv_trial_parse(key, STREAM, bytes, sizeof bytes, &number)); /* with padding */
  assert_int_equal(number, NUMBER);
}

static void nothing_else_is_believed(void **state) {
  (void)state;
  uint8_t bytes[VV_TRIAL_BYTES];
  uint32_t number = 42;
  vv_trial_emit(key, STREAM, NUMBER, bytes);
  assert_false(vv_trial_parse(other_key, STREAM, bytes, sizeof bytes, &number));
  assert_false(vv_trial_parse(key, STREAM + 1, bytes, sizeof bytes, &number));
  for (size_t count = 0; count < sizeof bytes; count++)
    assert_false(vv_trial_parse(key, STREAM, bytes, count, &number));
  for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    assert_false(vv_trial_parse(key, STREAM, bytes, sizeof bytes, &number));
    bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  assert_int_equal(number, 42);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(its_bytes_are_known),
      cmocka_unit_test(a_number_comes_back),
      cmocka_unit_test(nothing_else_is_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
