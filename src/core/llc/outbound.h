/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of a link, made of its variables at the moment when they are taken. */
#ifndef VV_CORE_LLC_OUTBOUND_H
#define VV_CORE_LLC_OUTBOUND_H

#include <stdint.h>

#include "core/base/time.h"
#include "core/llc/state.h"

/* That control PDU. */
void vv_llc_outbound_control(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_llc_owed owed,
                             struct vv_llc_station_frame *frame);

/* The I PDU with N(S) = V(S); V(S) := V(S) + 1. */
void vv_llc_outbound_i(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                       struct vv_llc_station_frame *frame);

#endif
