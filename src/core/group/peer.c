/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/peer.h"

#include "core/base/heap.h"
#include "core/group/receiver.h"
#include "core/group/sender.h"

void vv_peer_turn(struct vv_rank *self, uint32_t root) {
  if (self->tree.root == root) return;
  self->tree.root = root;
  vv_credit_turn(&self->credit, &self->tree);
}

void vv_peer_state(struct vv_rank *self, uint32_t rank) {
  struct vv_gpdu pdu = {.kind = VV_GPDU_STATE,
                        .position = self->consumed,
                        .source = self->config.rank,
                        .edge = self->edge,
                        .horizon = self->credit.horizon};
  if (rank == VV_OUTBOX_ALL) self->published = self->credit.horizon;
  vv_outbox_put(&self->outbox, rank, &pdu);
}

static void tell_failure(struct vv_rank *self, uint32_t rank) {
  const struct vv_member_failure *failure = &self->member.failure;
  struct vv_gpdu pdu = {.kind = VV_GPDU_FAIL,
                        .position = self->consumed,
                        .source = self->config.rank,
                        .operation = failure->operation,
                        .rank = failure->rank,
                        .why = failure->why};
  vv_outbox_put(&self->outbox, rank, &pdu);
}

void vv_peer_cry(struct vv_rank *self, uint64_t now_ns) {
  if (vv_member_cry(&self->member, now_ns)) tell_failure(self, VV_OUTBOX_ALL);
}

static void fail(struct vv_rank *self, const struct vv_member_failure *failure, uint64_t cry_ns) {
  if (!vv_member_fail(&self->member, failure, cry_ns)) return;
  self->current.busy = false;
  vv_rank_tell(self, VV_RANK_FAILED);
  vv_gap_end(&self->gap);
}

void vv_peer_fail(struct vv_rank *self, uint64_t now_ns, uint32_t rank, enum vv_gpdu_why why) {
  const struct vv_member_failure failure = {why, rank, self->current.number, self->config.rank};
  fail(self, &failure, now_ns);
}

/* The horizon is known to be there: whoever waits for it goes on. */
static void horizon(struct vv_rank *self, uint64_t now_ns, uint64_t position) {
  vv_credit_horizon(&self->credit, position);
  vv_credit_reckon(&self->credit, &self->tree, self->consumed);
  vv_sender_credit(self, now_ns);
  if (!self->closing || self->closed || self->credit.horizon < self->consumed) return;
  self->closed = true;
  vv_rank_tell(self, VV_RANK_CLOSED);
  vv_gap_end(&self->gap);
}

static void send_report(struct vv_rank *self) {
  struct vv_credit_line least = vv_credit_least(&self->credit, &self->tree, self->consumed);
  struct vv_gpdu pdu = {.kind = VV_GPDU_ACK,
                        .position = least.consumed,
                        .source = self->config.rank,
                        .rank = least.slowest,
                        .target = self->tree.root};
  vv_outbox_put(&self->outbox, vv_tree_parent(&self->tree), &pdu);
}

void vv_peer_report(struct vv_rank *self, uint64_t now_ns) {
  if (self->tree.root == self->config.rank) {
    horizon(self, now_ns, 0);
    return;
  }
  struct vv_credit_line least = vv_credit_least(&self->credit, &self->tree, self->consumed);
  if (!vv_credit_due(&self->credit, &self->tree, least.consumed)) return;
  if (self->config.slot_ns == 0) {
    send_report(self);
  } else if (self->report_ns == VV_NEVER) {
    self->report_ns = now_ns + vv_tree_slot(&self->tree) * self->config.slot_ns;
  }
}

void vv_peer_speak(struct vv_rank *self, uint64_t now_ns) {
  if (self->report_ns > now_ns) return;
  self->report_ns = VV_NEVER;
  if (self->tree.root != self->config.rank) send_report(self);
}

/* In a flat group whatever a rank says of itself counts; in a tree only what its parent hears of its subtree. */
static void heard_itself(struct vv_rank *self, const struct vv_gpdu *pdu) {
  if (vv_tree_flat(self->config.ranks)) {
    vv_credit_heard(&self->credit, &self->tree, pdu->source, pdu->position, pdu->source);
  }
}

/* True when this rank has it to give, and owes it now. */
static bool owe(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *ask, uint64_t position) {
  const struct vv_store_slot *slot = vv_store_find(&self->store, position);
  if (slot == NULL) return false;
  bool deaf = (ask->flags & VV_GPDU_ASK_DEAF) != 0;
  vv_repair_owe(&self->repair, now_ns, position, ask->source, slot->own, deaf);
  return true;
}

static void take_ask(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *ask) {
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
  for (uint32_t i = named; more && i < named + VV_GAP_MORE_MAX && ask->position + i < self->edge; i++) {
    if (!owe(self, now_ns, ask, ask->position + i)) break;
    given++;
  }
  if (refused || given == 0) vv_peer_state(self, ask->source);
}

static void asked(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *ask) {
  heard_itself(self, ask);
  bool same = self->operations > 0 && ask->operation == self->current.number;
  if (same && ask->rank != self->last_root) {
    vv_peer_fail(self, now_ns, ask->source, VV_GPDU_UNEQUAL_ROOT);
    return;
  }
  take_ask(self, now_ns, ask);
  horizon(self, now_ns, 0);
}

static void reported(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *ack) {
  if (!vv_tree_flat(self->config.ranks) && ack->target != self->tree.root) return;
  vv_credit_heard(&self->credit, &self->tree, ack->source, ack->position, ack->rank);
  horizon(self, now_ns, 0);
  if (self->tree.root != self->config.rank) vv_peer_report(self, now_ns);
}

/* Says to a root of earlier, and to no parent, how far this rank is. */
static void answer_directly(struct vv_rank *self, const struct vv_gpdu *poll) {
  struct vv_gpdu ack = {.kind = VV_GPDU_ACK,
                        .position = self->consumed,
                        .source = self->config.rank,
                        .rank = self->config.rank,
                        .target = poll->source};
  if (vv_tree_flat(self->config.ranks)) vv_outbox_put(&self->outbox, poll->source, &ack);
}

static void polled(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *poll) {
  bool stale = self->operations > 0 && (int32_t)(poll->operation - self->current.number) < 0;
  vv_receiver_told(self, now_ns, poll->edge);
  if (stale || vv_sender_active(self)) {
    answer_directly(self, poll);
    return;
  }
  vv_peer_turn(self, poll->source);
  vv_credit_poll(&self->credit, poll->position);
  vv_peer_report(self, now_ns);
}

static void told_state(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *state) {
  heard_itself(self, state);
  if (state->horizon > self->consumed) return; /* what this rank has not consumed, not all have */
  horizon(self, now_ns, state->horizon);
  vv_receiver_told(self, now_ns, state->edge);
  if (state->position <= self->consumed) vv_gap_refused(&self->gap, now_ns);
}

static void told_failure(struct vv_rank *self, const struct vv_gpdu *pdu) {
  const struct vv_member_failure failure = {pdu->why, pdu->rank, pdu->operation, pdu->source};
  fail(self, &failure, VV_NEVER);
}

void vv_peer_control(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *pdu) {
  uint32_t ranks = self->config.ranks;
  if (pdu->source >= ranks || pdu->rank >= ranks || pdu->source == self->config.rank) {
    self->counts.foreign++;
    return;
  }
  if (self->member.failed) {
    if (pdu->kind != VV_GPDU_FAIL) tell_failure(self, pdu->source);
    return;
  }
  if (pdu->source == self->last_root) vv_gap_heard_root(&self->gap);
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
  default:
    told_failure(self, pdu);
  }
}

void vv_peer_lost(struct vv_rank *self, uint64_t now_ns, uint32_t rank, enum vv_gpdu_why why) {
  if (why != VV_GPDU_LEFT || self->current.busy) {
    vv_peer_fail(self, now_ns, rank, why);
    return;
  }
  self->left = true;
  self->left_rank = rank;
  if (self->closing) horizon(self, now_ns, self->consumed);
}
