/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct translation: numbers travel between unlike machines as they lie in
 * memory, with a descriptor of their types and of the sender's representation.
 * The receiver makes them right, and only if its own representation differs:
 * no conversion between equal machines, one between unlike ones, also when one
 * broadcast reaches both kinds (paper A, section C.3: docs/papers.md; a common
 * format such as XDR converts twice).
 *
 * Big-endian means that the most significant byte of a number comes first in
 * memory, little-endian that the least significant one does. Floating-point
 * numbers are IEEE 754 binary32 and binary64 with the byte order of integers;
 * integers are two's complement. Every bit pattern arrives: payloads of NaN,
 * -0 and infinities. Characters are bytes; nobody translates between alphabets.
 *
 *   struct body { double at[3]; int32_t id; char name[12]; };
 *   const struct vv_data_field fields[] = {
 *     { VV_DATA_DOUBLE, 3, offsetof(struct body, at) },
 *     { VV_DATA_INT32, 1, offsetof(struct body, id) },
 *     { VV_DATA_CHAR, 12, offsetof(struct body, name) },
 *   };
 *   const struct vv_data_layout layout = { sizeof(struct body), 3, fields };
 *
 *   sender    size = vv_data_describe(&layout, 1000, descriptor);   sends descriptor and 1000 bodies
 *   receiver  vv_data_parse(descriptor, size, &description);
 *             vv_data_take(&description, received, received_bytes, &layout, bodies, sizeof bodies, &converted);
 *
 * The receiver names its own layout: its compiler may have put the fields
 * elsewhere. Types, counts and order of the fields must be those of the sender.
 * Nothing here allocates, keeps a pointer or knows a network.
 */
#ifndef VAIVEN_DATA_H
#define VAIVEN_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vv_data_type {
  VV_DATA_CHAR = 1,
  VV_DATA_INT8,
  VV_DATA_UINT8,
  VV_DATA_INT16,
  VV_DATA_UINT16,
  VV_DATA_INT32,
  VV_DATA_UINT32,
  VV_DATA_INT64,
  VV_DATA_UINT64,
  VV_DATA_FLOAT,          /* binary32 */
  VV_DATA_DOUBLE,         /* binary64 */
  VV_DATA_COMPLEX_FLOAT,  /* a pair of binary32: real, imaginary */
  VV_DATA_COMPLEX_DOUBLE, /* a pair of binary64 */
};

/* The values are what a descriptor carries. */
enum vv_data_order {
  VV_DATA_LITTLE_ENDIAN = 1, /* least significant byte first: x86_64, aarch64 */
  VV_DATA_BIG_ENDIAN = 2,    /* most significant byte first: s390x */
};

/* `count` numbers of one type, one after the other, beginning `offset_bytes` into the record. */
struct vv_data_field {
  enum vv_data_type type;
  uint32_t count;
  uint32_t offset_bytes;
};

#define VV_DATA_FIELDS_MAX 64

/*
 * A record: an array of them follows itself every stride_bytes. A plain array of
 * doubles is the layout of one field of one double. Valid when there are 1 to
 * VV_DATA_FIELDS_MAX fields of known types with count >= 1, in the order of
 * their offsets, inside the stride, none over another.
 */
struct vv_data_layout {
  uint32_t stride_bytes;
  uint32_t field_count;
  const struct vv_data_field *fields;
};

#define VV_DATA_HEADER_BYTES         18
#define VV_DATA_FIELD_BYTES          9
#define VV_DATA_DESCRIPTOR_BYTES_MAX (VV_DATA_HEADER_BYTES + VV_DATA_FIELDS_MAX * VV_DATA_FIELD_BYTES)

/* What a descriptor says. Self-contained: it keeps no pointer to the bytes. */
struct vv_data_description {
  enum vv_data_order order;
  uint64_t count; /* records */
  uint32_t stride_bytes;
  uint32_t field_count;
  struct vv_data_field fields[VV_DATA_FIELDS_MAX];
};

enum vv_data_result {
  VV_DATA_OK = 0,
  VV_DATA_NO_DESCRIPTOR, /* the bytes are no descriptor, of a newer version, or damaged */
  VV_DATA_OTHER_FIELDS,  /* sender and receiver do not mean the same record */
  VV_DATA_WRONG_LENGTH,  /* the data are not `count` records, or do not fit into the receiver's room */
};

/* The byte order of this machine. */
enum vv_data_order vv_data_own_order(void);

/* Bytes of one number of that type; 0: there is no such type. */
size_t vv_data_type_bytes(enum vv_data_type type);

/* Whether that layout is valid, as its struct says. */
bool vv_data_layout_valid(const struct vv_data_layout *layout);

/*
 * Writes the descriptor of `count` records of that valid layout in this
 * machine's representation; returns its bytes:
 *
 *   0 "vd" | 2 version 1 (1) | 3 order (1) | 4 field count (2) | 6 stride (4) | 10 count (8)
 *   18 and every 9: type (1) | count (4) | offset (4)
 *
 * Its own numbers are big-endian.
 */
size_t vv_data_describe(const struct vv_data_layout *layout, uint64_t count,
                        uint8_t descriptor[VV_DATA_DESCRIPTOR_BYTES_MAX]);

/* Reads a descriptor of exactly `size` bytes; what it describes is valid. VV_DATA_OK or VV_DATA_NO_DESCRIPTOR. */
enum vv_data_result vv_data_parse(const uint8_t *descriptor, size_t size, struct vv_data_description *description);

/*
 * Puts the received data into the receiver's own records. Numbers are converted
 * if the orders differ, moved if the layouts do; else the data are copied whole.
 * `own_data` may be `data` itself where the layouts are equal: then equal
 * machines touch nothing. Bytes between the fields are not a part of the value:
 * they may come over or stay.
 *
 * *converted: how many numbers had their bytes turned (a complex one counts as
 * one, a number of one byte never). VV_DATA_OK, VV_DATA_OTHER_FIELDS or
 * VV_DATA_WRONG_LENGTH; after those own_data is as it was.
 */
enum vv_data_result vv_data_take(const struct vv_data_description *description, const void *data, size_t data_bytes,
                                 const struct vv_data_layout *own, void *own_data, size_t own_bytes,
                                 uint64_t *converted);

#ifdef __cplusplus
}
#endif

#endif
