/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever passes an interface; the first two bytes say how much longer the whole frame is than what was seen. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/tcp_segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  size_t count = size - 2, whole_bytes = count + vv_get16(data);
  uint8_t *frame = malloc(count + 1); /* of its own, so that a read beyond it is seen */
  if (!frame) return 0;
  memcpy(frame, data + 2, count);
  struct vv_tcp_segment segment;
  if (vv_tcp_segment_parse(frame, count, whole_bytes, &segment)) assert(segment.data_bytes + 54 <= whole_bytes);
  free(frame);
  return 0;
}
