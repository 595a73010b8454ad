/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a PDU that came on a link means: which event of the table it is. Here it
 * is found out whether an I PDU is the next one, whether an N(R) is valid, late
 * or impossible, and what is from before and must not count.
 */
#ifndef VV_CORE_LLC_INBOUND_H
#define VV_CORE_LLC_INBOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/llc/state.h"

/* A type 2 PDU from the peer of a link, to us. */
void vv_llc_inbound_take(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                         const struct vv_lpdu *pdu);

/*
 * The place of an I PDU that came early and has something to tell now: it is the
 * next one, or it shows that another is missing and was not asked for yet.
 * VV_LLC_NO_EARLY: there is none.
 */
uint32_t vv_llc_inbound_early(struct vv_llc_station *station, struct vv_llc_link *link);

/* Takes that one as if it came now. False: there is none. */
bool vv_llc_inbound_resume(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns);

#endif
