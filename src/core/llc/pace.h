/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * T1, from the round trips of a link: mean and deviation as RFC 6298 has them,
 * never less than twice the last one, for a window that opens doubles the queue;
 * and doubled for every try without an answer.
 */
#ifndef VV_CORE_LLC_PACE_H
#define VV_CORE_LLC_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"

struct vv_llc_pace {
  vv_ns ns_min, ns_max; /* T1 stays between them */
  vv_ns slack_ns;       /* the peer may hold an acknowledgement for so long */
  vv_ns mean_ns;        /* 0: nothing measured yet */
  vv_ns deviation_ns;
  vv_ns last_ns;
  vv_ns least_ns; /* of all, forgotten slowly */
};

void vv_llc_pace_init(struct vv_llc_pace *pace, vv_ns ns_min, vv_ns ns_max, vv_ns slack_ns);
/* A round trip was measured: of a PDU that was sent once (Karn). */
void vv_llc_pace_measured(struct vv_llc_pace *pace, vv_ns round_trip_ns);
/*
 * True when most of the round trip is spent in queues: more under way would only
 * make them longer. Two shortest T1 are no queue yet: hosts sleep that long.
 */
bool vv_llc_pace_is_queueing(const struct vv_llc_pace *pace);
/* T1 after so many tries without an answer. */
vv_ns vv_llc_pace_t1_ns(const struct vv_llc_pace *pace, uint32_t tries);

#endif
