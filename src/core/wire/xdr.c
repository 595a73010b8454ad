/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/xdr.h"

#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/turn.h"

#define UNIT 4 /* every item is a multiple of it (RFC 4506, section 3) */

static size_t padded(size_t bytes) {
  return (bytes + UNIT - 1) / UNIT * UNIT;
}

/* Bytes of one piece of a number on the wire, and pieces of the field: a complex number is two. */
static size_t pieces(const struct vv_data_field *field, size_t *piece_bytes) {
  const bool complex = field->type == VV_DATA_COMPLEX_FLOAT || field->type == VV_DATA_COMPLEX_DOUBLE;
  const size_t own_bytes = vv_data_type_bytes(field->type) / (complex ? 2 : 1);
  *piece_bytes = padded(own_bytes);
  return (size_t)field->count * (complex ? 2 : 1);
}

static size_t field_bytes(const struct vv_data_field *field) {
  if (field->type == VV_DATA_CHAR) return padded(field->count);
  size_t piece_bytes;
  const size_t count = pieces(field, &piece_bytes);
  return count * piece_bytes;
}

size_t vv_xdr_bytes(const struct vv_data_layout *layout) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < layout->field_count; i++) bytes += field_bytes(&layout->fields[i]);
  return bytes;
}

/* Numbers that are as long in memory as on the wire, either way: big-endian machines only copy. */
static void whole(const struct vv_data_field *field, const uint8_t *from, uint8_t *to) {
  size_t piece_bytes;
  const size_t count = pieces(field, &piece_bytes);
  if (vv_data_own_order() == VV_DATA_BIG_ENDIAN)
    memcpy(to, from, count * piece_bytes);
  else
    vv_turn(to, from, piece_bytes, count);
}

static uint32_t widened(enum vv_data_type type, const uint8_t *at) {
  int16_t i16;
  uint16_t u16;
  switch (type) {
  case VV_DATA_INT8:
    return (uint32_t)(int8_t)*at;
  case VV_DATA_INT16:
    memcpy(&i16, at, sizeof i16);
    return (uint32_t)i16;
  case VV_DATA_UINT16:
    memcpy(&u16, at, sizeof u16);
    return u16;
  default:
    return *at;
  }
}

/* The integer of fewer than 4 bytes that has that value; false: there is none. */
static bool narrowed(enum vv_data_type type, uint32_t value, uint8_t *at) {
  if (vv_data_type_bytes(type) == 2) {
    const uint16_t low = (uint16_t)value;
    memcpy(at, &low, sizeof low);
  } else {
    *at = (uint8_t)value;
  }
  return widened(type, at) == value;
}

static bool is_narrow(enum vv_data_type type) {
  return type != VV_DATA_CHAR && vv_data_type_bytes(type) < UNIT;
}

static void encode_field(const struct vv_data_field *field, const uint8_t *data, uint8_t *xdr) {
  if (field->type == VV_DATA_CHAR) {
    memcpy(xdr, data, field->count);
    memset(xdr + field->count, 0, padded(field->count) - field->count);
  } else if (is_narrow(field->type)) {
    const size_t own_bytes = vv_data_type_bytes(field->type);
    for (uint32_t i = 0; i < field->count; i++) vv_put32(xdr + UNIT * i, widened(field->type, data + own_bytes * i));
  } else {
    whole(field, data, xdr);
  }
}

static bool decode_field(const struct vv_data_field *field, const uint8_t *xdr, uint8_t *data) {
  if (field->type == VV_DATA_CHAR) {
    memcpy(data, xdr, field->count);
    for (size_t i = field->count; i < padded(field->count); i++) {
      if (xdr[i] != 0) return false;
    }
  } else if (is_narrow(field->type)) {
    const size_t own_bytes = vv_data_type_bytes(field->type);
    for (uint32_t i = 0; i < field->count; i++) {
      if (!narrowed(field->type, vv_get32(xdr + UNIT * i), data + own_bytes * i)) return false;
    }
  } else {
    whole(field, xdr, data);
  }
  return true;
}

void vv_xdr_encode(const struct vv_data_layout *layout, const void *data, size_t count, uint8_t *xdr) {
  const uint8_t *from = data;
  for (size_t record = 0; record < count; record++, from += layout->stride_bytes) {
    for (uint32_t i = 0; i < layout->field_count; i++) {
      encode_field(&layout->fields[i], from + layout->fields[i].offset_bytes, xdr);
      xdr += field_bytes(&layout->fields[i]);
    }
  }
}

bool vv_xdr_decode(const struct vv_data_layout *layout, const uint8_t *xdr, size_t count, void *data) {
  uint8_t *to = data;
  for (size_t record = 0; record < count; record++, to += layout->stride_bytes) {
    for (uint32_t i = 0; i < layout->field_count; i++) {
      if (!decode_field(&layout->fields[i], xdr, to + layout->fields[i].offset_bytes)) return false;
      xdr += field_bytes(&layout->fields[i]);
    }
  }
  return true;
}
