/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum against the example of RFC 1071 and against a sum of bytes done the slow way. */
#include "core/wire/checksum.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "core/base/rng.h"

static void put_slowly(const uint8_t *bytes, size_t count, uint8_t at[2]) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += (uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
    sum = (sum & 0xffff) + (sum >> 16);
  }
  at[0] = (uint8_t)(~sum >> 8);
  at[1] = (uint8_t)~sum;
}

static void test_the_example_of_the_rfc(void **state) {
  (void)state;
  static const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}; /* RFC 1071, section 3: ddf2 */
  uint8_t sum[2];
  vv_checksum_put(vv_checksum_add(0, bytes, sizeof bytes), sum);
  assert_int_equal(sum[0], 0x22);
  assert_int_equal(sum[1], 0x0d);
}

static void test_pieces_and_odd_lengths(void **state) {
  (void)state;
  static uint8_t bytes[2000];
  struct vv_rng rng = {4};
  for (int round = 0; round < 2000; round++) {
    size_t count = vv_rng_next(&rng) % sizeof bytes, first = vv_rng_next(&rng) % (count + 1) & ~(size_t)1;
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(vv_rng_next(&rng) | (round % 3 == 0 ? 0xff : 0));
    uint8_t want[2], got[2];
    put_slowly(bytes, count, want);
    vv_checksum_put(vv_checksum_add(vv_checksum_add(0, bytes, first), bytes + first, count - first), got);
    assert_memory_equal(got, want, 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_example_of_the_rfc),
      cmocka_unit_test(test_pieces_and_odd_lengths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
