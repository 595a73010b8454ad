/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/checksum.h"

#include <string.h>

/*
 * The sum does not care for the byte order as long as it is written as it was
 * read (RFC 1071, 2.B), nor for the width of its words as long as carries come
 * back at the low end: so it takes 32 bits at a time into 64.
 */
uint64_t vv_checksum_add(uint64_t sum, const uint8_t *bytes, size_t count) {
  uint32_t word;
  for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
    memcpy(&word, bytes, sizeof word);
    sum += word;
  }
  if (count > 0) {
    uint8_t last[sizeof word] = {0};
    memcpy(last, bytes, count);
    memcpy(&word, last, sizeof word);
    sum += word;
  }
  return sum;
}

void vv_checksum_put(uint64_t sum, uint8_t at[2]) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  uint16_t word = (uint16_t)~sum;
  memcpy(at, &word, sizeof word);
}
