/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stations of `llc` on a simulated LAN, from the first connection until every
 * link has been ended. It watches what must always hold:
 *
 *   - messages are those that were sent, whole, once, in order (each host looks
 *     itself), and one that is acknowledged has been taken;
 *   - no more I PDUs are unacknowledged than the window allows, ours and the peer's;
 *   - no link ends unless it was asked to, its peer died, its cable was cut, or
 *     frames are later than the stations were told;
 *   - where cables were cut, all has been taken in the end;
 *   - when a link ends, both ends are told;
 *   - everything ends by the deadline.
 */
#ifndef VV_SIM_LLC_WORLD_H
#define VV_SIM_LLC_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/ethernet/lan.h"
#include "sim/llc_config.h"
#include "sim/llc_host.h"

struct vv_sim_llc_result {
  vv_ns elapsed_ns;
  uint64_t payload_bytes;
  struct vv_llc_station_counts counts; /* of all stations */
};

/* Runs the config to its end: false, and what was wrong, when something was. */
bool vv_sim_llc_world_run(const struct vv_sim_llc_config *config, struct vv_sim_llc_result *result, char wrong[200]);

#endif
