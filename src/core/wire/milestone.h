/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers on a road between two ranks (core/road/road.h):
 *
 *   kind (1) 0 (7) | label, number or bytes (8) | size (8)
 *
 * All numbers are in network byte order.
 */
#ifndef VV_CORE_WIRE_MILESTONE_H
#define VV_CORE_WIRE_MILESTONE_H

#include <stdbool.h>
#include <stdint.h>

#define VV_MILESTONE_BYTES 24

enum vv_milestone_kind {
  VV_MILESTONE_EAGER = 'e',
  VV_MILESTONE_OFFER = 'o',
  VV_MILESTONE_GO = 'g',
  VV_MILESTONE_DATA = 'd',
  VV_MILESTONE_CREDIT = 'c',
};

struct vv_milestone {
  enum vv_milestone_kind kind;
  uint64_t what; /* label of EAGER and OFFER, number of GO and DATA, bytes of CREDIT */
  uint64_t size_bytes;
};

void vv_milestone_emit(const struct vv_milestone *milestone, uint8_t bytes[VV_MILESTONE_BYTES]);

/* False, and nothing set, when no header is like that. */
bool vv_milestone_parse(const uint8_t bytes[VV_MILESTONE_BYTES], struct vv_milestone *milestone);

#endif
