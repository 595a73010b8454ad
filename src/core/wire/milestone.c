/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/milestone.h"

#include <string.h>

#include "core/wire/bytes.h"

enum { WHAT_AT = 8, SIZE_AT = 16 };

void vv_milestone_emit(const struct vv_milestone *milestone, uint8_t bytes[VV_MILESTONE_BYTES]) {
  memset(bytes, 0, WHAT_AT);
  bytes[0] = (uint8_t)milestone->kind;
  vv_put64(bytes + WHAT_AT, milestone->what);
  vv_put64(bytes + SIZE_AT, milestone->size_bytes);
}

bool vv_milestone_parse(const uint8_t bytes[VV_MILESTONE_BYTES], struct vv_milestone *milestone) {
  static const uint8_t nothing[WHAT_AT - 1];
  bool known = bytes[0] != 0 && strchr("eogdc", bytes[0]) != NULL;
  if (!known || memcmp(bytes + 1, nothing, sizeof nothing) != 0) return false;
  struct vv_milestone read = {(enum vv_milestone_kind)bytes[0], vv_get64(bytes + WHAT_AT), vv_get64(bytes + SIZE_AT)};
  if (read.kind == VV_MILESTONE_CREDIT && read.size_bytes != 0) return false;
  *milestone = read;
  return true;
}
