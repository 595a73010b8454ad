/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/reassembly.h"

#include <assert.h>
#include <string.h>

void vv_reassembly_init(struct vv_reassembly *reassembly) {
  memset(reassembly, 0, sizeof *reassembly);
}

void vv_reassembly_expect(struct vv_reassembly *reassembly, uint8_t *into, size_t size_bytes, size_t unit_bytes) {
  if (into == reassembly->into && size_bytes == reassembly->size_bytes && unit_bytes == reassembly->unit_bytes) return;
  reassembly->into = into;
  reassembly->size_bytes = size_bytes;
  reassembly->unit_bytes = unit_bytes;
  reassembly->count = vv_fragment_count(size_bytes, unit_bytes);
  reassembly->missing = 0;
  assert(reassembly->count <= VV_FRAGMENTS_MAX);
}

static bool fits(const struct vv_reassembly *reassembly, const struct vv_fragment *fragment) {
  if (fragment->count != reassembly->count) return false;
  bool last = fragment->index + 1u == fragment->count;
  size_t before = (reassembly->count - 1) * reassembly->unit_bytes;
  return fragment->data_bytes == (last ? reassembly->size_bytes - before : reassembly->unit_bytes);
}

/* True when the fragment belongs to the message under way, which it may have begun. */
static bool belongs(struct vv_reassembly *reassembly, uint32_t message) {
  int32_t ahead = (int32_t)(message - reassembly->message);
  if (reassembly->any && ahead < 0) return false;
  if (reassembly->any && ahead == 0) return reassembly->missing > 0;
  reassembly->any = true;
  reassembly->message = message;
  reassembly->missing = reassembly->count;
  memset(reassembly->have, 0, (reassembly->count + 63) / 64 * sizeof *reassembly->have);
  return true;
}

bool vv_reassembly_take(struct vv_reassembly *reassembly, const struct vv_fragment *fragment) {
  if (!fits(reassembly, fragment) || !belongs(reassembly, fragment->message)) return false;
  uint64_t *word = &reassembly->have[fragment->index / 64];
  uint64_t bit = UINT64_C(1) << fragment->index % 64;
  if ((*word & bit) != 0) return false;
  *word |= bit;
  if (fragment->data_bytes > 0) {
    memcpy(reassembly->into + fragment->index * reassembly->unit_bytes, fragment->data, fragment->data_bytes);
  }
  reassembly->missing--;
  return reassembly->missing == 0;
}
