/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands before the data in the I PDUs of our stations, and alone in their
 * S PDUs, so that no PDU is taken for another (network byte order):
 *
 *   0 epoch (1) | 1 round (1) | 2 enquiry (1)                   every S PDU
 *   0 epoch (1) | 1 round (1) | 2 number (4) | data             every I PDU
 *   ... 6 nonce (4) | 10 message bytes (4) | data               the first of a message
 *
 * The epoch is renewed by each set-up and reset of the link. The round is how
 * often N(R) has begun anew at 0 in this epoch, so that an old one is known. The
 * number counts the I PDUs of the link in one direction and goes on over resets.
 * Which of the two an I PDU is follows from what came before it. With the
 * headers of Ethernet and LLC the data begin at a multiple of 8.
 *
 * The enquiry is that of a command with P = 1, and again that of its answer: who
 * asks more than once knows which of its I PDUs had gone when it asked. 0 is in
 * the answer to an I PDU with P = 1, and in every S PDU that is neither.
 *
 * S PDUs have no information in the standard: ours have, because an N(R) so late
 * that it is of another epoch or round would acknowledge what never arrived.
 */
#ifndef VV_CORE_WIRE_SEGMENT_H
#define VV_CORE_WIRE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_SEGMENT_BYTES_MIN 3  /* of the marks of an S PDU */
#define VV_SEGMENT_BYTES     6  /* of the marks of an I PDU */
#define VV_SEGMENT_BYTES_MAX 14 /* of those of a message's first */

struct vv_segment {
  uint8_t epoch;
  uint8_t round;
  uint8_t enquiry;        /* of an S PDU */
  uint32_t number;        /* of an I PDU */
  uint32_t nonce;         /* of the first of a message */
  uint32_t message_bytes; /* likewise */
};

/* Epoch, round and enquiry: what an S PDU has. False, and nothing set, when that is not what there is. */
bool vv_segment_parse_least(const uint8_t *bytes, size_t count, struct vv_segment *segment);
/* Epoch, round and number. False, and nothing set, when there are not enough bytes. */
bool vv_segment_parse(const uint8_t *bytes, size_t count, struct vv_segment *segment);
/* The rest of a first one. False, and nothing set, when there are not enough bytes. */
bool vv_segment_parse_first(const uint8_t *bytes, size_t count, struct vv_segment *segment);
/* Writes the marks of an S PDU. */
void vv_segment_emit_least(const struct vv_segment *segment, uint8_t marks[VV_SEGMENT_BYTES_MIN]);
/* Writes the marks of an I PDU and tells how many bytes they are. */
size_t vv_segment_emit(const struct vv_segment *segment, bool first, uint8_t marks[VV_SEGMENT_BYTES_MAX]);

#endif
