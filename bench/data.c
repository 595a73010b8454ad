/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a change of representation costs against copying the same bytes: for each
 * type of 2, 4 and 8 bytes and for XDR, ROUNDS lines "name ours_ns memcpy_ns" of
 * one round each, over SIZE bytes (1 MB); both are the best of a few passes, in
 * turns.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/wire/xdr.h"
#include "vaiven/data.h"

#define SIZE   1000000
#define ROUNDS 25
#define PASSES 20

static uint8_t from[SIZE], to[SIZE];

struct work {
  const char *name;
  struct vv_data_field field;
  bool xdr;
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The sender's description, as if from a machine of the other order. */
static struct vv_data_description foreign(const struct vv_data_layout *layout, uint64_t count) {
  uint8_t bytes[VV_DATA_DESCRIPTOR_BYTES_MAX];
  struct vv_data_description description;
  vv_data_parse(bytes, vv_data_describe(layout, count, bytes), &description);
  const bool big = description.order == VV_DATA_BIG_ENDIAN;
  description.order = big ? VV_DATA_LITTLE_ENDIAN : VV_DATA_BIG_ENDIAN;
  return description;
}

static int64_t translate_ns(const struct work *work) {
  const uint32_t bytes = (uint32_t)vv_data_type_bytes(work->field.type);
  const struct vv_data_layout layout = {bytes, 1, &work->field};
  const struct vv_data_layout whole = {SIZE, 1, &(struct vv_data_field){work->field.type, SIZE / bytes, 0}};
  const struct vv_data_description description = foreign(&layout, SIZE / bytes);
  uint64_t converted;
  const int64_t start_ns = now_ns();
  if (work->xdr)
    vv_xdr_encode(&whole, from, 1, to);
  else
    vv_data_take(&description, from, SIZE, &layout, to, SIZE, &converted);
  return now_ns() - start_ns;
}

static int64_t copy_ns(void) {
  const int64_t start_ns = now_ns();
  memcpy(to, from, SIZE);
  __asm__ volatile("" : : "r"(to) : "memory"); /* or the copy is never made */
  return now_ns() - start_ns;
}

int main(void) {
  static const struct work works[] = {
      {"16-bit", {VV_DATA_INT16, 1, 0}, false},     {"float", {VV_DATA_FLOAT, 1, 0}, false},
      {"double", {VV_DATA_DOUBLE, 1, 0}, false},    {"complex", {VV_DATA_COMPLEX_DOUBLE, 1, 0}, false},
      {"XDR double", {VV_DATA_DOUBLE, 1, 0}, true},
  };
  memset(from, 1, sizeof from);
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
      int64_t ours_ns = INT64_MAX, copied_ns = INT64_MAX;
      for (int pass = 0; pass < PASSES; pass++) {
        const int64_t a_ns = translate_ns(&works[i]), b_ns = copy_ns();
        if (a_ns < ours_ns) ours_ns = a_ns;
        if (b_ns < copied_ns) copied_ns = b_ns;
      }
      printf("%s\t%lld\t%lld\n", works[i].name, (long long)ours_ns, (long long)copied_ns);
    }
  }
  return 0;
}
