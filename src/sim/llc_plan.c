/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/llc_plan.h"

#define MS UINT64_C(1000000)

void vv_llc_plan_init(struct vv_llc_plan *plan, uint64_t seed) {
  *plan = (struct vv_llc_plan){
      .seed = seed,
      .hosts = 2,
      .fabric = VV_FABRIC_SWITCH,
      .rate_bps = 100000000,
      .messages = 100,
      .size_bytes = 10000,
      .mtu_bytes = 1500,
      .window = 127,
      .receive_window = 127,
      .early = 128,
      .reorder_ns = MS / 2,
      .replay_ns = 100 * MS,
      .pause_ns = 50 * MS,
      .deadline_ns = 600000 * MS,
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

void vv_llc_plan_draw(struct vv_llc_plan *plan, uint64_t seed) {
  static const uint64_t sizes[] = {1, 100, 3000, 20000, 200000};
  static const uint32_t windows[] = {1, 2, 7, 32, 127}, mtus[] = {64, 600, 1500, 9000}, earlies[] = {0, 3, 30, 128};
  struct vv_rng rng = {seed};
  vv_llc_plan_init(plan, seed);
  plan->hosts = 2 + (uint32_t)below(&rng, 3);
  plan->fabric = below(&rng, 4) == 0 ? VV_FABRIC_HUB : VV_FABRIC_SWITCH;
  plan->size_bytes = sizes[below(&rng, 5)];
  plan->messages = 1 + (uint32_t)below(&rng, plan->size_bytes > 10000 ? 10 : 100);
  plan->mtu_bytes = mtus[below(&rng, 4)];
  if (plan->mtu_bytes < 100 && plan->size_bytes > 20000) plan->size_bytes = 20000;
  plan->window = windows[below(&rng, 5)];
  plan->receive_window = windows[below(&rng, 5)];
  plan->early = earlies[below(&rng, 4)];
  plan->crossing = below(&rng, 2) == 0;
  plan->loss = some(&rng, 0.1);
  plan->burst = some(&rng, 0.01);
  plan->duplicate = some(&rng, 0.1);
  plan->reorder = some(&rng, 0.1);
  plan->corrupt = some(&rng, 0.02);
  plan->replay = some(&rng, 0.05);
  plan->busy = below(&rng, 3) == 0;
  plan->resets = below(&rng, 3) == 0 ? (uint32_t)below(&rng, 8) : 0;
  plan->pauses = below(&rng, 3) == 0 ? (uint32_t)below(&rng, 4) : 0;
  plan->crash = below(&rng, 5) == 0;
  plan->restart = plan->crash && below(&rng, 2) == 0;
  plan->beyond = below(&rng, 8) == 0;
  if (plan->beyond) plan->reorder = 0.1, plan->reorder_ns = 20 * MS;
  plan->cuts = below(&rng, 3) == 0 ? 1 + (uint32_t)below(&rng, 3) : 0;
}

uint32_t vv_llc_plan_size(const struct vv_llc_plan *plan, uint32_t from, uint32_t to, uint32_t seq) {
  struct vv_rng rng = {plan->seed ^ ((uint64_t)from << 52 | (uint64_t)to << 40 | seq)};
  if (below(&rng, 2) == 0) return (uint32_t)below(&rng, plan->size_bytes < 100 ? plan->size_bytes + 1 : 100);
  return (uint32_t)below(&rng, plan->size_bytes + 1);
}
