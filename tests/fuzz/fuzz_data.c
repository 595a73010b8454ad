/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A descriptor and data from outside. The input is the length of the descriptor
 * (2 bytes), the descriptor and the data; the receiver believes the descriptor
 * as far as the layout goes. Exact heap blocks catch a step beyond.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "vaiven/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *copy_of(const uint8_t *bytes, size_t count) {
  void *copy = malloc(count + !count);
  assert(copy);
  memcpy(copy, bytes, count);
  return copy;
}

/* Translating twice gives back what was sent. */
static void check_twice(struct vv_data_description *description, const uint8_t *data, size_t size) {
  const struct vv_data_layout layout = {description->stride_bytes, description->field_count, description->fields};
  uint8_t *once = copy_of(data, size);
  uint64_t converted, again;
  if (vv_data_take(description, once, size, &layout, once, size, &converted) == VV_DATA_OK) {
    enum vv_data_result result = vv_data_take(description, once, size, &layout, once, size, &again);
    assert(result == VV_DATA_OK && again == converted && memcmp(once, data, size) == 0);
  }
  free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  size_t descriptor_bytes = vv_get16(data);
  data += 2;
  size -= 2;
  if (descriptor_bytes > size) descriptor_bytes = size;
  uint8_t *descriptor = copy_of(data, descriptor_bytes);
  struct vv_data_description description;
  if (vv_data_parse(descriptor, descriptor_bytes, &description) == VV_DATA_OK) {
    check_twice(&description, data + descriptor_bytes, size - descriptor_bytes);
  }
  free(descriptor);
  return 0;
}
