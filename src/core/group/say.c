/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/say.h"

void vv_say_state(struct vv_rank *self, uint32_t rank) {
  struct vv_gpdu pdu = {.kind = VV_GPDU_STATE,
                        .position = self->consumed,
                        .source = self->config.rank,
                        .edge = self->sight.edge,
                        .horizon = self->credit.horizon,
                        .beyond = self->sight.sent_beyond};
  if (rank == VV_OUTBOX_ALL) self->published = self->credit.horizon;
  vv_outbox_put(&self->outbox, rank, &pdu);
}

void vv_say_report(struct vv_rank *self) {
  struct vv_credit_line least = vv_credit_least(&self->credit, &self->tree, self->consumed);
  struct vv_gpdu pdu = {.kind = VV_GPDU_ACK,
                        .position = least.consumed,
                        .source = self->config.rank,
                        .rank = least.slowest,
                        .target = self->tree.root};
  vv_outbox_put(&self->outbox, vv_tree_parent(&self->tree), &pdu);
}

void vv_say_directly(struct vv_rank *self, const struct vv_gpdu *poll) {
  struct vv_gpdu ack = {.kind = VV_GPDU_ACK,
                        .position = self->consumed,
                        .source = self->config.rank,
                        .rank = self->config.rank,
                        .target = poll->source};
  if (vv_tree_flat(self->config.ranks)) vv_outbox_put(&self->outbox, poll->source, &ack);
}

void vv_say_failure(struct vv_rank *self, uint32_t rank) {
  const struct vv_member_failure *failure = &self->member.failure;
  struct vv_gpdu pdu = {.kind = VV_GPDU_FAIL,
                        .position = self->consumed,
                        .source = self->config.rank,
                        .operation = failure->operation,
                        .rank = failure->rank,
                        .why = failure->why};
  vv_outbox_put(&self->outbox, rank, &pdu);
}

void vv_say_cry(struct vv_rank *self, vv_ns now_ns) {
  if (vv_member_cry(&self->member, now_ns)) vv_say_failure(self, VV_OUTBOX_ALL);
}

void vv_say_failed(struct vv_rank *self, const struct vv_member_failure *failure, vv_ns cry_ns) {
  if (!vv_member_fail(&self->member, failure, cry_ns)) return;
  self->current.busy = false;
  vv_rank_tell(self, VV_RANK_FAILED);
  vv_gap_end(&self->gap);
}

void vv_say_fail(struct vv_rank *self, vv_ns now_ns, uint32_t rank, enum vv_gpdu_why why) {
  const struct vv_member_failure failure = {why, rank, self->current.number, self->config.rank};
  vv_say_failed(self, &failure, now_ns);
}
