/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that the tests send through a connection: byte number n is what n says, so any shift is seen. */
#ifndef TESTS_UML_STREAM_H
#define TESTS_UML_STREAM_H

#include <stddef.h>
#include <stdint.h>

static inline uint8_t stream_byte(uint64_t position) {
  return (uint8_t)(position * 131 + (position >> 8) * 7 + (position >> 16));
}

static inline void stream_fill(uint64_t position, uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) bytes[i] = stream_byte(position + i);
}

/* How many of the bytes are not what they must be. */
static inline size_t stream_wrong(uint64_t position, const uint8_t *bytes, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++) wrong += bytes[i] != stream_byte(position + i);
  return wrong;
}

#endif
