/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/group_plan.h"

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

void vv_group_plan_init(struct vv_group_plan *plan, uint64_t seed) {
  *plan = (struct vv_group_plan){.seed = seed,
                                 .ranks = 2,
                                 .fabric = VV_FABRIC_SWITCH,
                                 .rate_bps = 100000000,
                                 .buffer_bytes = 2 * 212992,
                                 .datagram_bytes = 1472,
                                 .operations = 1,
                                 .size_bytes = 1000000,
                                 .memory_bytes = 4 << 20,
                                 .take_max = 64,
                                 .wake_ns = 20000,
                                 .pause_ns = 100 * MS,
                                 .deadline_ns = 36000 * S};
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

static void draw_faults(struct vv_group_plan *plan, struct vv_rng *rng) {
  plan->loss = chance(rng, 0.3);
  plan->correlated = chance(rng, 0.2);
  plan->burst = chance(rng, 0.02);
  plan->bad_host = chance(rng, 0.6);
  plan->reorder = chance(rng, 0.2);
  plan->duplicate = chance(rng, 0.01); /* what a credit's reserve is made for */
  plan->flip = chance(rng, 0.05);
  plan->pauses = one_in(rng, 2) ? (uint32_t)below(rng, 6) : 0;
  plan->pause_ns = one_in(rng, 4) ? 10 * S : 100 * MS;
  plan->deaf = one_in(rng, 4);
  plan->crash = one_in(rng, 6);
  plan->partition = one_in(rng, 6);
}

/* Ranks that sleep, and all else is well. */
static void spare_faults(struct vv_group_plan *plan) {
  plan->loss = plan->correlated = plan->burst = plan->bad_host = 0;
  plan->reorder = plan->duplicate = plan->flip = 0;
  plan->deaf = plan->crash = plan->partition = false;
  plan->pauses = 5;
}

bool vv_group_plan_is_faultless(const struct vv_group_plan *plan) {
  double lost = plan->loss + plan->correlated + plan->burst + plan->bad_host;
  bool spoilt = plan->reorder + plan->duplicate + plan->flip > 0;
  return lost <= 0 && !spoilt && !plan->deaf && !plan->crash && !plan->partition;
}

void vv_group_plan_draw(struct vv_group_plan *plan, uint64_t seed) {
  struct vv_rng rng = {.state = seed ^ UINT64_C(0x766f757021)};
  vv_group_plan_init(plan, seed);
  bool large = one_in(&rng, 50);
  plan->ranks = 2 + (uint32_t)below(&rng, large ? 150 : 14);
  plan->fabric = one_in(&rng, 5) ? VV_FABRIC_HUB : VV_FABRIC_SWITCH;
  plan->rate_bps = one_in(&rng, 3) ? 10000000 : 100000000;
  plan->buffer_bytes = one_in(&rng, 2) ? 212992 : 2 * 212992;
  plan->datagram_bytes = one_in(&rng, 3) ? 128 + (uint32_t)below(&rng, 1345) : 1472;
  plan->operations = 1 + (uint32_t)below(&rng, large ? 10 : 40);
  plan->size_bytes = one_in(&rng, 3) ? 1 + below(&rng, large ? 20000 : 100000) : 1 + below(&rng, 3000);
  plan->memory_bytes = one_in(&rng, 3) ? 0 : plan->memory_bytes;
  plan->mixed = true;
  plan->compute_ns = one_in(&rng, 2) ? 0 : below(&rng, 20 * MS);
  draw_faults(plan, &rng);
  plan->take_max = 1 + (uint32_t)below(&rng, 64);
  if (one_in(&rng, 8)) spare_faults(plan);
}

/* Every size class has its turn: nothing, a few bytes, anything. */
static uint64_t draw_size(struct vv_rng *rng, uint64_t most) {
  uint64_t kind = below(rng, 8);
  if (kind == 0) return 0;
  return kind <= 2 ? below(rng, most < 64 ? most + 1 : 64) : below(rng, most + 1);
}

struct vv_group_step vv_group_plan_step(const struct vv_group_plan *plan, uint32_t i) {
  struct vv_rng rng = {.state = plan->seed * UINT64_C(0x9e3779b97f4a7c15) + i};
  if (!plan->mixed) return (struct vv_group_step){0, plan->size_bytes};
  uint32_t root = (uint32_t)below(&rng, plan->ranks);
  return (struct vv_group_step){root, draw_size(&rng, plan->size_bytes)};
}
