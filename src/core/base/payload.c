/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/payload.h"

#include <string.h>

/* Two words at once: the far end sleeps while a message is made and checked, so that should not take long. */
typedef uint64_t pair __attribute__((vector_size(16)));

/* The word whose bytes in memory are those of x in little-endian order, and the way back. */
static uint64_t little_endian(uint64_t x) {
  return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(x) : x;
}

/* The same of a whole word, which may be a number: that lies as it is. */
static uint64_t laid(const struct vv_payload *payload, uint64_t x) {
  return payload->numbers ? x : little_endian(x);
}

static pair laid_pair(const struct vv_payload *payload, pair x) {
  bool turned = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && !payload->numbers;
  return turned ? (pair){__builtin_bswap64(x[0]), __builtin_bswap64(x[1])} : x;
}

void vv_payload_init(struct vv_payload *payload, const uint8_t key[VV_KEY_BYTES], bool numbers) {
  payload->numbers = numbers;
  memcpy(payload->key, key, VV_KEY_BYTES);
  payload->mask = vv_siphash(key, (const uint8_t *)"mask", 4);
  payload->step = vv_siphash(key, (const uint8_t *)"step", 4) | 1;
}

/* As much of it as there is room for; a part of it is no number. */
static void tag_bytes(const struct vv_payload *payload, uint64_t seq, uint8_t tag[VV_PAYLOAD_TAG_BYTES],
                      uint64_t size_bytes) {
  uint64_t masked = seq ^ payload->mask,
           word = size_bytes < VV_PAYLOAD_TAG_BYTES ? little_endian(masked) : laid(payload, masked);
  memcpy(tag, &word, VV_PAYLOAD_TAG_BYTES);
}

/* The number of the message with this whole tag. */
static uint64_t first_word(const struct vv_payload *payload, uint64_t seq) {
  uint64_t masked = little_endian(seq ^ payload->mask);
  return vv_siphash(payload->key, (const uint8_t *)&masked, sizeof masked);
}

void vv_payload_fill(const struct vv_payload *payload, uint64_t seq, uint8_t *message, size_t size_bytes) {
  uint8_t tag[VV_PAYLOAD_TAG_BYTES];
  tag_bytes(payload, seq, tag, size_bytes);
  size_t tagged = size_bytes < VV_PAYLOAD_TAG_BYTES ? size_bytes : VV_PAYLOAD_TAG_BYTES;
  if (tagged > 0) memcpy(message, tag, tagged);
  if (size_bytes <= VV_PAYLOAD_TAG_BYTES) return;
  uint64_t start = first_word(payload, seq), step = payload->step;
  size_t words = (size_bytes - VV_PAYLOAD_TAG_BYTES) / 8, rest = (size_bytes - VV_PAYLOAD_TAG_BYTES) % 8;
  uint8_t *body = message + VV_PAYLOAD_TAG_BYTES;
  pair next = {start, start + step}, hop = {2 * step, 2 * step};
  for (size_t i = 0; i + 2 <= words; i += 2, next += hop) {
    pair both = laid_pair(payload, next);
    memcpy(body + 8 * i, &both, 16);
  }
  uint64_t one = laid(payload, start + (words - 1) * step), last = little_endian(start + words * step);
  if (words % 2 == 1) memcpy(body + 8 * (words - 1), &one, 8);
  memcpy(body + 8 * words, &last, rest);
}

/* True when `bytes` are whole words of the progression, the first of them `next`. */
static bool words_are(const struct vv_payload *payload, uint64_t next, const uint8_t *bytes, size_t words) {
  uint64_t step = payload->step, one = laid(payload, next + (words - 1) * step);
  pair both = {next, next + step}, hop = {2 * step, 2 * step}, difference = {0, 0};
  /* No early exit: messages are right. */
  for (size_t i = 0; i + 2 <= words; i += 2, both += hop) {
    pair found;
    memcpy(&found, bytes + 8 * i, 16);
    difference |= laid_pair(payload, found) ^ both;
  }
  if (words % 2 == 1 && memcmp(bytes + 8 * (words - 1), &one, 8) != 0) return false;
  return (difference[0] | difference[1]) == 0;
}

/* True when `bytes`, `count` of them, are those from `at` on of what follows a tag, of which there are body_bytes. */
static bool body_is(const struct vv_payload *payload, uint64_t seq, uint64_t body_bytes, uint64_t at,
                    const uint8_t *bytes, size_t count) {
  uint64_t next = first_word(payload, seq) + at / 8 * payload->step;
  size_t into = at % 8, before = into == 0 ? 0 : 8 - into;
  if (before > count) before = count;
  if (before > 0) {
    uint64_t word = at / 8 < body_bytes / 8 ? laid(payload, next) : little_endian(next);
    if (memcmp(bytes, (const uint8_t *)&word + into, before) != 0) return false;
    next += payload->step;
  }
  size_t words = (count - before) / 8, rest = (count - before) % 8;
  if (!words_are(payload, next, bytes + before, words)) return false;
  next += words * payload->step;
  uint64_t last = (at + count) / 8 < body_bytes / 8 ? laid(payload, next) : little_endian(next);
  return memcmp(bytes + count - rest, &last, rest) == 0;
}

bool vv_payload_check_part(const struct vv_payload *payload, uint64_t seq, uint64_t size_bytes, uint64_t offset,
                           const uint8_t *part, size_t count) {
  size_t tagged = 0;
  if (offset < VV_PAYLOAD_TAG_BYTES) {
    uint8_t tag[VV_PAYLOAD_TAG_BYTES];
    tag_bytes(payload, seq, tag, size_bytes);
    tagged = count < VV_PAYLOAD_TAG_BYTES - offset ? count : (size_t)(VV_PAYLOAD_TAG_BYTES - offset);
    if (tagged > 0 && memcmp(part, tag + offset, tagged) != 0) return false;
  }
  if (tagged == count) return true;
  uint64_t at = offset + tagged - VV_PAYLOAD_TAG_BYTES;
  return body_is(payload, seq, size_bytes - VV_PAYLOAD_TAG_BYTES, at, part + tagged, count - tagged);
}

bool vv_payload_check(const struct vv_payload *payload, uint64_t seq, const uint8_t *message, size_t size_bytes) {
  return vv_payload_check_part(payload, seq, size_bytes, 0, message, size_bytes);
}

uint64_t vv_payload_age(const struct vv_payload *payload, uint64_t seq, const uint8_t *message, size_t size_bytes) {
  size_t tagged = size_bytes < VV_PAYLOAD_TAG_BYTES ? size_bytes : VV_PAYLOAD_TAG_BYTES;
  if (tagged == 0) return 0;
  uint64_t masked = 0;
  memcpy(&masked, message, tagged);
  uint64_t known = tagged == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * tagged)) - 1;
  masked = tagged < VV_PAYLOAD_TAG_BYTES ? little_endian(masked) : laid(payload, masked);
  return (seq - (masked ^ payload->mask)) & known;
}
