/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What our stations say to each other in a TEST command before a SABME, which
 * carries no information of its own (network byte order):
 *
 *   0 "vaiven" (6) | 6 version (2) | 8 nonce (4) | 12 incarnation (4) | 16 epoch (1)
 *   17 window (1)
 *
 * A TEST response returns it (ISO/IEC 8802-2:1998, clause 5.4.1.1.3), so who
 * gets its own back knows that the peer has read it.
 */
#ifndef VV_CORE_WIRE_ANNOUNCEMENT_H
#define VV_CORE_WIRE_ANNOUNCEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_ANNOUNCEMENT_BYTES   18
#define VV_ANNOUNCEMENT_VERSION 1

struct vv_announcement {
  uint32_t nonce;       /* of the job */
  uint32_t incarnation; /* of the process, and the number of its first I PDU */
  uint8_t epoch;        /* of the link from the SABME on */
  uint8_t window;       /* its sender's receive window, 1 to 127; an XID tells the other's */
};

/* False, and nothing set, when the bytes are something else or another version. */
bool vv_announcement_parse(const uint8_t *bytes, size_t count, struct vv_announcement *announcement);
void vv_announcement_emit(const struct vv_announcement *announcement, uint8_t bytes[VV_ANNOUNCEMENT_BYTES]);

#endif
