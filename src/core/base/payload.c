/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/payload.h"

#include <string.h>

/* The word whose bytes in memory are those of x in little-endian order, and the way back. */
static uint64_t little_endian(uint64_t x) {
  return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(x) : x;
}

void vv_payload_init(struct vv_payload *payload, const uint8_t key[VV_KEY_BYTES]) {
  memcpy(payload->key, key, VV_KEY_BYTES);
  payload->mask = vv_siphash(key, (const uint8_t *)"mask", 4);
  payload->step = vv_siphash(key, (const uint8_t *)"step", 4) | 1;
}

static void tag_bytes(const struct vv_payload *payload, uint64_t seq, uint8_t tag[VV_TAG_BYTES]) {
  uint64_t masked = little_endian(seq ^ payload->mask);
  memcpy(tag, &masked, VV_TAG_BYTES);
}

/* The number of the message with this whole tag. */
static uint64_t first_word(const struct vv_payload *payload, const uint8_t tag[VV_TAG_BYTES]) {
  return vv_siphash(payload->key, tag, VV_TAG_BYTES);
}

void vv_payload_fill(const struct vv_payload *payload, uint64_t seq, uint8_t *message, size_t size_bytes) {
  uint8_t tag[VV_TAG_BYTES];
  tag_bytes(payload, seq, tag);
  size_t tagged = size_bytes < VV_TAG_BYTES ? size_bytes : VV_TAG_BYTES;
  if (tagged > 0) memcpy(message, tag, tagged);
  if (size_bytes <= VV_TAG_BYTES) return;
  uint64_t start = first_word(payload, tag), step = payload->step;
  size_t words = (size_bytes - VV_TAG_BYTES) / 8, rest = (size_bytes - VV_TAG_BYTES) % 8;
  uint8_t *body = message + VV_TAG_BYTES;
  for (size_t i = 0; i < words; i++) {
    uint64_t word = little_endian(start + i * step);
    memcpy(body + 8 * i, &word, 8);
  }
  uint64_t last = little_endian(start + words * step);
  memcpy(body + 8 * words, &last, rest);
}

bool vv_payload_check(const struct vv_payload *payload, uint64_t seq, const uint8_t *message, size_t size_bytes) {
  uint8_t tag[VV_TAG_BYTES];
  tag_bytes(payload, seq, tag);
  size_t tagged = size_bytes < VV_TAG_BYTES ? size_bytes : VV_TAG_BYTES;
  if (tagged > 0 && memcmp(message, tag, tagged) != 0) return false;
  if (size_bytes <= VV_TAG_BYTES) return true;
  uint64_t start = first_word(payload, tag), step = payload->step, difference = 0;
  size_t words = (size_bytes - VV_TAG_BYTES) / 8, rest = (size_bytes - VV_TAG_BYTES) % 8;
  const uint8_t *body = message + VV_TAG_BYTES;
  /* No early exit: messages are right, and a loop without branches runs several words at a time. */
  for (size_t i = 0; i < words; i++) {
    uint64_t word;
    memcpy(&word, body + 8 * i, 8);
    difference |= little_endian(word) ^ (start + i * step);
  }
  uint64_t last = little_endian(start + words * step);
  return difference == 0 && memcmp(body + 8 * words, &last, rest) == 0;
}

uint64_t vv_payload_age(const struct vv_payload *payload, uint64_t seq, const uint8_t *message, size_t size_bytes) {
  size_t tagged = size_bytes < VV_TAG_BYTES ? size_bytes : VV_TAG_BYTES;
  if (tagged == 0) return 0;
  uint64_t masked = 0;
  memcpy(&masked, message, tagged);
  uint64_t known = tagged == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * tagged)) - 1;
  return (seq - (little_endian(masked) ^ payload->mask)) & known;
}
