/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message of the eth stack in the UI PDUs that carry it: fragment `index` of
 * `count`, all but the last one full. In network byte order:
 *
 *   0 launch (4) | 4 end (4) | 8 message (4) | 12 index (2) | 14 count (2) | 16 data
 *
 * `launch` and `end` lead, at the same place in every frame, so that a socket
 * filter can drop what is not ours before it costs anything: two launches on
 * one wire never mix, nor do an end and its successor.
 */
#ifndef VV_CORE_WIRE_FRAGMENT_H
#define VV_CORE_WIRE_FRAGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/frame.h"
#include "core/wire/lpdu.h"

#define VV_FRAGMENT_HEADER_BYTES 16
#define VV_FRAGMENT_MTU_MIN      68 /* of IP, and of every interface of Linux */

/* What the data of a frame hold besides the message. */
#define VV_FRAGMENT_OVERHEAD_BYTES (VV_LPDU_HEADER_BYTES + VV_FRAGMENT_HEADER_BYTES)

#define VV_FRAGMENTED_BYTES_MAX (1u << 20) /* the largest message */
#define VV_FRAGMENTS_MAX                                                                                               \
  ((VV_FRAGMENTED_BYTES_MAX - 1) / (VV_FRAGMENT_MTU_MIN - VV_FRAGMENT_OVERHEAD_BYTES) + 1) /* of such a message */

struct vv_fragment_view {
  const uint8_t *bytes;
  size_t count;
};

struct vv_fragment {
  uint32_t launch;  /* which launch */
  uint32_t end;     /* which end of it this is for */
  uint32_t message; /* number of the message; of two, the later one is ahead by less than 2^31 */
  uint16_t index;   /* < count */
  uint16_t count;   /* >= 1 */
  const uint8_t *data;
  size_t data_bytes;
};

/* Message bytes in a full frame of an interface of that MTU (>= VV_FRAGMENT_MTU_MIN; above 1500 there is no length
 * field). */
size_t vv_fragment_unit(size_t mtu_bytes);
/* How many fragments a message becomes: at least one. */
size_t vv_fragment_count(size_t size_bytes, size_t unit_bytes);

/* True when the bytes hold a header: the only check of bounds. */
bool vv_fragment_view(const uint8_t *bytes, size_t count, struct vv_fragment_view *view);
/* The value. False, and nothing set, when index and count cannot be. */
bool vv_fragment_parse(struct vv_fragment_view view, struct vv_fragment *fragment);
/* Writes the header of that fragment; data_bytes of data follow it. */
void vv_fragment_emit(const struct vv_fragment *fragment, uint8_t header[VV_FRAGMENT_HEADER_BYTES]);

#endif
