/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/progress.h"

#include "core/group/say.h"
#include "core/group/sender.h"

void vv_progress_turn(struct vv_rank *self, uint32_t root) {
  if (self->tree.root == root) return;
  self->tree.root = root;
  vv_credit_turn(&self->credit, &self->tree);
}

void vv_progress_horizon(struct vv_rank *self, vv_ns now_ns, uint64_t position) {
  vv_credit_horizon(&self->credit, position);
  vv_credit_reckon(&self->credit, &self->tree, self->consumed);
  vv_sender_credit(self, now_ns);
  if (!self->closing || self->closed || self->credit.horizon < self->consumed) return;
  self->closed = true;
  vv_rank_tell(self, VV_RANK_CLOSED);
  vv_gap_end(&self->gap);
}

void vv_progress_report(struct vv_rank *self, vv_ns now_ns) {
  if (self->tree.root == self->config.rank) {
    vv_progress_horizon(self, now_ns, 0);
    return;
  }
  struct vv_credit_line least = vv_credit_least(&self->credit, &self->tree, self->consumed);
  if (!vv_credit_due(&self->credit, &self->tree, least.consumed)) return;
  if (self->slot_ns == 0) {
    vv_say_report(self);
  } else if (self->report_ns == VV_NEVER) {
    self->report_ns = now_ns + vv_tree_slot(&self->tree) * self->slot_ns;
  }
}

void vv_progress_speak(struct vv_rank *self, vv_ns now_ns) {
  if (self->report_ns > now_ns) return;
  self->report_ns = VV_NEVER;
  if (self->tree.root != self->config.rank) vv_say_report(self);
}

void vv_progress_heard(struct vv_rank *self, const struct vv_gpdu *pdu) {
  if (vv_tree_flat(self->config.ranks)) {
    vv_credit_heard(&self->credit, &self->tree, pdu->source, pdu->position, pdu->source);
  }
}
