/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/peer.h"

#include "core/base/heap.h"
#include "core/group/receiver.h"
#include "core/group/sender.h"

void vv_peer_turn(struct vv_group *group, uint32_t root) {
  if (group->tree.root == root) return;
  group->tree.root = root;
  vv_credit_turn(&group->credit, &group->tree);
}

void vv_peer_state(struct vv_group *group, uint32_t rank) {
  struct vv_group_pdu pdu = {.kind = VV_GROUP_STATE,
                             .position = group->consumed,
                             .source = group->wanted.rank,
                             .edge = group->edge,
                             .horizon = group->credit.horizon};
  if (rank == VV_OUTBOX_ALL) group->published = group->credit.horizon;
  vv_outbox_put(&group->outbox, rank, &pdu);
}

static void tell_failure(struct vv_group *group, uint32_t rank) {
  const struct vv_group_failure *failure = &group->member.failure;
  struct vv_group_pdu pdu = {.kind = VV_GROUP_FAIL,
                             .position = group->consumed,
                             .source = group->wanted.rank,
                             .operation = failure->operation,
                             .rank = failure->rank,
                             .why = failure->why};
  vv_outbox_put(&group->outbox, rank, &pdu);
}

void vv_peer_cry(struct vv_group *group, uint64_t now_ns) {
  if (vv_member_cry(&group->member, now_ns)) tell_failure(group, VV_OUTBOX_ALL);
}

static void fail(struct vv_group *group, const struct vv_group_failure *failure, uint64_t cry_ns) {
  if (!vv_member_fail(&group->member, failure, cry_ns)) return;
  group->current.busy = false;
  vv_group_tell(group, VV_GROUP_FAILED);
  vv_gap_end(&group->gap);
}

void vv_peer_fail(struct vv_group *group, uint64_t now_ns, uint32_t rank, enum vv_group_why why) {
  const struct vv_group_failure failure = {why, rank, group->current.number, group->wanted.rank};
  fail(group, &failure, now_ns);
}

/* The horizon is known to be there: whoever waits for it goes on. */
static void horizon(struct vv_group *group, uint64_t now_ns, uint64_t position) {
  vv_credit_horizon(&group->credit, position);
  vv_credit_reckon(&group->credit, &group->tree, group->consumed);
  vv_sender_credit(group, now_ns);
  if (!group->closing || group->closed || group->credit.horizon < group->consumed) return;
  group->closed = true;
  vv_group_tell(group, VV_GROUP_CLOSED);
  vv_gap_end(&group->gap);
}

static void send_report(struct vv_group *group) {
  struct vv_credit_line least = vv_credit_least(&group->credit, &group->tree, group->consumed);
  struct vv_group_pdu pdu = {.kind = VV_GROUP_ACK,
                             .position = least.consumed,
                             .source = group->wanted.rank,
                             .rank = least.slowest,
                             .target = group->tree.root};
  vv_outbox_put(&group->outbox, vv_tree_parent(&group->tree), &pdu);
}

void vv_peer_report(struct vv_group *group, uint64_t now_ns) {
  if (group->tree.root == group->wanted.rank) {
    horizon(group, now_ns, 0);
    return;
  }
  struct vv_credit_line least = vv_credit_least(&group->credit, &group->tree, group->consumed);
  if (!vv_credit_due(&group->credit, &group->tree, least.consumed)) return;
  if (group->wanted.slot_ns == 0) {
    send_report(group);
  } else if (group->report_ns == VV_NEVER) {
    group->report_ns = now_ns + vv_tree_slot(&group->tree) * group->wanted.slot_ns;
  }
}

void vv_peer_speak(struct vv_group *group, uint64_t now_ns) {
  if (group->report_ns > now_ns) return;
  group->report_ns = VV_NEVER;
  if (group->tree.root != group->wanted.rank) send_report(group);
}

/* In a flat group whatever a rank says of itself counts; in a tree only what its parent hears of its subtree. */
static void heard_itself(struct vv_group *group, const struct vv_group_pdu *pdu) {
  if (vv_tree_flat(group->wanted.ranks)) {
    vv_credit_heard(&group->credit, &group->tree, pdu->source, pdu->position, pdu->source);
  }
}

/* True when this rank has it to give, and owes it now. */
static bool owe(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *ask, uint64_t position) {
  const struct vv_store_slot *slot = vv_store_find(&group->store, position);
  if (slot == NULL) return false;
  bool deaf = (ask->flags & VV_GROUP_ASK_DEAF) != 0;
  vv_repair_owe(&group->repair, now_ns, position, ask->source, slot->own, deaf);
  return true;
}

static void take_ask(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *ask) {
  bool refused = false;
  uint32_t given = 0, named = 8 * (uint32_t)ask->data_bytes;
  for (uint32_t i = 0; i < named; i++) {
    if ((ask->data[i / 8] >> i % 8 & 1) == 0) continue;
    if (owe(group, now_ns, ask, ask->position + i)) {
      given++;
    } else {
      refused = true;
    }
  }
  bool more = (ask->flags & VV_GROUP_ASK_MORE) != 0;
  for (uint32_t i = named; more && i < named + VV_GAP_MORE_MAX && ask->position + i < group->edge; i++) {
    if (!owe(group, now_ns, ask, ask->position + i)) break;
    given++;
  }
  if (refused || given == 0) vv_peer_state(group, ask->source);
}

static void asked(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *ask) {
  heard_itself(group, ask);
  bool same = group->operations > 0 && ask->operation == group->current.number;
  if (same && ask->rank != group->last_root) {
    vv_peer_fail(group, now_ns, ask->source, VV_GROUP_UNEQUAL_ROOT);
    return;
  }
  take_ask(group, now_ns, ask);
  horizon(group, now_ns, 0);
}

static void reported(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *ack) {
  if (!vv_tree_flat(group->wanted.ranks) && ack->target != group->tree.root) return;
  vv_credit_heard(&group->credit, &group->tree, ack->source, ack->position, ack->rank);
  horizon(group, now_ns, 0);
  if (group->tree.root != group->wanted.rank) vv_peer_report(group, now_ns);
}

/* Says to a root of earlier, and to no parent, how far this rank is. */
static void answer_directly(struct vv_group *group, const struct vv_group_pdu *poll) {
  struct vv_group_pdu ack = {.kind = VV_GROUP_ACK,
                             .position = group->consumed,
                             .source = group->wanted.rank,
                             .rank = group->wanted.rank,
                             .target = poll->source};
  if (vv_tree_flat(group->wanted.ranks)) vv_outbox_put(&group->outbox, poll->source, &ack);
}

static void polled(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *poll) {
  bool stale = group->operations > 0 && (int32_t)(poll->operation - group->current.number) < 0;
  vv_receiver_told(group, now_ns, poll->edge);
  if (stale || vv_sender_active(group)) {
    answer_directly(group, poll);
    return;
  }
  vv_peer_turn(group, poll->source);
  vv_credit_poll(&group->credit, poll->position);
  vv_peer_report(group, now_ns);
}

static void told_state(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *state) {
  heard_itself(group, state);
  if (state->horizon > group->consumed) return; /* what this rank has not consumed, not all have */
  horizon(group, now_ns, state->horizon);
  vv_receiver_told(group, now_ns, state->edge);
  if (state->position <= group->consumed) vv_gap_refused(&group->gap, now_ns);
}

static void told_failure(struct vv_group *group, const struct vv_group_pdu *pdu) {
  const struct vv_group_failure failure = {pdu->why, pdu->rank, pdu->operation, pdu->source};
  fail(group, &failure, VV_NEVER);
}

void vv_peer_control(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *pdu) {
  uint32_t ranks = group->wanted.ranks;
  if (pdu->source >= ranks || pdu->rank >= ranks || pdu->source == group->wanted.rank) {
    group->counts.foreign++;
    return;
  }
  if (group->member.failed) {
    if (pdu->kind != VV_GROUP_FAIL) tell_failure(group, pdu->source);
    return;
  }
  if (pdu->source == group->last_root) vv_gap_heard_root(&group->gap);
  switch (pdu->kind) {
  case VV_GROUP_ASK:
    asked(group, now_ns, pdu);
    break;
  case VV_GROUP_ACK:
    reported(group, now_ns, pdu);
    break;
  case VV_GROUP_POLL:
    polled(group, now_ns, pdu);
    break;
  case VV_GROUP_STATE:
    told_state(group, now_ns, pdu);
    break;
  default:
    told_failure(group, pdu);
  }
}

void vv_peer_lost(struct vv_group *group, uint64_t now_ns, uint32_t rank, enum vv_group_why why) {
  if (why != VV_GROUP_LEFT || group->current.busy) {
    vv_peer_fail(group, now_ns, rank, why);
    return;
  }
  group->left = true;
  group->left_rank = rank;
  if (group->closing) horizon(group, now_ns, group->consumed);
}
