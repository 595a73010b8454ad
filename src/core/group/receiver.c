/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/receiver.h"

#include <string.h>

#include "core/group/cut.h"
#include "core/group/progress.h"
#include "core/group/say.h"

enum { BITMAP_BITS = 8 * VV_GPDU_BITMAP_BYTES };

static bool has(const struct vv_rank *self, uint64_t position) {
  return vv_store_find(&self->store, position) != NULL;
}

/* True when the position belongs to the present operation, as far as that is known. */
static bool is_present(const struct vv_rank *self, uint64_t position) {
  const struct vv_rank_current *current = &self->current;
  return vv_rank_waits(self) && current->laid_out && position >= current->first && position < current->end;
}

/* True when a body of that kind and size is what the present operation has at that position. */
static bool fits(const struct vv_rank *self, const struct vv_gpdu *pdu) {
  const struct vv_rank_current *current = &self->current;
  bool first = pdu->position == current->first;
  uint64_t number = pdu->position - current->first;
  return first == (pdu->kind == VV_GPDU_HEAD) &&
         vv_cut_piece(current->size_bytes, self->body_bytes, number).bytes == pdu->data_bytes;
}

static void copy_to_buffer(struct vv_rank *self, const struct vv_gpdu *pdu) {
  const struct vv_rank_current *current = &self->current;
  struct vv_cut cut = vv_cut_piece(current->size_bytes, self->body_bytes, pdu->position - current->first);
  if (cut.bytes > 0) memcpy(current->operation.buffer + cut.offset, pdu->data, cut.bytes);
}

/* The body as it came, HEAD's numbers included: they lie right before the data. */
static void hold(struct vv_rank *self, const struct vv_gpdu *pdu) {
  bool head = pdu->kind == VV_GPDU_HEAD;
  size_t before = head ? VV_GPDU_HEAD_BYTES : 0;
  uint8_t *body = vv_store_hold(&self->store, pdu->position, head, false, before + pdu->data_bytes);
  memcpy(body, pdu->data - before, before + pdu->data_bytes);
}

static bool held(const struct vv_rank *self, uint64_t position, struct vv_gpdu *pdu) {
  const struct vv_store_slot *slot = vv_store_find(&self->store, position);
  if (slot == NULL || slot->state != VV_STORE_HELD) return false;
  enum vv_gpdu_kind kind = slot->head ? VV_GPDU_HEAD : VV_GPDU_DATA;
  return vv_gpdu_body_parse(kind, position, vv_store_body(&self->store, slot), slot->bytes, pdu);
}

/* True when the HEAD is that of the operation that this rank is in. */
static bool agrees(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *head) {
  const struct vv_rank_current *current = &self->current;
  uint64_t size_bytes = current->operation.size_bytes;
  bool size = current->operation.size_known ? head->size_bytes == size_bytes : head->size_bytes <= size_bytes;
  if (head->rank != current->operation.root) {
    vv_say_fail(self, now_ns, self->config.rank, VV_GPDU_UNEQUAL_ROOT);
  } else if (!size) {
    vv_say_fail(self, now_ns, self->config.rank, VV_GPDU_UNEQUAL_SIZE);
  }
  return !self->member.failed;
}

static void lay_out(struct vv_rank *self, uint64_t size_bytes) {
  struct vv_rank_current *current = &self->current;
  current->laid_out = true;
  current->size_bytes = size_bytes;
  current->end = current->first + vv_cut_count(size_bytes, self->body_bytes);
}

/* Takes what came early and belongs to the present operation. What cannot be right is dropped, and asked for again. */
static void place_early(struct vv_rank *self) {
  uint64_t limit = self->current.first + self->config.window_datagrams;
  uint64_t end = self->current.end < limit ? self->current.end : limit;
  for (uint64_t position = self->current.first; position < end; position++) {
    struct vv_gpdu pdu;
    if (!held(self, position, &pdu)) continue;
    if (!fits(self, &pdu)) {
      vv_store_drop(&self->store, position);
    } else if (!self->current.operation.stream) {
      copy_to_buffer(self, &pdu);
    }
  }
}

static void take_head(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *head) {
  if (!agrees(self, now_ns, head)) return;
  self->current.representation = head->representation;
  vv_credit_horizon(&self->credit, head->horizon);
  if (vv_tree_flat(self->config.ranks)) {
    vv_credit_heard(&self->credit, &self->tree, head->rank, head->position, head->rank);
  }
  if (self->current.laid_out) return;
  lay_out(self, head->size_bytes);
  place_early(self);
}

static void finish(struct vv_rank *self) {
  self->current.busy = false;
  vv_rank_tell(self, VV_RANK_DONE);
  vv_gap_end(&self->gap);
}

static void advance(struct vv_rank *self, vv_ns now_ns) {
  if (!vv_rank_waits(self) || !self->current.laid_out) return;
  while (self->consumed < self->current.end && has(self, self->consumed)) self->consumed++;
  if (self->edge < self->consumed) self->edge = self->consumed;
  if (self->consumed == self->current.end) finish(self);
  vv_progress_report(self, now_ns);
}

void vv_receiver_start(struct vv_rank *self, vv_ns now_ns) {
  struct vv_gpdu head;
  if (held(self, self->current.first, &head)) {
    take_head(self, now_ns, &head);
  } else if (self->current.operation.size_known) {
    lay_out(self, self->current.operation.size_bytes);
    place_early(self);
  }
  if (self->member.failed) return;
  advance(self, now_ns);
  if (vv_rank_waits(self)) vv_gap_begin(&self->gap, now_ns, self->consumed < self->edge);
}

void vv_receiver_redirect(struct vv_rank *self, vv_ns now_ns, uint8_t *buffer, uint64_t room_bytes) {
  struct vv_rank_current *current = &self->current;
  if (current->laid_out && current->size_bytes > room_bytes) {
    vv_say_fail(self, now_ns, self->config.rank, VV_GPDU_UNEQUAL_SIZE);
    return;
  }
  if (current->laid_out && current->size_bytes > 0) memcpy(buffer, current->operation.buffer, current->size_bytes);
  current->operation.buffer = buffer;
  current->operation.size_bytes = current->operation.size_known ? current->size_bytes : room_bytes;
}

/* A datagram that this rank has no use for. */
static bool useless(struct vv_rank *self, const struct vv_gpdu *pdu) {
  uint64_t *why = NULL;
  if (pdu->position < self->consumed || has(self, pdu->position)) {
    why = &self->counts.repeated;
  } else if (pdu->position >= self->consumed + self->config.window_datagrams) {
    why = &self->counts.beyond;
  }
  if (why != NULL) ++*why;
  return why != NULL;
}

/* Puts the data where they belong. False when they cannot be right. */
static bool put(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *pdu) {
  bool head = pdu->kind == VV_GPDU_HEAD;
  if (head && vv_rank_waits(self) && pdu->position == self->current.first) take_head(self, now_ns, pdu);
  if (self->member.failed) return false;
  bool present = is_present(self, pdu->position);
  if (present && !fits(self, pdu)) {
    self->counts.foreign++;
    return false;
  }
  bool placed = present && !self->current.operation.stream;
  if (placed) copy_to_buffer(self, pdu);
  if (placed && !head && !vv_store_outlives(&self->store, pdu->position, self->current.end)) {
    vv_store_place(&self->store, pdu->position, false, false);
  } else {
    hold(self, pdu);
  }
  return true;
}

/* True when another rank was, or is, root of the operation that this HEAD begins. */
static bool contradicts(const struct vv_rank *self, const struct vv_gpdu *head) {
  const struct vv_store_slot *slot = vv_store_find(&self->store, head->position);
  struct vv_gpdu other;
  if (vv_rank_is_root(self) && head->position == self->current.first) return true;
  if (slot == NULL) return false;
  return slot->own || (held(self, head->position, &other) && other.rank != head->rank);
}

/* What nobody has been told yet is taken back. */
static void turn_hearing(struct vv_rank *self) {
  enum vv_rank_event_kind kind = self->gap.deaf ? VV_RANK_DEAFENED : VV_RANK_HEARING;
  enum vv_rank_event_kind other = self->gap.deaf ? VV_RANK_HEARING : VV_RANK_DEAFENED;
  if ((self->waiting >> other & 1) != 0) {
    vv_rank_untell(self, other);
  } else {
    vv_rank_tell(self, kind);
  }
}

/* The DATA socket gives in the order of the network: what is before this and has not come will not come from there. */
static void hear(struct vv_rank *self, uint64_t position) {
  uint64_t limit = self->consumed + self->config.window_datagrams;
  if (position >= self->passed && position < limit) self->passed = position + 1;
  if (vv_gap_heard(&self->gap)) turn_hearing(self);
}

static enum vv_gap_lack lack(const struct vv_rank *self) {
  if (self->consumed < self->passed) return VV_GAP_HOLE;
  return self->consumed < self->edge ? VV_GAP_REST : VV_GAP_NOTHING;
}

/* A repair is no sign of deafness while what it repeats may lie in the DATA socket. */
static void mind_hearing(struct vv_rank *self, uint64_t position) {
  if (position < self->passed && vv_gap_repaired(&self->gap, self->edge, self->passed)) turn_hearing(self);
}

void vv_receiver_data(struct vv_rank *self, vv_ns now_ns, enum vv_rank_socket from, const struct vv_gpdu *pdu) {
  bool by_multicast = from == VV_RANK_SOCKET_DATA;
  bool head = pdu->kind == VV_GPDU_HEAD;
  if (head && pdu->rank >= self->config.ranks) {
    self->counts.foreign++;
    return;
  }
  if (head && pdu->rank != self->config.rank && contradicts(self, pdu)) {
    vv_say_fail(self, now_ns, pdu->rank, VV_GPDU_UNEQUAL_ROOT);
    return;
  }
  if (pdu->data_bytes > self->body_bytes) return;
  if (by_multicast) hear(self, pdu->position);
  if (useless(self, pdu) || !put(self, now_ns, pdu)) return;
  self->counts.taken++;
  if (by_multicast) vv_gap_heard_root(&self->gap);
  if (pdu->position >= self->edge) self->edge = pdu->position + 1;
  if (pdu->position >= self->consumed) self->remind_ns = VV_NEVER;
  advance(self, now_ns);
  if (vv_rank_waits(self)) vv_gap_came(&self->gap, now_ns, lack(self), by_multicast);
  if (!by_multicast) mind_hearing(self, pdu->position);
}

void vv_receiver_dry(struct vv_rank *self, vv_ns then_ns) {
  if (self->passed < self->edge) self->passed = self->edge;
  vv_gap_dry(&self->gap, then_ns);
}

void vv_receiver_told(struct vv_rank *self, vv_ns now_ns, uint64_t edge) {
  uint64_t limit = self->consumed + self->config.window_datagrams;
  if (edge > limit) edge = limit;
  if (edge <= self->edge) return;
  self->edge = edge;
  if (vv_rank_waits(self)) vv_gap_told(&self->gap, now_ns);
}

/* True when what is lacking is not in the DATA socket; or when nothing came, and nothing lies there. */
static bool may_ask(const struct vv_rank *self) {
  if (self->gap.lacking) return self->consumed < self->passed;
  return self->closing || vv_gap_is_silent(&self->gap);
}

/* Writes the lacking positions into the bitmap, ask_max at most, and tells how many they are. */
static uint32_t list_lacking(const struct vv_rank *self, uint8_t bitmap[VV_GPDU_BITMAP_BYTES], size_t *bytes) {
  uint32_t count = 0;
  *bytes = 0;
  memset(bitmap, 0, VV_GPDU_BITMAP_BYTES);
  for (uint32_t i = 0; i < BITMAP_BITS && count < self->gap.ask_max; i++) {
    uint64_t position = self->consumed + i;
    if (position >= self->edge || position >= self->passed) break;
    if (has(self, position)) continue;
    bitmap[i / 8] |= (uint8_t)(1u << i % 8);
    *bytes = i / 8 + 1;
    count++;
  }
  return count;
}

void vv_receiver_ask(struct vv_rank *self, vv_ns now_ns) {
  uint8_t bitmap[VV_GPDU_BITMAP_BYTES];
  size_t bytes;
  if (self->gap.ask_ns > now_ns || !may_ask(self)) return;
  uint32_t count = list_lacking(self, bitmap, &bytes);
  struct vv_tree tree = self->tree;
  tree.root = self->last_root;
  uint32_t rank = vv_tree_helper(&tree, self->gap.attempt);
  if (rank == tree.root && vv_gap_spares_root(&self->gap)) rank = vv_tree_helper(&tree, self->gap.attempt + 1);
  bool more = vv_gap_wants_more(&self->gap);
  vv_gap_asked(&self->gap, now_ns, count + (more ? VV_GAP_MORE_MAX : 0), rank == tree.root);
  struct vv_gpdu ask = {.kind = VV_GPDU_ASK,
                        .position = self->consumed,
                        .source = self->config.rank,
                        .operation = self->current.number,
                        .rank = self->last_root,
                        .data = bitmap,
                        .data_bytes = bytes};
  if (self->gap.deaf) ask.flags |= VV_GPDU_ASK_DEAF;
  if (more) ask.flags |= VV_GPDU_ASK_MORE;
  vv_outbox_put(&self->outbox, rank, &ask);
  self->counts.asks++;
}
