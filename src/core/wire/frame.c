/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/frame.h"

#include <assert.h>
#include <string.h>

#include "core/wire/bytes.h"

enum { AT_DESTINATION = 0, AT_SOURCE = 6, AT_LENGTH = 12 };

bool vv_frame_view(const uint8_t *bytes, size_t count, struct vv_frame_view *view) {
  if (count < VV_FRAME_HEADER_BYTES) return false;
  size_t data_bytes = vv_get16(bytes + AT_LENGTH);
  if (data_bytes > VV_FRAME_DATA_BYTES_MAX || data_bytes > count - VV_FRAME_HEADER_BYTES) return false;
  view->bytes = bytes;
  return true;
}

void vv_frame_parse(struct vv_frame_view view, struct vv_frame *frame) {
  memcpy(frame->destination, view.bytes + AT_DESTINATION, VV_MAC_BYTES);
  memcpy(frame->source, view.bytes + AT_SOURCE, VV_MAC_BYTES);
  frame->data = view.bytes + VV_FRAME_HEADER_BYTES;
  frame->data_bytes = vv_get16(view.bytes + AT_LENGTH);
}

void vv_frame_emit(const struct vv_frame *frame, uint8_t header[VV_FRAME_HEADER_BYTES]) {
  assert(frame->data_bytes <= VV_FRAME_DATA_BYTES_MAX);
  memcpy(header + AT_DESTINATION, frame->destination, VV_MAC_BYTES);
  memcpy(header + AT_SOURCE, frame->source, VV_MAC_BYTES);
  vv_put16(header + AT_LENGTH, (uint16_t)frame->data_bytes);
}
