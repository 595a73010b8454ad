/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/trial.h"

#include "core/wire/bytes.h"

enum { AT_NUMBER = 4, AT_TAG = 8, KIND_SHIFT = 24 };

void vv_trial_emit(const uint8_t key[VV_KEY_BYTES], uint32_t stream, uint32_t number, uint8_t bytes[VV_TRIAL_BYTES]) {
  vv_put32(bytes, (uint32_t)VV_TRIAL_KIND << KIND_SHIFT | stream);
  vv_put32(bytes + AT_NUMBER, number);
  vv_put64(bytes + AT_TAG, vv_siphash(key, bytes, AT_TAG));
}

bool vv_trial_parse(const uint8_t key[VV_KEY_BYTES], uint32_t stream, const uint8_t *bytes, size_t count,
                    uint32_t *number) {
  uint8_t right[VV_TRIAL_BYTES];
  if (count < VV_TRIAL_BYTES) return false;
  vv_trial_emit(key, stream, vv_get32(bytes + AT_NUMBER), right);
  if (!vv_siphash_equal(right, bytes, VV_TRIAL_BYTES)) return false;
  *number = vv_get32(bytes + AT_NUMBER);
  return true;
}
