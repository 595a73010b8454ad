/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/envelope.h"

#include <string.h>

#include "core/wire/bytes.h"

enum { AT_DESTINATION = 0, AT_SOURCE = 6, AT_LENGTH = 12 };

bool vv_envelope_parse(const uint8_t *bytes, size_t count, struct vv_envelope *envelope) {
  if (count < VV_ENVELOPE_BYTES) return false;
  size_t pdu_bytes = vv_get16(bytes + AT_LENGTH), there = count - VV_ENVELOPE_BYTES;
  if (pdu_bytes == VV_ENVELOPE_TYPE_JUMBO && there > VV_FRAME_DATA_BYTES_MAX) {
    pdu_bytes = there;
  } else if (pdu_bytes > VV_FRAME_DATA_BYTES_MAX || pdu_bytes > there) {
    return false;
  }
  memcpy(envelope->destination, bytes + AT_DESTINATION, VV_MAC_BYTES);
  memcpy(envelope->source, bytes + AT_SOURCE, VV_MAC_BYTES);
  envelope->pdu = bytes + VV_ENVELOPE_BYTES;
  envelope->pdu_bytes = pdu_bytes;
  return true;
}

void vv_envelope_emit(const struct vv_envelope *envelope, uint8_t header[VV_ENVELOPE_BYTES]) {
  bool jumbo = envelope->pdu_bytes > VV_FRAME_DATA_BYTES_MAX;
  memcpy(header + AT_DESTINATION, envelope->destination, VV_MAC_BYTES);
  memcpy(header + AT_SOURCE, envelope->source, VV_MAC_BYTES);
  vv_put16(header + AT_LENGTH, jumbo ? VV_ENVELOPE_TYPE_JUMBO : (uint16_t)envelope->pdu_bytes);
}
