/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a link: made when they are taken, one at a time, control PDUs before I PDUs. */
#ifndef VV_CORE_LLC_OUTBOUND_H
#define VV_CORE_LLC_OUTBOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/llc/link.h"

struct vv_llc_station_frame;

/* The next frame of the link: false when it has none to send now. */
bool vv_llc_outbound_next(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns,
                          struct vv_llc_station_frame *frame);

/* The I PDU with N(S) = V(S), into the frame of the cause: the action SEND_I. */
void vv_llc_outbound_i(struct vv_llc_link *link, const struct vv_llc_link_cause *cause);

#endif
