/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/repair.h"

#include <assert.h>

#include "core/base/carve.h"

#define NOWHERE UINT64_MAX /* no position */

enum { DEBTS_MIN = 32, DEBTS_PER_POSITION = 4, ALL_PART = 4 };

static void lay_out(struct vv_repair *repair, struct vv_carve *carve, uint32_t window_datagrams) {
  uint32_t debts = DEBTS_PER_POSITION * window_datagrams;
  repair->debts_room = debts > DEBTS_MIN ? debts : DEBTS_MIN;
  repair->marks_room = 2 * window_datagrams;
  repair->debts = vv_carve(carve, repair->debts_room * sizeof *repair->debts);
  repair->marks = vv_carve(carve, repair->marks_room * sizeof *repair->marks);
}

size_t vv_repair_bytes(uint32_t window_datagrams) {
  struct vv_repair repair;
  struct vv_carve carve = {0};
  lay_out(&repair, &carve, window_datagrams);
  return carve.used_bytes;
}

static struct vv_repair_mark clean(uint64_t position) {
  return (struct vv_repair_mark){.position = position, .all_ns = VV_NEVER, .one_ns = VV_NEVER};
}

void vv_repair_init(struct vv_repair *repair, void *memory, uint32_t window_datagrams, vv_ns rtt_ns) {
  struct vv_carve carve = {.memory = memory};
  assert(memory != NULL);
  *repair = (struct vv_repair){.rtt_ns = rtt_ns, .all_max = (window_datagrams + ALL_PART - 1) / ALL_PART};
  lay_out(repair, &carve, window_datagrams);
  for (uint32_t i = 0; i < repair->marks_room; i++) repair->marks[i] = clean(NOWHERE);
}

static struct vv_repair_mark *mark_of(struct vv_repair *repair, uint64_t position) {
  return &repair->marks[position % repair->marks_room];
}

static bool recent(vv_ns then_ns, vv_ns now_ns, vv_ns span_ns) {
  return then_ns != VV_NEVER && now_ns - then_ns < span_ns;
}

void vv_repair_owe(struct vv_repair *repair, vv_ns now_ns, uint64_t position, uint32_t rank, bool own, bool deaf) {
  struct vv_repair_mark *mark = mark_of(repair, position);
  if (mark->position != position) *mark = clean(position);
  if (!deaf && recent(mark->all_ns, now_ns, repair->rtt_ns)) return;
  if (mark->one == rank && recent(mark->one_ns, now_ns, repair->rtt_ns / 2)) return;
  if (repair->debts_count == repair->debts_room) return;
  uint32_t last = (repair->debts_first + repair->debts_count++) % repair->debts_room;
  repair->debts[last] = (struct vv_repair_debt){position, now_ns, rank, own, deaf};
  if (!deaf) mark->waiting++;
}

static vv_ns due_ns(const struct vv_repair *repair, const struct vv_repair_debt *debt) {
  return debt->asked_ns + (debt->own && !debt->deaf ? repair->rtt_ns / 2 : 0);
}

/* True when the debt is to be paid; to all if others wait for the same, or to the one. */
static bool judge(struct vv_repair *repair, struct vv_repair_mark *mark, const struct vv_repair_debt *debt,
                  vv_ns now_ns, struct vv_repair_order *order) {
  *order = (struct vv_repair_order){debt->position, debt->rank, 1};
  if (!debt->deaf) {
    if (mark->waiting > 0) mark->waiting--;
    if (mark->all_ns != VV_NEVER && mark->all_ns >= debt->asked_ns) return false;
    if (debt->own && mark->waiting > 0 && mark->all_ns == VV_NEVER && repair->all_count < repair->all_max) {
      repair->all_count++;
      mark->all_ns = now_ns;
      *order = (struct vv_repair_order){debt->position, VV_REPAIR_ALL, 1 + mark->waiting};
      return true;
    }
  }
  mark->one = debt->rank;
  mark->one_ns = now_ns;
  return true;
}

bool vv_repair_next(struct vv_repair *repair, vv_ns now_ns, uint64_t horizon, struct vv_repair_order *order) {
  if (horizon > repair->horizon) repair->all_count = 0;
  repair->horizon = horizon;
  while (repair->debts_count > 0) {
    const struct vv_repair_debt debt = repair->debts[repair->debts_first];
    if (due_ns(repair, &debt) > now_ns) return false;
    repair->debts_first = (repair->debts_first + 1) % repair->debts_room;
    repair->debts_count--;
    struct vv_repair_mark *mark = mark_of(repair, debt.position);
    if (mark->position == debt.position && judge(repair, mark, &debt, now_ns, order)) return true;
  }
  return false;
}

vv_ns vv_repair_due_ns(const struct vv_repair *repair) {
  return repair->debts_count > 0 ? due_ns(repair, &repair->debts[repair->debts_first]) : VV_NEVER;
}
