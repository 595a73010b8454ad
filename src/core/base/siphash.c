/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/siphash.h"

static uint64_t rotate(uint64_t x, unsigned bits) {
  return x << bits | x >> (64 - bits);
}

static uint64_t word_little_endian(const uint8_t *bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; i++) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
}

static void rounds(uint64_t v[4], int count) {
  while (count-- > 0) {
    v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
    v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
  }
}

static void compress(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  rounds(v, 2);
  v[0] ^= word;
}

uint64_t vv_siphash(const uint8_t key[VV_KEY_BYTES], const uint8_t *bytes, size_t count) {
  uint64_t k0 = word_little_endian(key, 8), k1 = word_little_endian(key + 8, 8);
  uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                   k1 ^ 0x7465646279746573u};
  size_t whole = count & ~(size_t)7;
  for (size_t i = 0; i < whole; i += 8) compress(v, word_little_endian(bytes + i, 8));
  const uint64_t rest = whole < count ? word_little_endian(bytes + whole, count - whole) : 0; /* bytes may be NULL */
  compress(v, rest | (uint64_t)(count & 0xff) << 56);
  v[2] ^= 0xff;
  rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

bool vv_equal_constant_time(const uint8_t *a, const uint8_t *b, size_t count) {
  uint8_t difference = 0;
  for (size_t i = 0; i < count; i++) difference |= a[i] ^ b[i];
  /* Through a volatile, or the compiler may leave the loop at the first difference. */
  volatile uint8_t kept = difference;
  return kept == 0;
}
