/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/faults.h"

void vv_faults_init(struct vv_faults *faults, uint64_t seed, uint32_t link) {
  /* Two steps of the generator apart from any other link's numbers: a plain sum would make them overlap. */
  struct vv_rng mixer = {.state = seed};
  struct vv_rng own = {.state = vv_rng_next(&mixer) ^ link};
  *faults = (struct vv_faults){.rng = {.state = vv_rng_next(&own)}};
}

static bool lost(struct vv_faults *faults, double turn, double luck) {
  const struct vv_faults_wanted *wanted = &faults->wanted;
  if (turn < (faults->bursting ? wanted->burst_leave : wanted->burst_enter)) faults->bursting = !faults->bursting;
  return luck < (faults->bursting ? wanted->burst_loss : wanted->loss);
}

static uint64_t arrival(struct vv_faults *faults, uint64_t now_ns, bool late, double how_late) {
  const struct vv_faults_wanted *wanted = &faults->wanted;
  uint64_t due_ns = now_ns + wanted->delay_ns;
  if (late) return due_ns + 1 + (uint64_t)(how_late * (double)wanted->reorder_ns);
  /* A delay that was made shorter does not let a frame pass those before it. */
  if (due_ns > faults->last_ns) faults->last_ns = due_ns;
  return faults->last_ns;
}

struct vv_fate vv_faults_decide(struct vv_faults *faults, uint64_t now_ns) {
  const struct vv_faults_wanted *wanted = &faults->wanted;
  double luck[6];
  for (int i = 0; i < 6; i++) luck[i] = vv_rng_unit(&faults->rng);
  bool is_lost = lost(faults, luck[0], luck[1]);
  if (faults->cut) return (struct vv_fate){.why = VV_DROP_CUT};
  if (is_lost) return (struct vv_fate){.why = VV_DROP_LOSS};
  if (luck[2] < wanted->corrupt) return (struct vv_fate){.why = VV_DROP_CORRUPT};
  return (struct vv_fate){
      .copies = luck[3] < wanted->duplicate ? 2 : 1,
      .arrives_ns = arrival(faults, now_ns, luck[4] < wanted->reorder, luck[5]),
  };
}
