/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/siphash.h"

static inline uint64_t rotate(uint64_t x, unsigned bits) {
  return x << bits | x >> (64 - bits);
}

/* Eight bytes written out: compilers make one load of it, and none of a loop. */
static inline uint64_t word_little_endian(const uint8_t *at) {
  return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
         (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

/* The bytes behind the last whole word, and how many there are in all: of them one byte tells. */
static uint64_t last_word(const uint8_t *bytes, size_t count) {
  uint64_t word = (uint64_t)(count & 0xff) << 56;
  for (size_t i = 0; i < count % 8; i++) word |= (uint64_t)bytes[count - count % 8 + i] << (8 * i);
  return word;
}

struct state {
  uint64_t a, b, c, d;
};

static inline struct state mixed(struct state v) {
  v.a += v.b, v.b = rotate(v.b, 13) ^ v.a, v.a = rotate(v.a, 32);
  v.c += v.d, v.d = rotate(v.d, 16) ^ v.c;
  v.a += v.d, v.d = rotate(v.d, 21) ^ v.a;
  v.c += v.b, v.b = rotate(v.b, 17) ^ v.c, v.c = rotate(v.c, 32);
  return v;
}

static inline struct state compressed(struct state v, uint64_t word) {
  v.d ^= word;
  v = mixed(mixed(v));
  v.a ^= word;
  return v;
}

uint64_t vv_siphash(const uint8_t key[VV_KEY_BYTES], const uint8_t *bytes, size_t count) {
  const uint64_t k0 = word_little_endian(key), k1 = word_little_endian(key + 8);
  struct state v = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                    k1 ^ 0x7465646279746573u};
  for (size_t i = 0; i + 8 <= count; i += 8) v = compressed(v, word_little_endian(bytes + i));
  v = compressed(v, last_word(bytes, count));
  v.c ^= 0xff;
  v = mixed(mixed(mixed(mixed(v))));
  return v.a ^ v.b ^ v.c ^ v.d;
}

bool vv_siphash_equal(const uint8_t *a, const uint8_t *b, size_t count) {
  uint8_t difference = 0;
  for (size_t i = 0; i < count; i++) difference |= a[i] ^ b[i];
  /* Through a volatile, or the compiler may leave the loop at the first difference. */
  volatile uint8_t kept = difference;
  return kept == 0;
}
