/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective operation among simulated ranks: each carries out its schedule, and
 * whatever may happen next happens in an order drawn from the seed. A sender's bytes are
 * read at any time until its step is done, a receiver's written at any time after its
 * step began, so a step that comes too early spoils what another one needs. The result
 * is held against a sequential one, bit for bit.
 */
#ifndef VV_SIM_COLL_WORLD_H
#define VV_SIM_COLL_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/coll_config.h"
#include "sim/seeds.h"

/* What the operation took; of bytes and steps those of the rank that has most. */
struct vv_sim_coll_world_result {
  uint32_t steps_max;
  uint64_t casts, messages;
  uint64_t sent_bytes_max, taken_bytes_max, scratch_bytes_max;
};

/* Carries the operation out. False, and what was wrong: a wrong result, a step out of bounds, ranks that wait for ever.
 */
bool vv_sim_coll_world_run(const struct vv_sim_coll_config *config, struct vv_sim_coll_world_result *result,
                           char wrong[VV_SIM_SEEDS_WRONG_BYTES]);

#endif
