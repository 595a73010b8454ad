/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/llc_config.h"

void vv_sim_llc_config_init(struct vv_sim_llc_config *config, uint64_t seed) {
  *config = (struct vv_sim_llc_config){
      .seed = seed,
      .hosts = 2,
      .fabric = VV_LAN_SWITCH,
      .rate_bps = 100000000,
      .messages = 100,
      .size_bytes = 10000,
      .mtu_bytes = 1500,
      .window = 127,
      .receive_window = 127,
      .early = 128,
      .reorder_ns = VV_MS / 2,
      .replay_ns = 100 * VV_MS,
      .pause_ns = 50 * VV_MS,
      .deadline_ns = 600 * VV_SEC,
  };
}

static uint64_t below(struct vv_rng *rng, uint64_t end) {
  return vv_rng_next(rng) % end;
}

/* A probability up to `most`, or, mostly, none. */
static double some(struct vv_rng *rng, double most) {
  double value = vv_rng_unit(rng) * most;
  return below(rng, 3) == 0 ? value : 0;
}

void vv_sim_llc_config_draw(struct vv_sim_llc_config *config, uint64_t seed) {
  static const uint64_t sizes[] = {1, 100, 3000, 20000, 200000};
  static const uint32_t windows[] = {1, 2, 7, 32, 127}, mtus[] = {64, 600, 1500, 9000}, earlies[] = {0, 3, 30, 128};
  struct vv_rng rng = {seed};
  vv_sim_llc_config_init(config, seed);
  config->hosts = 2 + (uint32_t)below(&rng, 3);
  config->fabric = below(&rng, 4) == 0 ? VV_LAN_HUB : VV_LAN_SWITCH;
  config->size_bytes = sizes[below(&rng, 5)];
  config->messages = 1 + (uint32_t)below(&rng, config->size_bytes > 10000 ? 10 : 100);
  config->mtu_bytes = mtus[below(&rng, 4)];
  if (config->mtu_bytes < 100 && config->size_bytes > 20000) config->size_bytes = 20000;
  config->window = windows[below(&rng, 5)];
  config->receive_window = windows[below(&rng, 5)];
  config->early = earlies[below(&rng, 4)];
  config->crossing = below(&rng, 2) == 0;
  config->loss = some(&rng, 0.1);
  config->burst = some(&rng, 0.01);
  config->duplicate = some(&rng, 0.1);
  config->reorder = some(&rng, 0.1);
  config->corrupt = some(&rng, 0.02);
  config->replay = some(&rng, 0.05);
  config->busy = below(&rng, 3) == 0;
  config->resets = below(&rng, 3) == 0 ? (uint32_t)below(&rng, 8) : 0;
  config->pauses = below(&rng, 3) == 0 ? (uint32_t)below(&rng, 4) : 0;
  if (below(&rng, 4) == 0) config->pause_ns = VV_SEC;
  if (below(&rng, 4) == 0) config->slow_ns = below(&rng, 100) * VV_MS;
  config->crash = below(&rng, 5) == 0;
  config->restart = config->crash && below(&rng, 2) == 0;
  config->beyond = below(&rng, 8) == 0;
  if (config->beyond) config->reorder = 0.1, config->reorder_ns = 20 * VV_MS;
  config->cuts = below(&rng, 3) == 0 ? 1 + (uint32_t)below(&rng, 3) : 0;
  config->patient = !config->crash && config->cuts == 0 && below(&rng, 2) == 0;
}

uint32_t vv_sim_llc_config_size(const struct vv_sim_llc_config *config, uint32_t from, uint32_t to, uint32_t seq) {
  struct vv_rng rng = {config->seed ^ ((uint64_t)from << 52 | (uint64_t)to << 40 | seq)};
  if (below(&rng, 2) == 0) return (uint32_t)below(&rng, config->size_bytes < 100 ? config->size_bytes + 1 : 100);
  return (uint32_t)below(&rng, config->size_bytes + 1);
}
