/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/receiver.h"

#include <string.h>

#include "core/base/heap.h"
#include "core/group/cut.h"
#include "core/group/peer.h"
#include "core/group/sender.h"

enum { BITMAP_BITS = 8 * VV_GROUP_BITMAP_BYTES };

static bool waits(const struct vv_group *group) {
  return group->current.busy && group->current.wanted.root != group->wanted.rank;
}

static bool has(const struct vv_group *group, uint64_t position) {
  return vv_store_find(&group->store, position) != NULL;
}

/* True when the position belongs to the present operation, as far as that is known. */
static bool is_present(const struct vv_group *group, uint64_t position) {
  const struct vv_group_current *current = &group->current;
  return waits(group) && current->laid_out && position >= current->first && position < current->end;
}

/* True when a body of that kind and size is what the present operation has at that position. */
static bool fits(const struct vv_group *group, const struct vv_group_pdu *pdu) {
  const struct vv_group_current *current = &group->current;
  bool first = pdu->position == current->first;
  uint64_t number = pdu->position - current->first;
  return first == (pdu->kind == VV_GROUP_HEAD) &&
         vv_cut_piece(current->size_bytes, group->body_bytes, number).bytes == pdu->data_bytes;
}

static void copy_to_buffer(struct vv_group *group, const struct vv_group_pdu *pdu) {
  const struct vv_group_current *current = &group->current;
  struct vv_cut cut = vv_cut_piece(current->size_bytes, group->body_bytes, pdu->position - current->first);
  if (cut.bytes > 0) memcpy(current->wanted.buffer + cut.offset, pdu->data, cut.bytes);
}

/* The body as it came, HEAD's numbers included: they lie right before the data. */
static void hold(struct vv_group *group, const struct vv_group_pdu *pdu) {
  bool head = pdu->kind == VV_GROUP_HEAD;
  size_t before = head ? VV_GROUP_HEAD_BYTES : 0;
  uint8_t *body = vv_store_hold(&group->store, pdu->position, head, false, before + pdu->data_bytes);
  memcpy(body, pdu->data - before, before + pdu->data_bytes);
}

static bool held(const struct vv_group *group, uint64_t position, struct vv_group_pdu *pdu) {
  const struct vv_store_slot *slot = vv_store_find(&group->store, position);
  if (slot == NULL || slot->state != VV_STORE_HELD) return false;
  enum vv_group_kind kind = slot->head ? VV_GROUP_HEAD : VV_GROUP_DATA;
  return vv_group_body_parse(kind, position, vv_store_body(&group->store, slot), slot->bytes, pdu);
}

/* True when the HEAD is that of the operation that this rank is in. */
static bool agrees(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *head) {
  const struct vv_group_current *current = &group->current;
  uint64_t size_bytes = current->wanted.size_bytes;
  bool size = current->wanted.size_known ? head->size_bytes == size_bytes : head->size_bytes <= size_bytes;
  if (head->rank != current->wanted.root) {
    vv_peer_fail(group, now_ns, group->wanted.rank, VV_GROUP_UNEQUAL_ROOT);
  } else if (!size) {
    vv_peer_fail(group, now_ns, group->wanted.rank, VV_GROUP_UNEQUAL_SIZE);
  }
  return !group->member.failed;
}

static void lay_out(struct vv_group *group, uint64_t size_bytes) {
  struct vv_group_current *current = &group->current;
  current->laid_out = true;
  current->size_bytes = size_bytes;
  current->end = current->first + vv_cut_count(size_bytes, group->body_bytes);
}

/* Takes what came early and belongs to the present operation. What cannot be right is dropped, and asked for again. */
static void place_early(struct vv_group *group) {
  uint64_t limit = group->current.first + group->wanted.window_datagrams;
  uint64_t end = group->current.end < limit ? group->current.end : limit;
  for (uint64_t position = group->current.first; position < end; position++) {
    struct vv_group_pdu pdu;
    if (!held(group, position, &pdu)) continue;
    if (!fits(group, &pdu)) {
      vv_store_drop(&group->store, position);
    } else if (!group->current.wanted.stream) {
      copy_to_buffer(group, &pdu);
    }
  }
}

static void take_head(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *head) {
  if (!agrees(group, now_ns, head)) return;
  group->current.representation = head->representation;
  vv_credit_horizon(&group->credit, head->horizon);
  if (vv_tree_flat(group->wanted.ranks)) {
    vv_credit_heard(&group->credit, &group->tree, head->rank, head->position, head->rank);
  }
  if (group->current.laid_out) return;
  lay_out(group, head->size_bytes);
  place_early(group);
}

static void finish(struct vv_group *group) {
  group->current.busy = false;
  vv_group_tell(group, VV_GROUP_DONE);
  vv_gap_end(&group->gap);
}

static void advance(struct vv_group *group, uint64_t now_ns) {
  if (!waits(group) || !group->current.laid_out) return;
  while (group->consumed < group->current.end && has(group, group->consumed)) group->consumed++;
  if (group->edge < group->consumed) group->edge = group->consumed;
  if (group->consumed == group->current.end) finish(group);
  vv_peer_report(group, now_ns);
}

void vv_receiver_start(struct vv_group *group, uint64_t now_ns) {
  struct vv_group_pdu head;
  if (held(group, group->current.first, &head)) {
    take_head(group, now_ns, &head);
  } else if (group->current.wanted.size_known) {
    lay_out(group, group->current.wanted.size_bytes);
    place_early(group);
  }
  if (group->member.failed) return;
  advance(group, now_ns);
  if (waits(group)) vv_gap_begin(&group->gap, now_ns, group->consumed < group->edge);
}

void vv_receiver_redirect(struct vv_group *group, uint64_t now_ns, uint8_t *buffer, uint64_t room_bytes) {
  struct vv_group_current *current = &group->current;
  if (current->laid_out && current->size_bytes > room_bytes) {
    vv_peer_fail(group, now_ns, group->wanted.rank, VV_GROUP_UNEQUAL_SIZE);
    return;
  }
  if (current->laid_out && current->size_bytes > 0) memcpy(buffer, current->wanted.buffer, current->size_bytes);
  current->wanted.buffer = buffer;
  current->wanted.size_bytes = current->wanted.size_known ? current->size_bytes : room_bytes;
}

/* A datagram that this rank has no use for. */
static bool useless(struct vv_group *group, const struct vv_group_pdu *pdu) {
  uint64_t *why = NULL;
  if (pdu->position < group->consumed || has(group, pdu->position)) {
    why = &group->counts.repeated;
  } else if (pdu->position >= group->consumed + group->wanted.window_datagrams) {
    why = &group->counts.beyond;
  }
  if (why != NULL) ++*why;
  return why != NULL;
}

/* Puts the data where they belong. False when they cannot be right. */
static bool put(struct vv_group *group, uint64_t now_ns, const struct vv_group_pdu *pdu) {
  bool head = pdu->kind == VV_GROUP_HEAD;
  if (head && waits(group) && pdu->position == group->current.first) take_head(group, now_ns, pdu);
  if (group->member.failed) return false;
  bool present = is_present(group, pdu->position);
  if (present && !fits(group, pdu)) {
    group->counts.foreign++;
    return false;
  }
  bool placed = present && !group->current.wanted.stream;
  if (placed) copy_to_buffer(group, pdu);
  if (placed && !head && !vv_store_outlives(&group->store, pdu->position, group->current.end)) {
    vv_store_place(&group->store, pdu->position, false, false);
  } else {
    hold(group, pdu);
  }
  return true;
}

/* True when another rank was, or is, root of the operation that this HEAD begins. */
static bool contradicts(const struct vv_group *group, const struct vv_group_pdu *head) {
  const struct vv_store_slot *slot = vv_store_find(&group->store, head->position);
  struct vv_group_pdu other;
  if (vv_sender_active(group) && head->position == group->current.first) return true;
  if (slot == NULL) return false;
  return slot->own || (held(group, head->position, &other) && other.rank != head->rank);
}

/* What nobody has been told yet is taken back. */
static void turn_hearing(struct vv_group *group) {
  enum vv_group_event_kind kind = group->gap.deaf ? VV_GROUP_DEAFENED : VV_GROUP_HEARING;
  enum vv_group_event_kind other = group->gap.deaf ? VV_GROUP_HEARING : VV_GROUP_DEAFENED;
  if ((group->waiting >> other & 1) != 0) {
    vv_group_untell(group, other);
  } else {
    vv_group_tell(group, kind);
  }
}

/* The DATA socket gives in the order of the network: what is before this and has not come will not come from there. */
static void hear(struct vv_group *group, uint64_t position) {
  uint64_t limit = group->consumed + group->wanted.window_datagrams;
  if (position >= group->passed && position < limit) group->passed = position + 1;
  if (vv_gap_heard(&group->gap)) turn_hearing(group);
}

static enum vv_gap_lack lack(const struct vv_group *group) {
  if (group->consumed < group->passed) return VV_GAP_HOLE;
  return group->consumed < group->edge ? VV_GAP_REST : VV_GAP_NOTHING;
}

/* A repair is no sign of deafness while what it repeats may lie in the DATA socket. */
static void mind_hearing(struct vv_group *group, uint64_t position) {
  if (position < group->passed && vv_gap_repaired(&group->gap, group->edge, group->passed)) turn_hearing(group);
}

void vv_receiver_data(struct vv_group *group, uint64_t now_ns, enum vv_group_socket from,
                      const struct vv_group_pdu *pdu) {
  bool by_multicast = from == VV_GROUP_SOCKET_DATA;
  bool head = pdu->kind == VV_GROUP_HEAD;
  if (head && pdu->rank >= group->wanted.ranks) {
    group->counts.foreign++;
    return;
  }
  if (head && pdu->rank != group->wanted.rank && contradicts(group, pdu)) {
    vv_peer_fail(group, now_ns, pdu->rank, VV_GROUP_UNEQUAL_ROOT);
    return;
  }
  if (pdu->data_bytes > group->body_bytes) return;
  if (by_multicast) hear(group, pdu->position);
  if (useless(group, pdu) || !put(group, now_ns, pdu)) return;
  group->counts.taken++;
  if (by_multicast) vv_gap_heard_root(&group->gap);
  if (pdu->position >= group->edge) group->edge = pdu->position + 1;
  if (pdu->position >= group->consumed) group->remind_ns = VV_NEVER;
  advance(group, now_ns);
  if (waits(group)) vv_gap_came(&group->gap, now_ns, lack(group), by_multicast);
  if (!by_multicast) mind_hearing(group, pdu->position);
}

void vv_receiver_dry(struct vv_group *group, uint64_t then_ns) {
  if (group->passed < group->edge) group->passed = group->edge;
  vv_gap_dry(&group->gap, then_ns);
}

void vv_receiver_told(struct vv_group *group, uint64_t now_ns, uint64_t edge) {
  uint64_t limit = group->consumed + group->wanted.window_datagrams;
  if (edge > limit) edge = limit;
  if (edge <= group->edge) return;
  group->edge = edge;
  if (waits(group)) vv_gap_told(&group->gap, now_ns);
}

/* True when what is lacking is not in the DATA socket; or when nothing came, and nothing lies there. */
static bool may_ask(const struct vv_group *group) {
  if (group->gap.lacking) return group->consumed < group->passed;
  return group->closing || vv_gap_is_silent(&group->gap);
}

/* Writes the lacking positions into the bitmap, ask_max at most, and tells how many they are. */
static uint32_t list_lacking(const struct vv_group *group, uint8_t bitmap[VV_GROUP_BITMAP_BYTES], size_t *bytes) {
  uint32_t count = 0;
  *bytes = 0;
  memset(bitmap, 0, VV_GROUP_BITMAP_BYTES);
  for (uint32_t i = 0; i < BITMAP_BITS && count < group->gap.ask_max; i++) {
    uint64_t position = group->consumed + i;
    if (position >= group->edge || position >= group->passed) break;
    if (has(group, position)) continue;
    bitmap[i / 8] |= (uint8_t)(1u << i % 8);
    *bytes = i / 8 + 1;
    count++;
  }
  return count;
}

void vv_receiver_ask(struct vv_group *group, uint64_t now_ns) {
  uint8_t bitmap[VV_GROUP_BITMAP_BYTES];
  size_t bytes;
  if (group->gap.ask_ns > now_ns || !may_ask(group)) return;
  uint32_t count = list_lacking(group, bitmap, &bytes);
  struct vv_tree tree = group->tree;
  tree.root = group->last_root;
  uint32_t rank = vv_tree_helper(&tree, group->gap.attempt);
  if (rank == tree.root && vv_gap_spares_root(&group->gap)) rank = vv_tree_helper(&tree, group->gap.attempt + 1);
  bool more = vv_gap_wants_more(&group->gap);
  vv_gap_asked(&group->gap, now_ns, count + (more ? VV_GAP_MORE_MAX : 0), rank == tree.root);
  struct vv_group_pdu ask = {.kind = VV_GROUP_ASK,
                             .position = group->consumed,
                             .source = group->wanted.rank,
                             .operation = group->current.number,
                             .rank = group->last_root,
                             .data = bitmap,
                             .data_bytes = bytes};
  if (group->gap.deaf) ask.flags |= VV_GROUP_ASK_DEAF;
  if (more) ask.flags |= VV_GROUP_ASK_MORE;
  vv_outbox_put(&group->outbox, rank, &ask);
  group->counts.asks++;
}
