/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/sender.h"

#include <string.h>

#include "core/base/heap.h"
#include "core/group/cut.h"
#include "core/group/peer.h"

/* Times in round trips. */
enum {
  POLL_FIRST = 1,
  POLL_WAIT = 2,
  POLL_SLOWER = 3,
  LATE_AFTER = 16,
  REMIND_FIRST = 2,
  REMIND_SLOWER = 4,
  REMINDERS = 3
};
enum { SHARED_MAX = 8 };
#define REMIND_NS_MIN UINT64_C(8000000) /* operations that follow each other sooner say enough by themselves */
#define WAIT_NS_MAX   UINT64_C(8000000000)

bool vv_sender_active(const struct vv_group *group) {
  return group->current.busy && group->current.wanted.root == group->wanted.rank;
}

/* The piece of the present operation that lies at that position. */
static struct vv_group_pdu present_piece(const struct vv_group *group, uint64_t position) {
  const struct vv_group_current *current = &group->current;
  struct vv_cut cut = vv_cut_piece(current->size_bytes, group->body_bytes, position - current->first);
  struct vv_group_pdu pdu = {.kind = VV_GROUP_DATA,
                             .position = position,
                             .data = current->wanted.buffer + cut.offset,
                             .data_bytes = cut.bytes};
  if (position != current->first) return pdu;
  pdu.kind = VV_GROUP_HEAD;
  pdu.rank = current->wanted.root;
  pdu.size_bytes = current->size_bytes;
  pdu.horizon = group->credit.horizon < position ? group->credit.horizon : position; /* later if it is a repair */
  pdu.representation = current->wanted.representation;
  return pdu;
}

static void emit(struct vv_group *group, const struct vv_group_pdu *pdu, struct vv_group_datagram *datagram) {
  datagram->header_bytes = vv_group_pdu_emit(&group->keys, group->wanted.stream, pdu, datagram->header);
  datagram->payload = pdu->data;
  datagram->payload_bytes = pdu->data_bytes;
}

static void hold(struct vv_group *group, const struct vv_group_pdu *pdu) {
  bool head = pdu->kind == VV_GROUP_HEAD;
  size_t before = head ? VV_GROUP_HEAD_BYTES : 0;
  uint8_t *body = vv_store_hold(&group->store, pdu->position, head, true, before + pdu->data_bytes);
  if (head) vv_group_head_emit(pdu, body);
  if (pdu->data_bytes > 0) memcpy(body + before, pdu->data, pdu->data_bytes);
}

static void finish(struct vv_group *group, uint64_t now_ns) {
  group->current.busy = false;
  vv_group_tell(group, VV_GROUP_DONE);
  group->reminders = 0;
  uint64_t first_ns = REMIND_FIRST * group->wanted.rtt_ns;
  if (first_ns < REMIND_NS_MIN) first_ns = REMIND_NS_MIN;
  group->remind_ns = now_ns + first_ns;
  group->remind_wait_ns = first_ns * REMIND_SLOWER;
}

/* Until those who answer a poll one after the other, on a hub, have all had their turn. */
static uint64_t turns_ns(const struct vv_group *group) {
  uint32_t ranks = group->wanted.ranks;
  return (ranks < VV_TREE_SLOTS ? ranks : VV_TREE_SLOTS) * group->wanted.slot_ns;
}

void vv_sender_stall(struct vv_group *group, uint64_t now_ns) {
  if (group->stalled_ns != VV_NEVER) return;
  if (!group->closing) group->counts.stalls++;
  group->stalled_ns = now_ns;
  group->poll_ns = now_ns + (group->credit.only_polled ? 0 : POLL_FIRST * group->wanted.rtt_ns);
  group->poll_wait_ns = POLL_WAIT * group->wanted.rtt_ns + turns_ns(group);
}

bool vv_sender_data(struct vv_group *group, uint64_t now_ns, struct vv_group_datagram *datagram) {
  if (!vv_sender_active(group)) return false;
  if (group->consumed >= vv_credit_limit(&group->credit)) {
    vv_sender_stall(group, now_ns);
    return false;
  }
  if (vv_rate_ready_ns(&group->rate, now_ns) > now_ns) return false;
  struct vv_group_pdu pdu = present_piece(group, group->consumed);
  bool head = pdu.kind == VV_GROUP_HEAD;
  if (head) group->published = group->credit.horizon;
  datagram->way = VV_GROUP_TO_DATA;
  emit(group, &pdu, datagram);
  if (vv_store_outlives(&group->store, pdu.position, group->current.end)) {
    hold(group, &pdu);
  } else {
    vv_store_place(&group->store, pdu.position, head, true);
  }
  group->consumed++;
  group->edge = group->consumed;
  group->remind_ns = VV_NEVER;
  group->counts.sent++;
  group->counts.sent_bytes += datagram->header_bytes + datagram->payload_bytes;
  vv_rate_sent(&group->rate, now_ns, datagram->header_bytes + datagram->payload_bytes);
  if (group->consumed == group->current.end) finish(group, now_ns);
  return true;
}

/* What the store, or the present operation, has at that position: false when nothing. */
static bool find_piece(const struct vv_group *group, uint64_t position, struct vv_group_pdu *pdu) {
  const struct vv_store_slot *slot = vv_store_find(&group->store, position);
  if (slot == NULL) return false;
  if (slot->state == VV_STORE_PLACED) {
    if (!group->current.busy || position < group->current.first) return false;
    *pdu = present_piece(group, position);
    return true;
  }
  enum vv_group_kind kind = slot->head ? VV_GROUP_HEAD : VV_GROUP_DATA;
  return vv_group_body_parse(kind, position, vv_store_body(&group->store, slot), slot->bytes, pdu);
}

/* True when so many have lost the same that it was no luck: half of the receivers, or as many as a few subtrees. */
static bool is_shared(const struct vv_group *group, uint32_t ranks) {
  uint32_t half = group->wanted.ranks / 2;
  return ranks >= (half < SHARED_MAX ? half : SHARED_MAX);
}

bool vv_sender_repair(struct vv_group *group, uint64_t now_ns, struct vv_group_datagram *datagram) {
  struct vv_group_pdu pdu;
  struct vv_repair_order order;
  if (vv_repair_due_ns(&group->repair) > now_ns) return false;
  do {
    if (vv_rate_ready_ns(&group->rate, now_ns) > now_ns) return false;
    if (!vv_repair_next(&group->repair, now_ns, group->credit.horizon, &order)) return false;
  } while (!find_piece(group, order.position, &pdu));
  bool all = order.rank == VV_REPAIR_ALL;
  datagram->way = all ? VV_GROUP_TO_CONTROL : VV_GROUP_TO_RANK;
  datagram->rank = order.rank;
  emit(group, &pdu, datagram);
  uint64_t bytes = datagram->header_bytes + datagram->payload_bytes;
  if (all) {
    group->counts.repairs_all++;
  } else {
    group->counts.repairs_one++;
  }
  if (all && is_shared(group, order.ranks)) vv_rate_lost(&group->rate);
  group->counts.repair_bytes += bytes;
  vv_rate_sent(&group->rate, now_ns, bytes);
  return true;
}

/* Everything that this rank needs of the others: so much credit that it can go on, or, at the end, all. */
static uint64_t needed(const struct vv_group *group) {
  if (group->closing || group->credit.only_polled) return group->consumed;
  return group->credit.horizon + (group->wanted.window_datagrams + 3) / 4;
}

static void send_poll(struct vv_group *group, uint64_t position) {
  struct vv_group_pdu pdu = {.kind = VV_GROUP_POLL,
                             .position = position,
                             .source = group->wanted.rank,
                             .operation = group->own_number,
                             .edge = group->edge};
  vv_outbox_put(&group->outbox, VV_OUTBOX_ALL, &pdu);
}

/* The next wait: a stopped rank's buffer holds hundreds of small datagrams, but not any number. */
static uint64_t slower(uint64_t wait_ns, uint32_t times) {
  return wait_ns * times < WAIT_NS_MAX ? wait_ns * times : WAIT_NS_MAX;
}

static void poll(struct vv_group *group, uint64_t now_ns) {
  send_poll(group, needed(group));
  if (group->poll_wait_ns >= LATE_AFTER * group->wanted.rtt_ns && group->late_rank == UINT32_MAX) {
    group->late_rank = vv_credit_reckon(&group->credit, &group->tree, group->consumed).slowest;
    vv_group_tell(group, VV_GROUP_LATE);
  }
  group->poll_ns = now_ns + group->poll_wait_ns;
  group->poll_wait_ns = slower(group->poll_wait_ns, POLL_SLOWER);
}

/* First how far this rank has sent; then, as nobody need have answered, how far all are. */
static void remind(struct vv_group *group, uint64_t now_ns) {
  if (group->credit.horizon >= group->own_end) {
    group->remind_ns = VV_NEVER;
    return;
  }
  if (group->reminders < REMINDERS) {
    vv_peer_state(group, VV_OUTBOX_ALL);
  } else {
    send_poll(group, group->own_end);
  }
  group->reminders++;
  group->remind_ns = now_ns + group->remind_wait_ns;
  group->remind_wait_ns = slower(group->remind_wait_ns, REMIND_SLOWER);
}

void vv_sender_speak(struct vv_group *group, uint64_t now_ns) {
  if (group->poll_ns <= now_ns) poll(group, now_ns);
  if (group->remind_ns <= now_ns) remind(group, now_ns);
}

static void go_on(struct vv_group *group, uint64_t now_ns) {
  group->counts.stall_ns += now_ns - group->stalled_ns;
  group->stalled_ns = group->poll_ns = VV_NEVER;
  group->late_rank = UINT32_MAX;
  vv_group_untell(group, VV_GROUP_LATE);
}

void vv_sender_credit(struct vv_group *group, uint64_t now_ns) {
  uint64_t horizon = group->credit.horizon;
  uint32_t half = group->wanted.window_datagrams / 2;
  bool enough = group->closing ? horizon >= group->consumed : vv_credit_limit(&group->credit) > group->consumed;
  if (group->stalled_ns != VV_NEVER && enough) go_on(group, now_ns);
  bool finished = group->closing && enough;
  if (vv_sender_active(group) || (!finished && horizon / half <= group->published / half)) return;
  if (horizon > group->published && group->last_root == group->wanted.rank) vv_peer_state(group, VV_OUTBOX_ALL);
}

uint64_t vv_sender_deadline_ns(const struct vv_group *group) {
  uint64_t ready_ns = vv_rate_ready_ns(&group->rate, 0), due_ns = vv_repair_due_ns(&group->repair);
  uint64_t next_ns = due_ns == VV_NEVER || due_ns > ready_ns ? due_ns : ready_ns;
  bool may = vv_sender_active(group) && group->consumed < vv_credit_limit(&group->credit);
  if (may && ready_ns < next_ns) next_ns = ready_ns;
  if (group->poll_ns < next_ns) next_ns = group->poll_ns;
  return group->remind_ns < next_ns ? group->remind_ns : next_ns;
}
