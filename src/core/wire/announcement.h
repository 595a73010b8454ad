/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What our stations say to each other in a TEST command before a SABME, which
 * carries no information of its own (network byte order):
 *
 *   0 "vaiven" (6) | 6 version (2) | 8 nonce (4) | 12 incarnation (4) | 16 peer (4)
 *   20 epoch (1) | 21 window (1) | 22 talked (1)
 *
 * Who takes the call answers with an announcement of his own in the TEST
 * response, of the same epoch, in which the two ends have changed places. A
 * response with the same information (ISO/IEC 8802-2:1998, clause 5.4.1.1.3) is
 * from somebody who does not take it (core/llc/greeting.h).
 */
#ifndef VV_CORE_WIRE_ANNOUNCEMENT_H
#define VV_CORE_WIRE_ANNOUNCEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_ANNOUNCEMENT_BYTES   23
#define VV_ANNOUNCEMENT_VERSION 2

struct vv_announcement {
  uint32_t nonce;       /* of the job */
  uint32_t incarnation; /* of the link at its sender's end, and the number of the first I PDU on it; not 0 */
  uint32_t peer;        /* of the link at the other end that is meant; 0: whatever there is, or will be */
  uint8_t epoch;        /* of the link from the SABME on */
  uint8_t window;       /* its sender's receive window, 1 to 127; an XID tells the other's */
  bool talked;          /* its sender has been up with the other before: PDUs of then may be under way */
};

/* False, and nothing set, when the bytes are something else, another version, or of no link. */
bool vv_announcement_parse(const uint8_t *bytes, size_t count, struct vv_announcement *announcement);
void vv_announcement_emit(const struct vv_announcement *announcement, uint8_t bytes[VV_ANNOUNCEMENT_BYTES]);

#endif
