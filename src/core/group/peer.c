/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/peer.h"

#include "core/group/progress.h"
#include "core/group/receiver.h"
#include "core/group/say.h"

/* True when this rank has it to give, and owes it now. */
static bool owe(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *ask, uint64_t position) {
  const struct vv_store_slot *slot = vv_store_find(&self->store, position);
  if (slot == NULL) return false;
  bool deaf = (ask->flags & VV_GPDU_ASK_DEAF) != 0;
  vv_repair_owe(&self->repair, now_ns, position, ask->source, slot->own, deaf);
  return true;
}

static void take_ask(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *ask) {
  bool refused = false;
  uint32_t given = 0, named = 8 * (uint32_t)ask->data_bytes;
  for (uint32_t i = 0; i < named; i++) {
    if ((ask->data[i / 8] >> i % 8 & 1) == 0) continue;
    if (owe(self, now_ns, ask, ask->position + i)) {
      given++;
    } else {
      refused = true;
    }
  }
  bool more = (ask->flags & VV_GPDU_ASK_MORE) != 0;
  for (uint32_t i = named; more && i < named + VV_GAP_MORE_MAX && ask->position + i < self->sight.edge; i++) {
    if (!owe(self, now_ns, ask, ask->position + i)) break;
    given++;
  }
  if (refused || given == 0) vv_say_state(self, ask->source);
}

/*
 * True when a peer is in an operation that this rank, which is closing, has not started and never will: it would be
 * waited for in vain. All are told.
 */
static bool has_left_before(struct vv_rank *self, vv_ns now_ns, uint32_t operation) {
  if (!self->closing || (int32_t)(operation - self->operations) < 0) return false;
  vv_say_fail(self, now_ns, self->config.rank, VV_GPDU_LEFT);
  return true;
}

/* Who asks for a round that this rank has not given to yet asks more and more rarely (vv_sender_remind). */
static void mind_urge(struct vv_rank *self, uint32_t operation) {
  bool next = operation == self->operations, present = vv_rank_gives(self) && operation == self->current.number;
  if (!next && !present) return;
  self->urged = true;
  self->urged_operation = operation;
}

static void asked(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *ask) {
  if (has_left_before(self, now_ns, ask->operation)) return;
  vv_progress_heard(self, ask);
  mind_urge(self, ask->operation);
  bool same = self->operations > 0 && ask->operation == self->current.number;
  if (same && ask->rank != self->last_root) {
    vv_say_fail(self, now_ns, ask->source, VV_GPDU_UNEQUAL_ROOT);
    return;
  }
  take_ask(self, now_ns, ask);
  vv_progress_horizon(self, now_ns, 0);
}

static void reported(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *ack) {
  if (!vv_tree_flat(self->config.ranks) && ack->target != self->tree.root) return;
  vv_credit_heard(&self->credit, &self->tree, ack->source, ack->position, ack->rank);
  vv_progress_horizon(self, now_ns, 0);
  if (self->tree.root != self->config.rank) vv_progress_report(self, now_ns);
}

static void polled(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *poll) {
  if (has_left_before(self, now_ns, poll->operation)) return;
  bool stale = self->operations > 0 && (int32_t)(poll->operation - self->current.number) < 0;
  vv_receiver_told(self, now_ns, poll->edge, 0);
  if (self->member.failed) return;
  if (stale || vv_rank_is_root(self) || vv_rank_in_round(self)) {
    vv_say_directly(self, poll);
    return;
  }
  vv_progress_turn(self, poll->source);
  vv_credit_poll(&self->credit, poll->position);
  vv_progress_report(self, now_ns);
}

static void told_state(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *state) {
  vv_progress_heard(self, state);
  if (state->horizon > self->consumed) return; /* what this rank has not consumed, not all have */
  vv_progress_horizon(self, now_ns, state->horizon);
  vv_receiver_told(self, now_ns, state->edge, state->beyond);
  if (state->position <= self->consumed) vv_gap_refused(&self->gap, now_ns);
}

static void told_failure(struct vv_rank *self, const struct vv_gpdu *pdu) {
  const struct vv_member_failure failure = {pdu->why, pdu->rank, pdu->operation, pdu->source};
  vv_say_failed(self, &failure, VV_NEVER);
}

void vv_peer_control(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *pdu) {
  uint32_t ranks = self->config.ranks;
  if (pdu->source >= ranks || pdu->rank >= ranks || pdu->source == self->config.rank) {
    self->counts.foreign++;
    return;
  }
  if (self->member.failed) {
    if (pdu->kind != VV_GPDU_FAIL) vv_say_failure(self, pdu->source);
    return;
  }
  if (pdu->source == vv_receiver_awaited(self)) vv_gap_heard_root(&self->gap);
  switch (pdu->kind) {
  case VV_GPDU_ASK:
    asked(self, now_ns, pdu);
    break;
  case VV_GPDU_ACK:
    reported(self, now_ns, pdu);
    break;
  case VV_GPDU_POLL:
    polled(self, now_ns, pdu);
    break;
  case VV_GPDU_STATE:
    told_state(self, now_ns, pdu);
    break;
  case VV_GPDU_FAIL:
    told_failure(self, pdu);
    break;
  case VV_GPDU_HEAD:
  case VV_GPDU_PART:
  case VV_GPDU_DATA: /* no control PDU: core/group/receiver.h takes them */
    break;
  }
}

void vv_peer_lost(struct vv_rank *self, vv_ns now_ns, uint32_t rank, enum vv_gpdu_why why) {
  if (why != VV_GPDU_LEFT || self->current.busy) {
    vv_say_fail(self, now_ns, rank, why);
    return;
  }
  self->left = true;
  self->left_rank = rank;
  if (self->closing) vv_progress_horizon(self, now_ns, self->consumed);
}
