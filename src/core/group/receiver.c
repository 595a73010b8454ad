/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/receiver.h"

#include <string.h>

#include "core/group/cut.h"
#include "core/group/progress.h"
#include "core/group/say.h"
#include "core/group/sender.h"

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
  if (current->operation.parts != NULL) return pdu->kind == VV_GPDU_PART && pdu->position - pdu->rank == current->first;
  bool first = pdu->position == current->first;
  uint64_t number = pdu->position - current->first;
  return first == (pdu->kind == VV_GPDU_HEAD) &&
         vv_cut_piece(current->size_bytes, self->body_bytes, number).bytes == pdu->data_bytes;
}

static void copy_to_buffer(struct vv_rank *self, const struct vv_gpdu *pdu) {
  const struct vv_rank_current *current = &self->current;
  if (current->operation.parts != NULL) {
    if (pdu->data_bytes > 0) memcpy(current->operation.parts[pdu->rank].buffer, pdu->data, pdu->data_bytes);
    return;
  }
  struct vv_cut cut = vv_cut_piece(current->size_bytes, self->body_bytes, pdu->position - current->first);
  if (cut.bytes > 0) memcpy(current->operation.buffer + cut.offset, pdu->data, cut.bytes);
}

/* HEAD's numbers lie right before the data. */
static size_t before_data(const struct vv_gpdu *pdu) {
  return vv_gpdu_is_headed(pdu->kind) ? VV_GPDU_HEAD_BYTES : 0;
}

/* The body as it came. */
static void hold(struct vv_rank *self, const struct vv_gpdu *pdu) {
  size_t before = before_data(pdu);
  uint8_t *body = vv_store_hold(&self->store, pdu->position, pdu->kind, false, before + pdu->data_bytes);
  memcpy(body, pdu->data - before, before + pdu->data_bytes);
}

static bool held(const struct vv_rank *self, uint64_t position, struct vv_gpdu *pdu) {
  const struct vv_store_slot *slot = vv_store_find(&self->store, position);
  if (slot == NULL || slot->state != VV_STORE_HELD) return false;
  return vv_gpdu_body_parse((enum vv_gpdu_kind)slot->kind, position, vv_store_body(&self->store, slot), slot->bytes,
                            pdu);
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

/* Others are in another operation than this rank, which says so. */
static void disagree(struct vv_rank *self, vv_ns now_ns) {
  vv_say_fail(self, now_ns, self->config.rank, VV_GPDU_UNEQUAL_ROOT);
}

/* True when a datagram for the present round is a part of it, of the size that this rank expects. */
static bool joins(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *pdu) {
  if (!fits(self, pdu)) {
    disagree(self, now_ns);
  } else if (self->current.operation.parts[pdu->rank].bytes != pdu->data_bytes) {
    vv_say_fail(self, now_ns, self->config.rank, VV_GPDU_UNEQUAL_SIZE);
  }
  return !self->member.failed;
}

/* Takes what came early and belongs to the present operation. What cannot be right is dropped, and asked for again. */
static void place_early(struct vv_rank *self, vv_ns now_ns) {
  uint64_t limit = self->current.first + self->config.window_datagrams;
  uint64_t end = self->current.end < limit ? self->current.end : limit;
  for (uint64_t position = self->current.first; position < end; position++) {
    struct vv_gpdu pdu;
    if (!held(self, position, &pdu)) continue;
    if (vv_rank_in_round(self) && !joins(self, now_ns, &pdu)) return;
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
  place_early(self, now_ns);
}

/* All know by their parts that all have consumed what was before the round: nobody need publish it. */
static void finish_round(struct vv_rank *self, vv_ns now_ns) {
  if (self->published < self->current.first) self->published = self->current.first;
  if (self->urged && self->urged_operation == self->current.number) vv_sender_remind(self, now_ns);
}

static void finish(struct vv_rank *self, vv_ns now_ns) {
  if (vv_rank_in_round(self)) finish_round(self, now_ns);
  self->current.busy = false;
  vv_rank_tell(self, VV_RANK_DONE);
  vv_gap_end(&self->gap);
}

/* In a round nobody reports: the parts of the next one say it. */
void vv_receiver_advance(struct vv_rank *self, vv_ns now_ns) {
  bool round = vv_rank_in_round(self);
  if (!vv_rank_waits(self) || !self->current.laid_out) return;
  while (self->consumed < self->current.end && has(self, self->consumed)) self->consumed++;
  vv_sight_sent(&self->sight, self->consumed);
  if (self->consumed == self->current.end) finish(self, now_ns);
  if (round) {
    vv_progress_horizon(self, now_ns, 0);
  } else {
    vv_progress_report(self, now_ns);
  }
}

/* True when this rank's own part is at that position, which it may not have sent yet: nobody else will. */
static bool is_own_part(const struct vv_rank *self, uint64_t position) {
  return vv_rank_in_round(self) && position == self->current.first + self->config.rank;
}

/* Of a round any of its positions may be lacking, of a message they come one behind the other. */
static enum vv_gap_lack lack(const struct vv_rank *self) {
  uint64_t end = vv_rank_in_round(self) ? self->current.end : self->consumed + 1;
  enum vv_gap_lack found = VV_GAP_NOTHING;
  for (uint64_t position = self->consumed; position < end; position++) {
    if (has(self, position) || is_own_part(self, position)) continue;
    if (vv_sight_is_passed(&self->sight, position)) return VV_GAP_HOLE;
    if (vv_sight_is_sent(&self->sight, position)) found = VV_GAP_REST;
  }
  return found;
}

/* True when single positions are known to be sent where this rank expects a message. */
static bool is_round_of_others(const struct vv_rank *self) {
  return self->current.busy && !vv_rank_in_round(self) && self->sight.edge == self->current.first &&
         self->sight.sent_beyond != 0;
}

void vv_receiver_start(struct vv_rank *self, vv_ns now_ns) {
  struct vv_gpdu head;
  if (is_round_of_others(self)) {
    disagree(self, now_ns);
  } else if (vv_rank_in_round(self)) {
    place_early(self, now_ns);
  } else if (held(self, self->current.first, &head)) {
    if (head.kind == VV_GPDU_PART) return disagree(self, now_ns);
    take_head(self, now_ns, &head);
  } else if (self->current.operation.size_known) {
    lay_out(self, self->current.operation.size_bytes);
    place_early(self, now_ns);
  }
  if (self->member.failed) return;
  vv_receiver_advance(self, now_ns);
  if (vv_rank_waits(self)) vv_gap_begin(&self->gap, now_ns, lack(self) != VV_GAP_NOTHING);
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
  bool begins = head && vv_rank_waits(self) && !vv_rank_in_round(self) && pdu->position == self->current.first;
  if (begins) take_head(self, now_ns, pdu);
  if (self->member.failed) return false;
  bool present = is_present(self, pdu->position);
  if (present && vv_rank_in_round(self) && !joins(self, now_ns, pdu)) return false;
  if (present && !fits(self, pdu)) {
    self->counts.foreign++;
    return false;
  }
  bool placed = present && !self->current.operation.stream;
  if (placed) copy_to_buffer(self, pdu);
  if (placed && pdu->kind == VV_GPDU_DATA && !vv_store_outlives(&self->store, pdu->position, self->current.end)) {
    vv_store_place(&self->store, pdu->position, pdu->kind, false);
  } else {
    hold(self, pdu);
  }
  return true;
}

/* True when another rank was, or is, root of the operation that this HEAD begins; or one of them is a round. */
static bool contradicts(const struct vv_rank *self, const struct vv_gpdu *head) {
  const struct vv_store_slot *slot = vv_store_find(&self->store, head->position);
  struct vv_gpdu other;
  if (vv_rank_is_root(self) && head->position == self->current.first) return true;
  if (slot == NULL) return false;
  if (slot->kind == VV_GPDU_PART || head->kind == VV_GPDU_PART) return slot->kind != head->kind;
  return slot->own || (held(self, head->position, &other) && other.rank != head->rank);
}

/* True when no rank of this group can have sent it, but this one, which has not. */
static bool is_impossible(const struct vv_rank *self, const struct vv_gpdu *pdu) {
  bool headed = vv_gpdu_is_headed(pdu->kind);
  if (headed && pdu->rank >= self->config.ranks) return true;
  if (pdu->kind == VV_GPDU_PART && (pdu->rank == self->config.rank || !vv_tree_flat(self->config.ranks))) return true;
  return before_data(pdu) + pdu->data_bytes > self->body_bytes;
}

/* All positions below had been sent when this was: of a part, those before its round. */
static uint64_t sent_before(const struct vv_gpdu *pdu) {
  return pdu->kind == VV_GPDU_PART ? pdu->position - pdu->rank : pdu->position + 1;
}

/* A part says where its rank is, whenever it comes. */
static void mind_part(struct vv_rank *self, const struct vv_gpdu *part) {
  uint64_t begin = sent_before(part);
  vv_sight_sent(&self->sight, begin);
  vv_sight_sent_one(&self->sight, part->position);
  vv_credit_heard(&self->credit, &self->tree, part->rank, begin, part->rank);
  if (part->horizon <= self->consumed) vv_credit_horizon(&self->credit, part->horizon);
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
static void hear(struct vv_rank *self, const struct vv_gpdu *pdu) {
  uint64_t limit = self->consumed + self->config.window_datagrams;
  if (pdu->position < limit) vv_sight_pass(&self->sight, sent_before(pdu));
  if (vv_gap_heard(&self->gap)) turn_hearing(self);
}

/* A repair is no sign of deafness while what it repeats may lie in the DATA socket. */
static void mind_hearing(struct vv_rank *self, uint64_t position) {
  bool passed = vv_sight_is_passed(&self->sight, position);
  if (passed && vv_gap_repaired(&self->gap, self->sight.edge, self->sight.passed)) turn_hearing(self);
}

void vv_receiver_data(struct vv_rank *self, vv_ns now_ns, enum vv_rank_socket from, const struct vv_gpdu *pdu) {
  bool by_multicast = from == VV_RANK_SOCKET_DATA;
  if (is_impossible(self, pdu)) {
    self->counts.foreign++;
    return;
  }
  if (vv_gpdu_is_headed(pdu->kind) && pdu->rank != self->config.rank && contradicts(self, pdu)) {
    vv_say_fail(self, now_ns, pdu->rank, VV_GPDU_UNEQUAL_ROOT);
    return;
  }
  bool message = self->current.busy && !vv_rank_in_round(self);
  if (message && pdu->kind == VV_GPDU_PART && sent_before(pdu) == self->current.first) return disagree(self, now_ns);
  if (by_multicast)
    hear(self, pdu);
  else
    vv_gap_brought(&self->gap);
  if (useless(self, pdu) || !put(self, now_ns, pdu)) return;
  self->counts.taken++;
  if (by_multicast) vv_gap_heard_root(&self->gap);
  if (pdu->kind == VV_GPDU_PART) {
    mind_part(self, pdu);
  } else {
    vv_sight_sent(&self->sight, pdu->position + 1);
  }
  if (pdu->position >= self->consumed) self->remind_ns = VV_NEVER;
  vv_receiver_advance(self, now_ns);
  if (vv_rank_waits(self)) vv_gap_came(&self->gap, now_ns, lack(self), by_multicast);
  if (!by_multicast) mind_hearing(self, pdu->position);
}

void vv_receiver_dry(struct vv_rank *self, vv_ns then_ns) {
  vv_sight_dry(&self->sight);
  vv_gap_dry(&self->gap, then_ns);
}

void vv_receiver_told(struct vv_rank *self, vv_ns now_ns, uint64_t edge, uint32_t beyond) {
  uint64_t limit = self->consumed + self->config.window_datagrams;
  const struct vv_sight before = self->sight;
  if (edge > limit) edge = limit;
  vv_sight_sent(&self->sight, edge);
  for (uint32_t i = 0; i < VV_SIGHT_BEYOND && edge + i < limit; i++) {
    if ((beyond >> i & 1) != 0) vv_sight_sent_one(&self->sight, edge + i);
  }
  bool news = before.edge != self->sight.edge || before.sent_beyond != self->sight.sent_beyond;
  if (!news || !vv_rank_waits(self)) return;
  if (is_round_of_others(self)) return disagree(self, now_ns);
  if (lack(self) != VV_GAP_NOTHING) vv_gap_told(&self->gap, now_ns);
}

/* True when what is lacking is not in the DATA socket; or when nothing came, and nothing lies there. */
static bool may_ask(const struct vv_rank *self) {
  if (self->gap.lacking) return lack(self) == VV_GAP_HOLE;
  return self->closing || vv_gap_is_silent(&self->gap);
}

/* Writes the lacking positions into the bitmap, so many at most, and tells how many they are. */
static uint32_t list_lacking(const struct vv_rank *self, uint32_t most, uint8_t bitmap[VV_GPDU_BITMAP_BYTES],
                             size_t *bytes) {
  uint32_t count = 0;
  *bytes = 0;
  memset(bitmap, 0, VV_GPDU_BITMAP_BYTES);
  for (uint32_t i = 0; i < BITMAP_BITS && count < most; i++) {
    uint64_t position = self->consumed + i;
    if (position >= self->sight.edge + VV_SIGHT_BEYOND) break;
    if (!vv_sight_is_passed(&self->sight, position) || has(self, position) || is_own_part(self, position)) continue;
    bitmap[i / 8] |= (uint8_t)(1u << i % 8);
    *bytes = i / 8 + 1;
    count++;
  }
  return count;
}

/* Whose part of the round is the first that this rank needs: it has it for sure, if it was sent. */
static uint32_t owner_of_first(const struct vv_rank *self) {
  uint64_t position = self->consumed;
  while (position < self->current.end && (has(self, position) || is_own_part(self, position))) position++;
  for (uint64_t later = position; later < self->current.end; later++) {
    bool asks = !has(self, later) && !is_own_part(self, later) && vv_sight_is_passed(&self->sight, later);
    if (asks) return (uint32_t)(later - self->current.first);
  }
  return (uint32_t)(position - self->current.first) % self->config.ranks;
}

uint32_t vv_receiver_awaited(const struct vv_rank *self) {
  return vv_rank_in_round(self) ? owner_of_first(self) : self->last_root;
}

/* In a round every second question goes to another rank than the owner, further and further away. */
static uint32_t round_helper(const struct vv_rank *self, uint32_t owner, uint32_t attempt) {
  uint32_t ranks = self->config.ranks, rank = owner;
  if (attempt % 2 == 1) rank = (owner + 1 + attempt / 2) % ranks;
  while (rank == self->config.rank || (attempt % 2 == 1 && rank == owner && ranks > 2)) rank = (rank + 1) % ranks;
  return rank;
}

/* Whom it asks next. */
static uint32_t helper(const struct vv_rank *self, uint32_t awaited, uint32_t attempt) {
  struct vv_tree tree = self->tree;
  if (vv_rank_in_round(self)) return round_helper(self, awaited, attempt);
  tree.root = self->last_root;
  return vv_tree_helper(&tree, attempt);
}

void vv_receiver_ask(struct vv_rank *self, vv_ns now_ns) {
  uint8_t bitmap[VV_GPDU_BITMAP_BYTES];
  size_t bytes;
  if (self->gap.ask_ns > now_ns || !may_ask(self)) return;
  uint32_t count = list_lacking(self, vv_gap_room(&self->gap, now_ns), bitmap, &bytes);
  uint32_t awaited = vv_receiver_awaited(self), rank = helper(self, awaited, self->gap.attempt);
  if (rank == awaited && vv_gap_spares_root(&self->gap)) rank = helper(self, awaited, self->gap.attempt + 1);
  bool more = vv_gap_wants_more(&self->gap, now_ns);
  vv_gap_asked(&self->gap, now_ns, count + (more ? VV_GAP_MORE_MAX : 0), rank == awaited);
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
