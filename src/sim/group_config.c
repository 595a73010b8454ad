/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/group_config.h"

#include "core/group/round.h"
#include "sim/socket.h"

void vv_sim_group_config_init(struct vv_sim_group_config *config, uint64_t seed) {
  *config = (struct vv_sim_group_config){.seed = seed,
                                         .ranks = 2,
                                         .fabric = VV_LAN_SWITCH,
                                         .rate_bps = 100000000,
                                         .buffer_bytes = 2 * 212992,
                                         .datagram_bytes = 1472,
                                         .operations = 1,
                                         .size_bytes = 1000000,
                                         .memory_bytes = 4 << 20,
                                         .take_max = 64,
                                         .wake_ns = 20 * VV_US,
                                         .pause_ns = 100 * VV_MS,
                                         .deadline_ns = 36000 * VV_SEC};
}

static uint64_t below(struct vv_rng *rng, uint64_t end) {
  return vv_rng_next(rng) % end;
}

static bool one_in(struct vv_rng *rng, uint32_t n) {
  return below(rng, n) == 0;
}

/* Mostly none, else up to `most`. */
static double chance(struct vv_rng *rng, double most) {
  double share = vv_rng_unit(rng);
  return one_in(rng, 2) ? most * share * share : 0;
}

static void draw_faults(struct vv_sim_group_config *config, struct vv_rng *rng) {
  config->loss = chance(rng, 0.3);
  config->correlated = chance(rng, 0.2);
  config->burst = chance(rng, 0.02);
  config->bad_host = chance(rng, 0.6);
  config->reorder = chance(rng, 0.2);
  config->duplicate = chance(rng, 0.01); /* what a credit's reserve is made for */
  config->flip = chance(rng, 0.05);
  config->pauses = one_in(rng, 2) ? (uint32_t)below(rng, 6) : 0;
  config->pause_ns = one_in(rng, 4) ? 10 * VV_SEC : 100 * VV_MS;
  config->deaf = one_in(rng, 4);
  config->crash = one_in(rng, 6);
  config->partition = one_in(rng, 6);
}

/* Ranks that sleep, and all else is well. */
static void spare_faults(struct vv_sim_group_config *config) {
  config->loss = config->correlated = config->burst = config->bad_host = 0;
  config->reorder = config->duplicate = config->flip = 0;
  config->deaf = config->crash = config->partition = false;
  config->pauses = 5;
}

bool vv_sim_group_config_is_faultless(const struct vv_sim_group_config *config) {
  double lost = config->loss + config->correlated + config->burst + config->bad_host;
  bool spoilt = config->reorder + config->duplicate + config->flip > 0;
  return lost <= 0 && !spoilt && !config->deaf && !config->crash && !config->partition;
}

void vv_sim_group_config_draw(struct vv_sim_group_config *config, uint64_t seed) {
  struct vv_rng rng = {.state = seed ^ UINT64_C(0x766f757021)};
  vv_sim_group_config_init(config, seed);
  bool large = one_in(&rng, 50);
  config->ranks = 2 + (uint32_t)below(&rng, large ? 150 : 14);
  config->fabric = one_in(&rng, 5) ? VV_LAN_HUB : VV_LAN_SWITCH;
  config->rate_bps = one_in(&rng, 3) ? 10000000 : 100000000;
  config->buffer_bytes = one_in(&rng, 2) ? 212992 : 2 * 212992;
  config->datagram_bytes = one_in(&rng, 3) ? 128 + (uint32_t)below(&rng, 1345) : 1472;
  config->operations = 1 + (uint32_t)below(&rng, large ? 10 : 40);
  config->size_bytes = one_in(&rng, 3) ? 1 + below(&rng, large ? 20000 : 100000) : 1 + below(&rng, 3000);
  config->memory_bytes = one_in(&rng, 3) ? 0 : config->memory_bytes;
  config->mixed = true;
  config->compute_ns = one_in(&rng, 2) ? 0 : below(&rng, 20 * VV_MS);
  draw_faults(config, &rng);
  config->take_max = 1 + (uint32_t)below(&rng, 64);
  if (one_in(&rng, 8)) spare_faults(config);
  config->untold = one_in(&rng, 2);
  config->rounds = one_in(&rng, 2) && vv_sim_group_config_has_rounds(config);
}

/* Every size class has its turn: nothing, a few bytes, anything. */
static uint64_t draw_size(struct vv_rng *rng, uint64_t most) {
  uint64_t kind = below(rng, 8);
  if (kind == 0) return 0;
  return kind <= 2 ? below(rng, most < 64 ? most + 1 : 64) : below(rng, most + 1);
}

static struct vv_rng luck_of(const struct vv_sim_group_config *config, uint32_t i) {
  return (struct vv_rng){.state = config->seed * UINT64_C(0x9e3779b97f4a7c15) + i};
}

static uint64_t round_bytes(const struct vv_sim_group_config *config, uint32_t i) {
  uint64_t sum = 0;
  for (uint32_t rank = 0; rank < config->ranks; rank++) sum += vv_sim_group_config_part_bytes(config, i, rank);
  return sum;
}

struct vv_sim_group_step vv_sim_group_config_step(const struct vv_sim_group_config *config, uint32_t i) {
  struct vv_rng rng = luck_of(config, i);
  uint32_t root = config->mixed ? (uint32_t)below(&rng, config->ranks) : 0;
  uint64_t size_bytes = config->mixed ? draw_size(&rng, config->size_bytes) : config->size_bytes;
  if (config->rounds && (!config->mixed || one_in(&rng, 2))) {
    return (struct vv_sim_group_step){0, round_bytes(config, i), true};
  }
  return (struct vv_sim_group_step){root, size_bytes, false};
}

size_t vv_sim_group_config_part_bytes(const struct vv_sim_group_config *config, uint32_t i, uint32_t rank) {
  uint64_t most = vv_group_round_part_bytes(config->datagram_bytes);
  struct vv_rng rng = luck_of(config, i);
  if (config->size_bytes < most) most = config->size_bytes;
  rng.state ^= (uint64_t)(rank + 1) << 32;
  return config->mixed ? draw_size(&rng, most) : most;
}

uint32_t vv_sim_group_config_window(const struct vv_sim_group_config *config) {
  return vv_credit_datagrams(config->buffer_bytes, vv_sim_charge_bytes(config->datagram_bytes));
}

bool vv_sim_group_config_has_rounds(const struct vv_sim_group_config *config) {
  return vv_group_round_possible(config->ranks, vv_sim_group_config_window(config));
}
