/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams that come while a group finds out how its ranks reach each other. With
 * the top bit of the first byte the tag becomes the right one, as a peer that holds
 * the key and has gone mad could make it. What is believed is what would be sent
 * with that number; padding means nothing.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STREAM = 7, TAG_AT = 8 };

static const uint8_t key[VV_KEY_BYTES] = {1};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const size_t count = size - 1;
  uint8_t *bytes = malloc(count + (count == 0)), right[VV_TRIAL_BYTES];
  uint32_t number = 0;
  assert(bytes);
  memcpy(bytes, data + 1, count);
  if (data[0] & 0x80 && count >= VV_TRIAL_BYTES) vv_put64(bytes + TAG_AT, vv_siphash(key, bytes, TAG_AT));
  const bool believed = vv_trial_parse(key, STREAM, bytes, count, &number);
  vv_trial_emit(key, STREAM, number, right);
  if (believed) assert(count >= VV_TRIAL_BYTES && memcmp(bytes, right, sizeof right) == 0);
  free(bytes);
  return 0;
}
