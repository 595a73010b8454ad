/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4 against the vectors of its reference implementation: key 00..0f, input 00, 00 01, ... */
#include "core/base/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct {
  size_t count;
  uint64_t hash;
} vectors[] = {
    {0, 0x726fdb47dd0e0e31u}, {1, 0x74f839c593dc67fdu}, {2, 0x0d6c8009d9a94f5au},
    {7, 0xab0200f58b01d137u}, {8, 0x93f5f5799a932462u}, {15, 0xa129ca6149be45e5u},
};

static void hashes_as_published(void **state) {
  (void)state;
  uint8_t key[VV_KEY_BYTES], input[16];
  for (uint8_t i = 0; i < 16; i++) key[i] = input[i] = i;
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    assert_int_equal(vv_siphash(key, input, vectors[i].count), vectors[i].hash);
  }
}

static void every_bit_of_the_key_matters(void **state) {
  (void)state;
  uint8_t key[VV_KEY_BYTES] = {0};
  uint64_t plain = vv_siphash(key, (const uint8_t *)"text", 4);
  for (unsigned bit = 0; bit < 8 * VV_KEY_BYTES; bit++) {
    key[bit / 8] ^= (uint8_t)(1u << bit % 8);
    assert_true(vv_siphash(key, (const uint8_t *)"text", 4) != plain);
    key[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
}

static void compares_all_bytes(void **state) {
  (void)state;
  uint8_t a[8] = "abcdefg", b[8];
  memcpy(b, a, sizeof b);
  assert_true(vv_siphash_equal(a, b, sizeof a));
  assert_true(vv_siphash_equal(a, b, 0));
  for (size_t i = 0; i < sizeof a; i++) {
    b[i] ^= 0x80;
    assert_false(vv_siphash_equal(a, b, sizeof a));
    b[i] ^= 0x80;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_as_published),
      cmocka_unit_test(every_bit_of_the_key_matters),
      cmocka_unit_test(compares_all_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
