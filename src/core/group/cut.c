/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/cut.h"

#include "core/wire/gpdu.h"

uint64_t vv_cut_count(uint64_t size_bytes, uint32_t body_bytes) {
  uint32_t first = body_bytes - VV_GPDU_HEAD_BYTES;
  return size_bytes <= first ? 1 : 1 + (size_bytes - first + body_bytes - 1) / body_bytes;
}

struct vv_cut vv_cut_piece(uint64_t size_bytes, uint32_t body_bytes, uint64_t i) {
  uint32_t first = body_bytes - VV_GPDU_HEAD_BYTES;
  uint64_t offset = i == 0 ? 0 : first + (i - 1) * body_bytes;
  uint64_t rest = size_bytes - offset, room = i == 0 ? first : body_bytes;
  return (struct vv_cut){offset, (size_t)(rest < room ? rest : room)};
}
