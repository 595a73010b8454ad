/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams of a trial, by which the ranks of a job find out how they reach each
 * other (io/job/reach.h):
 *
 *   0 kind (1) | 1 stream (3) | 4 number (4) | 8 tag (8) | padding to a full datagram
 *
 * The number counts the datagrams of a train. Behind a train goes its tail, without padding and to the other socket:
 * VV_TRIAL_TAIL and the sender's rank.
 *
 * The tag is SipHash-2-4 of what is before it, under the session's key. The first
 * four bytes are as those of a PDU of group (core/wire/gpdu.h), of a kind that no
 * PDU has: one socket filter lets both in.
 */
#ifndef VV_CORE_WIRE_TRIAL_H
#define VV_CORE_WIRE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "core/wire/gpdu.h"

#define VV_TRIAL_KIND  (VV_GPDU_HEAD - 1)
#define VV_TRIAL_BYTES 16       /* without the padding */
#define VV_TRIAL_TAIL  0x10000u /* no train is so long */

void vv_trial_emit(const uint8_t key[VV_KEY_BYTES], uint32_t stream, uint32_t number, uint8_t bytes[VV_TRIAL_BYTES]);

/* True when it is one of this job and stream, with padding or without: then its number is set. */
bool vv_trial_parse(const uint8_t key[VV_KEY_BYTES], uint32_t stream, const uint8_t *bytes, size_t count,
                    uint32_t *number);

#endif
