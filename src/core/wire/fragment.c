/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/fragment.h"

#include <assert.h>

#include "core/wire/bytes.h"

enum { AT_LAUNCH = 0, AT_END = 4, AT_MESSAGE = 8, AT_INDEX = 12, AT_COUNT = 14 };

size_t vv_fragment_unit(size_t mtu_bytes) {
  assert(mtu_bytes >= VV_FRAGMENT_MTU_MIN);
  size_t data_bytes = mtu_bytes < VV_FRAME_DATA_BYTES_MAX ? mtu_bytes : VV_FRAME_DATA_BYTES_MAX;
  return data_bytes - VV_FRAGMENT_OVERHEAD_BYTES;
}

size_t vv_fragment_count(size_t size_bytes, size_t unit_bytes) {
  return size_bytes == 0 ? 1 : (size_bytes - 1) / unit_bytes + 1;
}

bool vv_fragment_view(const uint8_t *bytes, size_t count, struct vv_fragment_view *view) {
  if (count < VV_FRAGMENT_HEADER_BYTES) return false;
  *view = (struct vv_fragment_view){bytes, count};
  return true;
}

bool vv_fragment_parse(struct vv_fragment_view view, struct vv_fragment *fragment) {
  uint16_t index = vv_get16(view.bytes + AT_INDEX);
  uint16_t count = vv_get16(view.bytes + AT_COUNT);
  if (index >= count) return false;
  *fragment = (struct vv_fragment){
      .launch = vv_get32(view.bytes + AT_LAUNCH),
      .end = vv_get32(view.bytes + AT_END),
      .message = vv_get32(view.bytes + AT_MESSAGE),
      .index = index,
      .count = count,
      .data = view.bytes + VV_FRAGMENT_HEADER_BYTES,
      .data_bytes = view.count - VV_FRAGMENT_HEADER_BYTES,
  };
  return true;
}

void vv_fragment_emit(const struct vv_fragment *fragment, uint8_t header[VV_FRAGMENT_HEADER_BYTES]) {
  assert(fragment->index < fragment->count);
  vv_put32(header + AT_LAUNCH, fragment->launch);
  vv_put32(header + AT_END, fragment->end);
  vv_put32(header + AT_MESSAGE, fragment->message);
  vv_put16(header + AT_INDEX, fragment->index);
  vv_put16(header + AT_COUNT, fragment->count);
}
