/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An Ethernet frame with a length field (IEEE 802.3-2018, clause 3.1.1), as a
 * packet socket sees it: without preamble and check sequence.
 *
 *   0 destination (6) | 6 source (6) | 12 length (2) | 14 data | pad
 *
 * The length counts the data without the pad. Real cards pad a frame to 60
 * bytes, virtual ones do not: both are frames here. A length above 1500 is no
 * length but a type (clause 3.2.6), and no frame of ours.
 */
#ifndef VV_CORE_WIRE_FRAME_H
#define VV_CORE_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_MAC_BYTES            6
#define VV_FRAME_HEADER_BYTES   14
#define VV_FRAME_BYTES_MIN      60 /* with its pad */
#define VV_FRAME_DATA_BYTES_MAX 1500

/* Bytes that hold a whole frame: the length field is a length and lies inside them. Made by vv_frame_view alone. */
struct vv_frame_view {
  const uint8_t *bytes;
};

struct vv_frame {
  uint8_t destination[VV_MAC_BYTES];
  uint8_t source[VV_MAC_BYTES];
  const uint8_t *data; /* inside the bytes that were parsed */
  size_t data_bytes;   /* <= VV_FRAME_DATA_BYTES_MAX */
};

/* True when the bytes hold a whole frame: the only check of bounds. */
bool vv_frame_view(const uint8_t *bytes, size_t count, struct vv_frame_view *view);

/* The value of a frame. */
void vv_frame_parse(struct vv_frame_view view, struct vv_frame *frame);

/* Writes the header of that frame; data_bytes of data follow it on the wire. */
void vv_frame_emit(const struct vv_frame *frame, uint8_t header[VV_FRAME_HEADER_BYTES]);

#endif
