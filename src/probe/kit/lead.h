/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long before all begin at once they are told. An end that hears of it too
 * late spoils the round: then the next ones are told earlier, twice as long each
 * time that it happens, and for no other reason. A longer lead is a pause.
 */
#ifndef VV_PROBE_KIT_LEAD_H
#define VV_PROBE_KIT_LEAD_H

#include <stdint.h>

#include "io/os/clock.h"

#define VV_LEAD_NS     (3 * VV_MS)
#define VV_LEAD_NS_MAX (200 * VV_MS)

struct vv_lead {
  vv_ns ns;      /* of the last round; 0 before the first one */
  uint32_t late; /* rounds of its series that had been spoilt by then */
};

/* The lead of the next round. late: rounds of this series that somebody was late for; a new series begins at 0. */
static inline vv_ns vv_lead_next(struct vv_lead *lead, uint32_t late) {
  if (lead->ns == 0) lead->ns = VV_LEAD_NS;
  if (late > lead->late && lead->ns < VV_LEAD_NS_MAX) lead->ns *= 2;
  if (lead->ns > VV_LEAD_NS_MAX) lead->ns = VV_LEAD_NS_MAX;
  lead->late = late;
  return lead->ns;
}

#endif
