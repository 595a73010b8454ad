/* SPDX-License-Identifier: BSD-3-Clause */
#include "vaiven/data.h"

#include <assert.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/turn.h"

#define VERSION 1

/* What a type is made of: `parts` pieces of `part_bytes`, each with its own byte order. */
static const struct {
  uint8_t part_bytes;
  uint8_t parts;
} types[] = {
    [VV_DATA_CHAR] = {1, 1},           [VV_DATA_INT8] = {1, 1},   [VV_DATA_UINT8] = {1, 1},
    [VV_DATA_INT16] = {2, 1},          [VV_DATA_UINT16] = {2, 1}, [VV_DATA_INT32] = {4, 1},
    [VV_DATA_UINT32] = {4, 1},         [VV_DATA_INT64] = {8, 1},  [VV_DATA_UINT64] = {8, 1},
    [VV_DATA_FLOAT] = {4, 1},          [VV_DATA_DOUBLE] = {8, 1}, [VV_DATA_COMPLEX_FLOAT] = {4, 2},
    [VV_DATA_COMPLEX_DOUBLE] = {8, 2},
};

enum vv_data_order vv_data_own_order(void) {
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first ? VV_DATA_LITTLE_ENDIAN : VV_DATA_BIG_ENDIAN;
}

size_t vv_data_type_bytes(enum vv_data_type type) {
  if ((unsigned)type >= sizeof types / sizeof types[0]) return 0;
  return (size_t)types[type].part_bytes * types[type].parts;
}

bool vv_data_layout_valid(const struct vv_data_layout *layout) {
  if (layout->field_count < 1 || layout->field_count > VV_DATA_FIELDS_MAX) return false;
  uint64_t end_bytes = 0;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct vv_data_field *field = &layout->fields[i];
    if (vv_data_type_bytes(field->type) == 0 || field->count == 0 || field->offset_bytes < end_bytes) return false;
    end_bytes = field->offset_bytes + (uint64_t)field->count * vv_data_type_bytes(field->type);
  }
  return end_bytes <= layout->stride_bytes;
}

size_t vv_data_describe(const struct vv_data_layout *layout, uint64_t count,
                        uint8_t descriptor[VV_DATA_DESCRIPTOR_BYTES_MAX]) {
  assert(vv_data_layout_valid(layout));
  descriptor[0] = 'v';
  descriptor[1] = 'd';
  descriptor[2] = VERSION;
  descriptor[3] = (uint8_t)vv_data_own_order();
  vv_put16(descriptor + 4, (uint16_t)layout->field_count);
  vv_put32(descriptor + 6, layout->stride_bytes);
  vv_put64(descriptor + 10, count);
  uint8_t *at = descriptor + VV_DATA_HEADER_BYTES;
  for (uint32_t i = 0; i < layout->field_count; i++, at += VV_DATA_FIELD_BYTES) {
    at[0] = (uint8_t)layout->fields[i].type;
    vv_put32(at + 1, layout->fields[i].count);
    vv_put32(at + 5, layout->fields[i].offset_bytes);
  }
  return (size_t)(at - descriptor);
}

/* The layout that a description holds. */
static struct vv_data_layout layout_of(const struct vv_data_description *description) {
  return (struct vv_data_layout){description->stride_bytes, description->field_count, description->fields};
}

enum vv_data_result vv_data_parse(const uint8_t *descriptor, size_t size, struct vv_data_description *description) {
  if (size < VV_DATA_HEADER_BYTES || descriptor[0] != 'v' || descriptor[1] != 'd' || descriptor[2] != VERSION ||
      (descriptor[3] != VV_DATA_LITTLE_ENDIAN && descriptor[3] != VV_DATA_BIG_ENDIAN)) {
    return VV_DATA_NO_DESCRIPTOR;
  }
  struct vv_data_description said = {
      .order = (enum vv_data_order)descriptor[3],
      .field_count = vv_get16(descriptor + 4),
      .stride_bytes = vv_get32(descriptor + 6),
      .count = vv_get64(descriptor + 10),
  };
  if (said.field_count > VV_DATA_FIELDS_MAX ||
      size != VV_DATA_HEADER_BYTES + (size_t)said.field_count * VV_DATA_FIELD_BYTES) {
    return VV_DATA_NO_DESCRIPTOR;
  }
  const uint8_t *at = descriptor + VV_DATA_HEADER_BYTES;
  for (uint32_t i = 0; i < said.field_count; i++, at += VV_DATA_FIELD_BYTES) {
    said.fields[i] = (struct vv_data_field){(enum vv_data_type)at[0], vv_get32(at + 1), vv_get32(at + 5)};
  }
  const struct vv_data_layout layout = layout_of(&said);
  if (!vv_data_layout_valid(&layout)) return VV_DATA_NO_DESCRIPTOR;
  *description = said;
  return VV_DATA_OK;
}

/* Whether both mean the same record; *same_places: also the same bytes of it. */
static bool same_fields(const struct vv_data_layout *a, const struct vv_data_layout *b, bool *same_places) {
  if (a->field_count != b->field_count) return false;
  *same_places = a->stride_bytes == b->stride_bytes;
  for (uint32_t i = 0; i < a->field_count; i++) {
    if (a->fields[i].type != b->fields[i].type || a->fields[i].count != b->fields[i].count) return false;
    *same_places &= a->fields[i].offset_bytes == b->fields[i].offset_bytes;
  }
  return true;
}

/* `count` numbers of that type from one place to another; returns how many were converted. */
static uint64_t put(enum vv_data_type type, uint64_t count, bool turn, const uint8_t *from, uint8_t *to) {
  const size_t part_bytes = types[type].part_bytes;
  const size_t parts = (size_t)count * types[type].parts;
  if (turn && part_bytes > 1) {
    vv_turn(to, from, part_bytes, parts);
    return count;
  }
  if (to != from) memcpy(to, from, parts * part_bytes);
  return 0;
}

/* A record that is one field without a gap: then an array of records is one array of numbers. */
static bool one_piece(const struct vv_data_layout *layout) {
  const struct vv_data_field *field = &layout->fields[0];
  return layout->field_count == 1 && (uint64_t)field->count * vv_data_type_bytes(field->type) == layout->stride_bytes;
}

enum vv_data_result vv_data_take(const struct vv_data_description *description, const void *data, size_t data_bytes,
                                 const struct vv_data_layout *own, void *own_data, size_t own_bytes,
                                 uint64_t *converted) {
  const struct vv_data_layout theirs = layout_of(description);
  bool same_places;
  if (!vv_data_layout_valid(own) || !same_fields(&theirs, own, &same_places)) return VV_DATA_OTHER_FIELDS;
  /* Divided, not multiplied: a count from outside must not overflow. */
  if (description->count != data_bytes / theirs.stride_bytes || data_bytes % theirs.stride_bytes != 0 ||
      description->count > own_bytes / own->stride_bytes) {
    return VV_DATA_WRONG_LENGTH;
  }
  assert(data != own_data || same_places);
  const bool turn = description->order != vv_data_own_order();
  *converted = 0;
  if (same_places && !turn) {
    if (own_data != data && data_bytes > 0) memcpy(own_data, data, data_bytes);
    return VV_DATA_OK;
  }
  if (one_piece(&theirs) && one_piece(own)) {
    *converted = put(own->fields[0].type, description->count * own->fields[0].count, turn, data, own_data);
    return VV_DATA_OK;
  }
  const uint8_t *from = data;
  uint8_t *to = own_data;
  for (uint64_t record = 0; record < description->count; record++) {
    for (uint32_t i = 0; i < own->field_count; i++) {
      const struct vv_data_field *field = &own->fields[i];
      *converted +=
          put(field->type, field->count, turn, from + theirs.fields[i].offset_bytes, to + field->offset_bytes);
    }
    from += theirs.stride_bytes;
    to += own->stride_bytes;
  }
  return VV_DATA_OK;
}
