/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/segment.h"

#include "core/wire/bytes.h"

enum { AT_EPOCH = 0, AT_ROUND = 1, AT_ENQUIRY = 2, AT_NUMBER = 2, AT_NONCE = 6, AT_MESSAGE_BYTES = 10 };

bool vv_segment_parse_least(const uint8_t *bytes, size_t count, struct vv_segment *segment) {
  if (count != VV_SEGMENT_BYTES_MIN) return false;
  segment->epoch = bytes[AT_EPOCH];
  segment->round = bytes[AT_ROUND];
  segment->enquiry = bytes[AT_ENQUIRY];
  return true;
}

bool vv_segment_parse(const uint8_t *bytes, size_t count, struct vv_segment *segment) {
  if (count < VV_SEGMENT_BYTES) return false;
  segment->epoch = bytes[AT_EPOCH];
  segment->round = bytes[AT_ROUND];
  segment->number = vv_get32(bytes + AT_NUMBER);
  return true;
}

bool vv_segment_parse_first(const uint8_t *bytes, size_t count, struct vv_segment *segment) {
  if (count < VV_SEGMENT_BYTES_MAX) return false;
  segment->nonce = vv_get32(bytes + AT_NONCE);
  segment->message_bytes = vv_get32(bytes + AT_MESSAGE_BYTES);
  return true;
}

void vv_segment_emit_least(const struct vv_segment *segment, uint8_t marks[VV_SEGMENT_BYTES_MIN]) {
  marks[AT_EPOCH] = segment->epoch;
  marks[AT_ROUND] = segment->round;
  marks[AT_ENQUIRY] = segment->enquiry;
}

size_t vv_segment_emit(const struct vv_segment *segment, bool first, uint8_t marks[VV_SEGMENT_BYTES_MAX]) {
  marks[AT_EPOCH] = segment->epoch;
  marks[AT_ROUND] = segment->round;
  vv_put32(marks + AT_NUMBER, segment->number);
  if (!first) return VV_SEGMENT_BYTES;
  vv_put32(marks + AT_NONCE, segment->nonce);
  vv_put32(marks + AT_MESSAGE_BYTES, segment->message_bytes);
  return VV_SEGMENT_BYTES_MAX;
}
