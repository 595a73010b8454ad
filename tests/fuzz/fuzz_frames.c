/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever comes from a wire: frame, LLC PDU, fragment, reassembly.
 *
 * The input is a size (2 bytes) that the receiver expects, a unit (1 byte), and
 * then frames, each behind its length (2 bytes). Every frame is copied to a heap
 * block of its own size, so that reading beyond it is caught.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/fragment.h"
#include "core/wire/frame.h"
#include "core/wire/lpdu.h"
#include "core/wire/reassembly.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was accepted must be written back byte for byte. */
static void check_round_trip(const uint8_t *bytes, const struct vv_frame *frame, const struct vv_lpdu_ui *ui,
                             const struct vv_fragment *fragment) {
  uint8_t headers[VV_FRAME_HEADER_BYTES + VV_FRAGMENT_OVERHEAD_BYTES];
  vv_frame_emit(frame, headers);
  vv_lpdu_ui_emit(ui, headers + VV_FRAME_HEADER_BYTES);
  vv_fragment_emit(fragment, headers + VV_FRAME_HEADER_BYTES + VV_LPDU_HEADER_BYTES);
  assert(memcmp(headers, bytes, sizeof headers) == 0);
}

static void take(struct vv_reassembly *reassembly, const uint8_t *bytes, size_t count) {
  struct vv_frame_view frame_view;
  struct vv_frame frame;
  struct vv_lpdu_view llc_view;
  struct vv_lpdu_ui ui;
  struct vv_fragment_view fragment_view;
  struct vv_fragment fragment;
  if (!vv_frame_view(bytes, count, &frame_view)) return;
  vv_frame_parse(frame_view, &frame);
  assert(frame.data + frame.data_bytes <= bytes + count);
  if (!vv_lpdu_view(frame.data, frame.data_bytes, &llc_view) || !vv_lpdu_ui_parse(llc_view, &ui)) return;
  if (!vv_fragment_view(ui.data, ui.data_bytes, &fragment_view)) return;
  if (!vv_fragment_parse(fragment_view, &fragment)) return;
  check_round_trip(bytes, &frame, &ui, &fragment);
  bool whole = vv_reassembly_take(reassembly, &fragment);
  assert(!whole || reassembly->missing == 0);
  assert(reassembly->missing <= reassembly->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct vv_reassembly reassembly;
  if (size < 3) return 0;
  size_t message_bytes = vv_get16(data), unit_bytes = vv_fragment_unit(VV_FRAGMENT_MTU_MIN + data[2] * 6u);
  uint8_t *message = malloc(message_bytes + (message_bytes == 0));
  if (!message) return 0;
  vv_reassembly_init(&reassembly);
  vv_reassembly_expect(&reassembly, message, message_bytes, unit_bytes);
  for (size_t at = 3; at + 2 <= size;) {
    size_t count = vv_get16(data + at);
    at += 2;
    if (count > size - at) count = size - at;
    uint8_t *frame = malloc(count + (count == 0));
    if (!frame) break;
    memcpy(frame, data + at, count);
    take(&reassembly, frame, count);
    free(frame);
    at += count;
  }
  free(message);
  return 0;
}
