/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of accord from a peer that holds the key and has gone mad. The first two bytes say in a job of how many ranks,
 * and whether rank 0 writes. What is read names nobody and nothing that there cannot be, and is the same when it is
 * written again.
 */
#include <assert.h>
#include <string.h>

#include "core/wire/accord.h"
#include "core/wire/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORD_AT = 2, FIRST = 0x8000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < WORD_AT + 4 * VV_LETTER_NUMBERS) return 0;
  const uint32_t ranks = (vv_get16(data) & (FIRST - 1)) % VV_ACCORD_RANKS_MAX + 1;
  uint32_t numbers[VV_LETTER_NUMBERS], again[VV_LETTER_NUMBERS];
  struct vv_accord accord;
  for (size_t i = 0; i < VV_LETTER_NUMBERS; i++) numbers[i] = vv_get32(data + WORD_AT + 4 * i);
  if (!vv_accord_parse(numbers, ranks, (vv_get16(data) & FIRST) != 0, &accord)) return 0;
  assert(accord.stream < VV_ACCORD_STREAMS && accord.rank < ranks && accord.part < VV_ACCORD_PARTS(ranks));
  for (uint32_t i = 0; i < VV_ACCORD_PART; i++) {
    if (accord.members >> i & 1) assert(accord.part * VV_ACCORD_PART + i < ranks);
  }
  vv_accord_emit(&accord, again);
  assert(memcmp(again, numbers, sizeof again) == 0);
  return 0;
}
