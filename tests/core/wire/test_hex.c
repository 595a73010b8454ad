/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void bytes_come_back(void **state) {
  (void)state;
  uint8_t bytes[256], again[256];
  char digits[2 * sizeof bytes + 1];
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
  vv_hex_write(bytes, sizeof bytes, digits);
  assert_int_equal(strlen(digits), 2 * sizeof bytes);
  assert_memory_equal(digits, "000102", 6);
  assert_int_equal(vv_hex_read(digits, again, sizeof again), 0);
  assert_memory_equal(again, bytes, sizeof bytes);
}

static void digits_may_be_large_or_small(void **state) {
  (void)state;
  uint8_t bytes[2];
  assert_int_equal(vv_hex_read("aBFf", bytes, 2), 0);
  assert_int_equal(bytes[0], 0xab);
  assert_int_equal(bytes[1], 0xff);
}

static void what_is_no_digit_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"", "0", "0g", "g0", " 0", "-1", "0\xff"};
  uint8_t byte;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) assert_int_equal(vv_hex_read(texts[i], &byte, 1), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_come_back),
      cmocka_unit_test(digits_may_be_large_or_small),
      cmocka_unit_test(what_is_no_digit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
