/* SPDX-License-Identifier: BSD-3-Clause */
/* Turning against a turn done byte by byte: every size, every alignment, in place too, and nothing beyond the end. */
#include "core/wire/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"

static void turn_slowly(uint8_t *to, const uint8_t *from, size_t bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < bytes; k++) to[i * bytes + k] = from[i * bytes + bytes - 1 - k];
  }
}

static void test_as_byte_by_byte(void **state) {
  (void)state;
  static uint8_t from[8 * 40 + 16], want[sizeof from], got[sizeof from];
  struct vv_rng rng = {7};
  for (size_t bytes = 2; bytes <= 8; bytes *= 2) {
    for (size_t count = 0; count < 40; count++) {
      for (size_t shift = 0; shift < 8; shift++) {
        for (size_t i = 0; i < sizeof from; i++) from[i] = (uint8_t)vv_rng_next(&rng);
        memset(want, 0xa5, sizeof want);
        memset(got, 0xa5, sizeof got);
        turn_slowly(want + shift, from + shift, bytes, count);
        vv_turn(got + shift, from + shift, bytes, count);
        assert_memory_equal(got, want, sizeof want);
        memcpy(want, from, sizeof want);
        turn_slowly(want + shift, from + shift, bytes, count);
        vv_turn(from + shift, from + shift, bytes, count);
        assert_memory_equal(from, want, sizeof want);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_byte_by_byte)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
