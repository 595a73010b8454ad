/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is due on a link: timers that run out, and, after anything happened, the
 * questions that the machine asked its user, a busy condition that begins or
 * ends, the next alarm, the queues of the station. Every public call that touched
 * a link ends with vv_llc_turn_settle, and nothing else calls it.
 */
#ifndef VV_CORE_LLC_TURN_H
#define VV_CORE_LLC_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/llc/state.h"

/* Whatever timer is due. */
void vv_llc_turn_expire(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns);

/* After anything happened to a link. */
void vv_llc_turn_settle(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns);

/* The next frame of the link, control PDUs before I PDUs: false when it has none to send now. */
bool vv_llc_turn_frame(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                       struct vv_llc_station_frame *frame);

#endif
