/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/gpdu.h"

#include <assert.h>
#include <string.h>

#include "core/wire/bytes.h"

enum { AT_KIND = 0, AT_STREAM = 1, AT_POSITION = 4, AT_TAG = 8, TAG_BYTES = 8, HASH_BYTES = 8 };
enum {
  ASK_BYTES = 14,
  ACK_BYTES = 12,
  POLL_BYTES = 12,
  STATE_BYTES = 16,
  FAIL_BYTES = 13,
  FIXED_BYTES_MAX = STATE_BYTES
};

/* Places in the body: of a HEAD or PART, and of control PDUs, which all begin with their source. */
enum { AT_ROOT = 0, AT_BACK = 2, AT_REPRESENTATION = 4, AT_SIZE_TOP = 5, AT_SIZE = 6 };
enum { AT_SOURCE = 0, AT_ASK_OPERATION = 4, AT_ASK_ROOT = 8, AT_ASK_FLAGS = 12, AT_ASK_COUNT = 13 };
enum { AT_ACK_TARGET = 4, AT_ACK_SLOWEST = 8, AT_POLL_OPERATION = 4, AT_POLL_EDGE = 8, AT_STATE_EDGE = 4 };
enum { AT_STATE_HORIZON = 8, AT_STATE_BEYOND = 12, AT_FAIL_OPERATION = 4, AT_FAIL_RANK = 8, AT_FAIL_WHY = 12 };
enum { HALF_BITS = 32, HALF_BYTES = 4, KIND_SHIFT = 24 };

/* Bytes of the body of each kind that are not data. */
static const uint8_t fixed_bytes[] = {
    [VV_GPDU_HEAD - VV_GPDU_HEAD] = VV_GPDU_HEAD_BYTES,
    [VV_GPDU_PART - VV_GPDU_HEAD] = VV_GPDU_HEAD_BYTES,
    [VV_GPDU_DATA - VV_GPDU_HEAD] = 0,
    [VV_GPDU_ASK - VV_GPDU_HEAD] = ASK_BYTES,
    [VV_GPDU_ACK - VV_GPDU_HEAD] = ACK_BYTES,
    [VV_GPDU_POLL - VV_GPDU_HEAD] = POLL_BYTES,
    [VV_GPDU_STATE - VV_GPDU_HEAD] = STATE_BYTES,
    [VV_GPDU_FAIL - VV_GPDU_HEAD] = FAIL_BYTES,
};

/* Half a key: the hash of what it is for. */
static void derive(uint8_t *half, const uint8_t key[VV_KEY_BYTES], uint32_t stream, uint8_t use) {
  uint8_t what[1 + HALF_BYTES] = {use};
  vv_put32(what + 1, stream);
  vv_put64(half, vv_siphash(key, what, sizeof what));
}

void vv_gpdu_keys_init(struct vv_gpdu_keys *keys, const uint8_t key[VV_KEY_BYTES], uint32_t stream) {
  derive(keys->header, key, stream, 'h');
  derive(keys->header + VV_KEY_BYTES / 2, key, stream, 'H');
  derive(keys->body, key, stream, 'b');
  derive(keys->body + VV_KEY_BYTES / 2, key, stream, 'B');
}

/* Data and header lie apart when they are sent: the data go in by their hash. */
static uint64_t tag_of(const struct vv_gpdu_keys *keys, uint64_t position, const uint8_t *header, size_t fixed,
                       const uint8_t *data, size_t data_bytes) {
  uint8_t what[AT_TAG + HALF_BYTES + FIXED_BYTES_MAX + HASH_BYTES];
  assert(fixed <= FIXED_BYTES_MAX);
  memcpy(what, header, AT_TAG);
  vv_put32(what + AT_TAG, (uint32_t)(position >> HALF_BITS));
  memcpy(what + AT_TAG + HALF_BYTES, header + VV_GPDU_HEADER_BYTES, fixed);
  vv_put64(what + AT_TAG + HALF_BYTES + fixed, vv_siphash(keys->body, data, data_bytes));
  return vv_siphash(keys->header, what, AT_TAG + HALF_BYTES + fixed + HASH_BYTES);
}

uint64_t vv_gpdu_expand(uint32_t low, uint64_t near) {
  int64_t ahead = (int32_t)(low - (uint32_t)near);
  if (ahead < 0 && (uint64_t)-ahead > near) ahead += INT64_C(1) << HALF_BITS;
  return near + (uint64_t)ahead;
}

bool vv_gpdu_body_parse(enum vv_gpdu_kind kind, uint64_t position, const uint8_t *body, size_t count,
                        struct vv_gpdu *pdu) {
  struct vv_gpdu value = {.kind = kind, .position = position, .data = body, .data_bytes = count};
  if (vv_gpdu_is_headed(kind)) {
    if (count < VV_GPDU_HEAD_BYTES || vv_get16(body + AT_BACK) > position) return false;
    value.rank = vv_get16(body + AT_ROOT);
    value.horizon = position - vv_get16(body + AT_BACK);
    value.representation = body[AT_REPRESENTATION];
    value.size_bytes = (uint64_t)body[AT_SIZE_TOP] << HALF_BITS | vv_get32(body + AT_SIZE);
    value.data = body + VV_GPDU_HEAD_BYTES;
    value.data_bytes = count - VV_GPDU_HEAD_BYTES;
    if (value.data_bytes > value.size_bytes) return false;
    bool whole = value.data_bytes == value.size_bytes && value.rank <= position;
    if (kind == VV_GPDU_PART && !whole) return false;
  }
  *pdu = value;
  return true;
}

static bool ask_parse(const uint8_t *body, struct vv_gpdu *pdu) {
  pdu->operation = vv_get32(body + AT_ASK_OPERATION);
  pdu->rank = vv_get32(body + AT_ASK_ROOT);
  pdu->flags = body[AT_ASK_FLAGS];
  uint8_t count = body[AT_ASK_COUNT];
  return pdu->flags <= (VV_GPDU_ASK_DEAF | VV_GPDU_ASK_MORE) && count <= VV_GPDU_BITMAP_BYTES &&
         count == pdu->data_bytes;
}

static bool fail_parse(const uint8_t *body, struct vv_gpdu *pdu) {
  pdu->operation = vv_get32(body + AT_FAIL_OPERATION);
  pdu->rank = vv_get32(body + AT_FAIL_RANK);
  pdu->why = (enum vv_gpdu_why)body[AT_FAIL_WHY];
  return pdu->why >= VV_GPDU_DIED && pdu->why <= VV_GPDU_UNEQUAL_CALL && pdu->data_bytes == 0;
}

/* The body of any control PDU, whose fixed part is there. */
static bool control_parse(const uint8_t *body, struct vv_gpdu *pdu) {
  pdu->source = vv_get32(body + AT_SOURCE);
  switch (pdu->kind) {
  case VV_GPDU_HEAD:
  case VV_GPDU_PART:
  case VV_GPDU_DATA:
    return false;
  case VV_GPDU_ASK:
    return ask_parse(body, pdu);
  case VV_GPDU_FAIL:
    return fail_parse(body, pdu);
  case VV_GPDU_ACK:
    pdu->target = vv_get32(body + AT_ACK_TARGET);
    pdu->rank = vv_get32(body + AT_ACK_SLOWEST);
    break;
  case VV_GPDU_POLL:
    pdu->operation = vv_get32(body + AT_POLL_OPERATION);
    pdu->edge = vv_gpdu_expand(vv_get32(body + AT_POLL_EDGE), pdu->position);
    break;
  case VV_GPDU_STATE:
    pdu->edge = vv_gpdu_expand(vv_get32(body + AT_STATE_EDGE), pdu->position);
    pdu->horizon = vv_gpdu_expand(vv_get32(body + AT_STATE_HORIZON), pdu->position);
    pdu->beyond = vv_get32(body + AT_STATE_BEYOND);
    break;
  }
  return pdu->data_bytes == 0;
}

bool vv_gpdu_parse(const struct vv_gpdu_keys *keys, uint32_t stream, uint64_t near, const uint8_t *bytes, size_t count,
                   struct vv_gpdu *pdu) {
  if (count < VV_GPDU_HEADER_BYTES || bytes[AT_KIND] < VV_GPDU_HEAD || bytes[AT_KIND] > VV_GPDU_FAIL) return false;
  if ((vv_get32(bytes) & VV_GPDU_STREAM_MAX) != stream) return false;
  enum vv_gpdu_kind kind = (enum vv_gpdu_kind)bytes[AT_KIND];
  size_t fixed = fixed_bytes[kind - VV_GPDU_HEAD];
  if (count < VV_GPDU_HEADER_BYTES + fixed) return false;
  const uint8_t *body = bytes + VV_GPDU_HEADER_BYTES;
  size_t data_bytes = count - VV_GPDU_HEADER_BYTES - fixed;
  uint64_t position = vv_gpdu_expand(vv_get32(bytes + AT_POSITION), near);
  uint8_t tag[TAG_BYTES];
  vv_put64(tag, tag_of(keys, position, bytes, fixed, body + fixed, data_bytes));
  if (!vv_siphash_equal(tag, bytes + AT_TAG, TAG_BYTES)) return false;
  if (kind <= VV_GPDU_DATA) return vv_gpdu_body_parse(kind, position, body, fixed + data_bytes, pdu);
  struct vv_gpdu value = {.kind = kind, .position = position, .data = body + fixed, .data_bytes = data_bytes};
  if (!control_parse(body, &value)) return false;
  *pdu = value;
  return true;
}

void vv_gpdu_head_emit(const struct vv_gpdu *head, uint8_t body[VV_GPDU_HEAD_BYTES]) {
  assert(head->rank <= UINT16_MAX && head->position - head->horizon <= VV_GPDU_WINDOW_MAX);
  vv_put16(body + AT_ROOT, (uint16_t)head->rank);
  vv_put16(body + AT_BACK, (uint16_t)(head->position - head->horizon));
  body[AT_REPRESENTATION] = head->representation;
  body[AT_SIZE_TOP] = (uint8_t)(head->size_bytes >> HALF_BITS);
  vv_put32(body + AT_SIZE, (uint32_t)head->size_bytes);
}

static void ask_emit(const struct vv_gpdu *pdu, uint8_t *body) {
  assert(pdu->data_bytes <= VV_GPDU_BITMAP_BYTES);
  vv_put32(body + AT_ASK_OPERATION, pdu->operation);
  vv_put32(body + AT_ASK_ROOT, pdu->rank);
  body[AT_ASK_FLAGS] = pdu->flags;
  body[AT_ASK_COUNT] = (uint8_t)pdu->data_bytes;
  if (pdu->data_bytes > 0) memcpy(body + ASK_BYTES, pdu->data, pdu->data_bytes);
}

/* The fixed part of the body, and the bitmap of an ASK. */
static void body_emit(const struct vv_gpdu *pdu, uint8_t *body) {
  if (pdu->kind > VV_GPDU_DATA) vv_put32(body + AT_SOURCE, pdu->source);
  switch (pdu->kind) {
  case VV_GPDU_HEAD:
  case VV_GPDU_PART:
    vv_gpdu_head_emit(pdu, body);
    break;
  case VV_GPDU_DATA:
    break;
  case VV_GPDU_ASK:
    ask_emit(pdu, body);
    break;
  case VV_GPDU_ACK:
    vv_put32(body + AT_ACK_TARGET, pdu->target);
    vv_put32(body + AT_ACK_SLOWEST, pdu->rank);
    break;
  case VV_GPDU_POLL:
    vv_put32(body + AT_POLL_OPERATION, pdu->operation);
    vv_put32(body + AT_POLL_EDGE, (uint32_t)pdu->edge);
    break;
  case VV_GPDU_STATE:
    vv_put32(body + AT_STATE_EDGE, (uint32_t)pdu->edge);
    vv_put32(body + AT_STATE_HORIZON, (uint32_t)pdu->horizon);
    vv_put32(body + AT_STATE_BEYOND, pdu->beyond);
    break;
  case VV_GPDU_FAIL:
    vv_put32(body + AT_FAIL_OPERATION, pdu->operation);
    vv_put32(body + AT_FAIL_RANK, pdu->rank);
    body[AT_FAIL_WHY] = (uint8_t)pdu->why;
  }
}

size_t vv_gpdu_emit(const struct vv_gpdu_keys *keys, uint32_t stream, const struct vv_gpdu *pdu,
                    uint8_t header[VV_GPDU_CONTROL_BYTES]) {
  size_t fixed = fixed_bytes[pdu->kind - VV_GPDU_HEAD];
  vv_put32(header, (uint32_t)pdu->kind << KIND_SHIFT | stream);
  vv_put32(header + AT_POSITION, (uint32_t)pdu->position);
  body_emit(pdu, header + VV_GPDU_HEADER_BYTES);
  vv_put64(header + AT_TAG, tag_of(keys, pdu->position, header, fixed, pdu->data, pdu->data_bytes));
  return VV_GPDU_HEADER_BYTES + fixed + (pdu->kind == VV_GPDU_ASK ? pdu->data_bytes : 0);
}
