/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/turn.h"

#include <assert.h>
#include <string.h>

/* Four 2-byte numbers, two of 4 or one of 8 lie in a word; whichever order the machine has, each is reversed in its
 * place. Words instead of numbers: a machine moves 8 bytes as quickly as 2. */
static uint64_t turn2(uint64_t word) {
  const uint64_t even = 0x00ff00ff00ff00ff;
  return (word & even) << 8 | (word >> 8 & even);
}

static uint64_t turn4(uint64_t word) {
  word = __builtin_bswap64(word);
  return word << 32 | word >> 32;
}

static uint64_t turn8(uint64_t word) {
  return __builtin_bswap64(word);
}

/* Always inlined, so that `turn` is no call. `left` whole bytes remain behind the words. */
static inline __attribute__((always_inline)) void words(uint8_t *to, const uint8_t *from, size_t bytes,
                                                        uint64_t (*turn)(uint64_t)) {
  uint64_t word;
  size_t i = 0;
  for (; i + sizeof word <= bytes; i += sizeof word) {
    memcpy(&word, from + i, sizeof word);
    word = turn(word);
    memcpy(to + i, &word, sizeof word);
  }
  const size_t left = bytes - i;
  if (left == 0) return;
  /* A last, partial word: the bytes beside it are turned too and thrown away. */
  uint8_t last[sizeof word] = {0};
  memcpy(last, from + i, left);
  memcpy(&word, last, sizeof word);
  word = turn(word);
  memcpy(last, &word, sizeof word);
  memcpy(to + i, last, left);
}

void vv_turn(uint8_t *to, const uint8_t *from, size_t bytes, size_t count) {
  assert(bytes == 2 || bytes == 4 || bytes == 8);
  if (bytes == 2) words(to, from, count * bytes, turn2);
  if (bytes == 4) words(to, from, count * bytes, turn4);
  if (bytes == 8) words(to, from, count * bytes, turn8);
}
