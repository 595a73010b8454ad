/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/turn.h"

#include <assert.h>
#include <string.h>

/* 16 bytes are turned at once, as eight 2-byte lanes: the lanes of each number change places, then the bytes of each
 * lane. Lanes are counted in the order of memory, so this is the same on machines of either order. */
typedef uint16_t lanes __attribute__((vector_size(16)));

static lanes turn2(lanes x) {
  return x << 8 | x >> 8;
}

static lanes turn4(lanes x) {
  return turn2(__builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6));
}

static lanes turn8(lanes x) {
  return turn2(__builtin_shufflevector(x, x, 3, 2, 1, 0, 7, 6, 5, 4));
}

/* Always inlined, so that `turn` is no call. */
static inline __attribute__((always_inline)) void all(uint8_t *to, const uint8_t *from, size_t bytes,
                                                      lanes (*turn)(lanes)) {
  lanes x;
  size_t i = 0;
  for (; i + sizeof x <= bytes; i += sizeof x) {
    memcpy(&x, from + i, sizeof x);
    x = turn(x);
    memcpy(to + i, &x, sizeof x);
  }
  const size_t left = bytes - i; /* whole numbers: they are turned beside zeros */
  uint8_t last[sizeof x] = {0};
  if (left == 0) return;
  memcpy(last, from + i, left);
  memcpy(&x, last, sizeof x);
  x = turn(x);
  memcpy(last, &x, sizeof x);
  memcpy(to + i, last, left);
}

void vv_turn(uint8_t *to, const uint8_t *from, size_t bytes, size_t count) {
  assert(bytes == 2 || bytes == 4 || bytes == 8);
  if (bytes == 2) all(to, from, count * bytes, turn2);
  if (bytes == 4) all(to, from, count * bytes, turn4);
  if (bytes == 8) all(to, from, count * bytes, turn8);
}
