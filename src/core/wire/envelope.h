/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An LLC PDU in an Ethernet frame, in either of two ways:
 *
 *   length field (IEEE 802.3-2018, clause 3.2.6; core/wire/frame.h): up to 1500 bytes
 *   EtherType 0x8870 (IEEE 802.1AC-2016/Cor 1-2018): more than 1500 bytes. No
 *     length is told, so the PDU is all there is, and a pad could not be told
 *     from it; frames that long have none.
 */
#ifndef VV_CORE_WIRE_ENVELOPE_H
#define VV_CORE_WIRE_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/frame.h"

#define VV_ENVELOPE_BYTES         VV_FRAME_HEADER_BYTES
#define VV_ENVELOPE_TYPE_JUMBO    0x8870
#define VV_ENVELOPE_PDU_BYTES_MAX 9216 /* what jumbo frames are taken to carry; no standard says */

struct vv_envelope {
  uint8_t destination[VV_MAC_BYTES];
  uint8_t source[VV_MAC_BYTES];
  const uint8_t *pdu; /* inside the bytes that were parsed */
  size_t pdu_bytes;
};

/* The PDU of a frame. False, and nothing set, when the bytes are no such frame: the only check of bounds. */
bool vv_envelope_parse(const uint8_t *bytes, size_t count, struct vv_envelope *envelope);

/* Writes the header of that frame: the way follows from pdu_bytes. */
void vv_envelope_emit(const struct vv_envelope *envelope, uint8_t header[VV_ENVELOPE_BYTES]);

#endif
