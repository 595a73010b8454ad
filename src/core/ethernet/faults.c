/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/faults.h"

void vv_faults_init(struct vv_faults *faults, uint64_t seed, uint32_t link) {
  /* Two steps of the generator apart from any other link's numbers: a plain sum would make them overlap. */
  struct vv_rng mixer = {.state = seed};
  struct vv_rng own = {.state = vv_rng_next(&mixer) ^ link};
  *faults = (struct vv_faults){.rng = {.state = vv_rng_next(&own)}};
}

static bool lost(struct vv_faults *faults, double turn, double luck) {
  const struct vv_faults_config *config = &faults->config;
  if (turn < (faults->bursting ? config->burst_leave : config->burst_enter)) faults->bursting = !faults->bursting;
  return luck < (faults->bursting ? config->burst_loss : config->loss);
}

static vv_ns arrival(struct vv_faults *faults, vv_ns now_ns, bool late, double how_late) {
  const struct vv_faults_config *config = &faults->config;
  vv_ns due_ns = now_ns + config->delay_ns;
  if (late) return due_ns + 1 + (vv_ns)(how_late * (double)config->reorder_ns);
  /* A delay that was made shorter does not let a frame pass those before it. */
  if (due_ns > faults->last_ns) faults->last_ns = due_ns;
  return faults->last_ns;
}

struct vv_faults_fate vv_faults_decide(struct vv_faults *faults, vv_ns now_ns) {
  const struct vv_faults_config *config = &faults->config;
  enum { BURSTS, LOST, SPOILT, REPEATED, DELAYED, HOW_LATE, DRAWS };
  double luck[DRAWS];
  for (int i = 0; i < DRAWS; i++) luck[i] = vv_rng_unit(&faults->rng);
  bool is_lost = lost(faults, luck[BURSTS], luck[LOST]);
  if (faults->cut) return (struct vv_faults_fate){.why = VV_DROP_CUT};
  if (is_lost) return (struct vv_faults_fate){.why = VV_DROP_LOSS};
  if (luck[SPOILT] < config->corrupt) return (struct vv_faults_fate){.why = VV_DROP_CORRUPT};
  return (struct vv_faults_fate){
      .copies = luck[REPEATED] < config->duplicate ? 2 : 1,
      .arrives_ns = arrival(faults, now_ns, luck[DELAYED] < config->reorder, luck[HOW_LATE]),
  };
}
