/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/group.h"

#include <assert.h>
#include <string.h>

#include "core/base/carve.h"
#include "core/base/heap.h"
#include "core/group/cut.h"
#include "core/group/peer.h"
#include "core/group/receiver.h"
#include "core/group/sender.h"

struct parts {
  void *store, *credit, *repair;
};

static uint32_t body_bytes(const struct vv_group_wanted *wanted) {
  return wanted->datagram_bytes - VV_GROUP_HEADER_BYTES;
}

static struct parts lay_out(const struct vv_group_wanted *wanted, struct vv_carve *carve) {
  return (struct parts){.store = vv_carve(carve, vv_store_bytes(wanted->window_datagrams, body_bytes(wanted))),
                        .credit = vv_carve(carve, vv_credit_bytes(wanted->ranks)),
                        .repair = vv_carve(carve, vv_repair_bytes(wanted->window_datagrams))};
}

size_t vv_group_bytes(const struct vv_group_wanted *wanted) {
  struct vv_carve carve = {0};
  lay_out(wanted, &carve);
  return carve.used_bytes;
}

static void check(const struct vv_group_wanted *wanted) {
  assert(wanted->ranks >= 1 && wanted->ranks <= VV_GROUP_RANKS_MAX && wanted->rank < wanted->ranks);
  assert(wanted->stream <= VV_GROUP_STREAM_MAX && wanted->window_datagrams >= VV_GROUP_WINDOW_MIN);
  assert(wanted->window_datagrams <= VV_GROUP_WINDOW_MAX);
  assert(wanted->datagram_bytes >= VV_GROUP_DATAGRAM_BYTES_MIN);
  assert(wanted->datagram_bytes <= VV_GROUP_DATAGRAM_BYTES_MAX && wanted->rtt_ns > 0);
}

void vv_group_init(struct vv_group *group, void *memory, const struct vv_group_wanted *wanted) {
  check(wanted);
  memset(group, 0, sizeof *group);
  struct vv_carve carve = {.memory = memory};
  struct parts parts = lay_out(wanted, &carve);
  uint32_t window = wanted->window_datagrams;
  group->wanted = *wanted;
  group->body_bytes = body_bytes(wanted);
  group->tree = (struct vv_tree){.ranks = wanted->ranks, .rank = wanted->rank};
  vv_group_keys_init(&group->keys, wanted->key, wanted->stream);
  vv_store_init(&group->store, parts.store, window, group->body_bytes);
  vv_credit_init(&group->credit, parts.credit, &group->tree, window, wanted->slot_ns > 0);
  vv_repair_init(&group->repair, parts.repair, window, wanted->rtt_ns);
  vv_gap_init(&group->gap, wanted->rtt_ns, wanted->rank % VV_TREE_SLOTS * wanted->slot_ns, wanted->ranks, window);
  vv_rate_init(&group->rate, wanted->rate_bps, (uint64_t)wanted->burst_datagrams * wanted->datagram_bytes, window);
  vv_member_init(&group->member, wanted->rtt_ns);
  group->stalled_ns = group->poll_ns = group->remind_ns = group->report_ns = VV_NEVER;
  group->late_rank = UINT32_MAX;
}

static void begin(struct vv_group *group, const struct vv_group_operation *operation) {
  struct vv_group_current *current = &group->current;
  *current = (struct vv_group_current){.busy = true,
                                       .wanted = *operation,
                                       .number = group->operations,
                                       .first = group->consumed,
                                       .size_bytes = operation->size_bytes,
                                       .representation = operation->representation};
  group->operations += group->operations < UINT32_MAX ? 1 : 2;
  group->last_root = operation->root;
  vv_peer_turn(group, operation->root);
}

/* True when another rank's data lie where this root's are to be. */
static bool occupied(const struct vv_group *group) {
  return vv_store_find(&group->store, group->consumed) != NULL;
}

static void start_as_root(struct vv_group *group, uint64_t now_ns) {
  struct vv_group_current *current = &group->current;
  current->laid_out = true;
  current->end = current->first + vv_cut_count(current->size_bytes, group->body_bytes);
  group->own_end = current->end;
  group->own_number = current->number;
  if (occupied(group)) vv_peer_fail(group, now_ns, group->wanted.rank, VV_GROUP_UNEQUAL_ROOT);
}

void vv_group_start(struct vv_group *group, uint64_t now_ns, const struct vv_group_operation *operation) {
  assert(!group->current.busy && !group->closing && operation->root < group->wanted.ranks);
  assert(operation->size_bytes <= VV_GROUP_SIZE_BYTES_MAX);
  if (group->left && !group->member.failed) vv_peer_fail(group, now_ns, group->left_rank, VV_GROUP_LEFT);
  if (group->member.failed) {
    vv_group_tell(group, VV_GROUP_FAILED);
    return;
  }
  begin(group, operation);
  if (group->wanted.ranks == 1) {
    group->current.busy = false;
    vv_group_tell(group, VV_GROUP_DONE);
  } else if (operation->root == group->wanted.rank) {
    start_as_root(group, now_ns);
  } else {
    vv_receiver_start(group, now_ns);
  }
}

void vv_group_redirect(struct vv_group *group, uint64_t now_ns, uint8_t *buffer, uint64_t room_bytes) {
  assert(group->operations > 0 && group->current.wanted.root != group->wanted.rank);
  vv_receiver_redirect(group, now_ns, buffer, room_bytes);
}

void vv_group_take(struct vv_group *group, uint64_t now_ns, enum vv_group_socket from, const uint8_t *bytes,
                   size_t count) {
  struct vv_group_pdu pdu;
  if (vv_group_pdu_parse(&group->keys, group->wanted.stream, group->consumed, bytes, count, &pdu)) {
    vv_group_take_pdu(group, now_ns, from, &pdu);
  } else {
    group->counts.foreign++;
  }
}

void vv_group_take_pdu(struct vv_group *group, uint64_t now_ns, enum vv_group_socket from,
                       const struct vv_group_pdu *pdu) {
  if (pdu->kind > VV_GROUP_DATA) {
    vv_peer_control(group, now_ns, pdu);
  } else if (!group->member.failed) {
    vv_receiver_data(group, now_ns, from, pdu);
  }
}

void vv_group_dry(struct vv_group *group, uint64_t then_ns) {
  vv_receiver_dry(group, then_ns);
}

static bool next_letter(struct vv_group *group, struct vv_group_datagram *datagram) {
  const struct vv_outbox_letter *letter = vv_outbox_take(&group->outbox);
  if (letter == NULL) return false;
  datagram->way = letter->rank == VV_OUTBOX_ALL ? VV_GROUP_TO_CONTROL : VV_GROUP_TO_RANK;
  datagram->rank = letter->rank;
  datagram->header_bytes = vv_group_pdu_emit(&group->keys, group->wanted.stream, &letter->pdu, datagram->header);
  datagram->payload = NULL;
  datagram->payload_bytes = 0;
  group->counts.control++;
  group->counts.control_bytes += datagram->header_bytes;
  return true;
}

bool vv_group_next(struct vv_group *group, uint64_t now_ns, struct vv_group_datagram *datagram) {
  if (group->wanted.ranks == 1) return false;
  if (group->member.failed) {
    vv_peer_cry(group, now_ns);
    return next_letter(group, datagram);
  }
  vv_sender_speak(group, now_ns);
  vv_receiver_ask(group, now_ns);
  vv_peer_speak(group, now_ns);
  return next_letter(group, datagram) || vv_sender_repair(group, now_ns, datagram) ||
         vv_sender_data(group, now_ns, datagram);
}

bool vv_group_event(struct vv_group *group, struct vv_group_event *event) {
  for (int kind = 0; group->waiting != 0; kind++) {
    if ((group->waiting >> kind & 1) == 0) continue;
    vv_group_untell(group, (enum vv_group_event_kind)kind);
    *event = (struct vv_group_event){.kind = (enum vv_group_event_kind)kind,
                                     .size_bytes = group->current.size_bytes,
                                     .representation = group->current.representation,
                                     .rank = group->late_rank,
                                     .failure = group->member.failure};
    return true;
  }
  return false;
}

uint64_t vv_group_duty_ns(const struct vv_group *group) {
  if (group->outbox.count > 0) return 0;
  if (group->member.failed) return group->member.cry_ns;
  uint64_t next_ns = vv_sender_deadline_ns(group);
  return group->report_ns < next_ns ? group->report_ns : next_ns;
}

uint64_t vv_group_deadline_ns(const struct vv_group *group) {
  uint64_t next_ns = vv_group_duty_ns(group);
  return !group->member.failed && group->gap.ask_ns < next_ns ? group->gap.ask_ns : next_ns;
}

bool vv_group_wants_data(const struct vv_group *group) {
  return group->current.busy && group->current.wanted.root != group->wanted.rank;
}

bool vv_group_wants_data_alone(const struct vv_group *group) {
  return vv_group_wants_data(group) && !group->gap.lacking && group->gap.outstanding == 0;
}

void vv_group_lost(struct vv_group *group, uint64_t now_ns, uint32_t rank, enum vv_group_why why) {
  assert(rank < group->wanted.ranks);
  if (!group->closed) vv_peer_lost(group, now_ns, rank, why);
}

void vv_group_close(struct vv_group *group, uint64_t now_ns) {
  assert(!group->current.busy && !group->closing);
  group->closing = true;
  if (group->member.failed) return;
  bool whole = group->wanted.ranks == 1 || group->left || group->credit.horizon >= group->consumed;
  if (whole) {
    group->closed = true;
    vv_group_tell(group, VV_GROUP_CLOSED);
  } else if (group->last_root == group->wanted.rank) {
    vv_sender_stall(group, now_ns);
  } else {
    vv_gap_close(&group->gap, now_ns);
  }
}
