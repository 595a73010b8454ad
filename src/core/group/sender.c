/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/sender.h"

#include <string.h>

#include "core/group/cut.h"
#include "core/group/say.h"

/* Times in round trips. */
enum {
  POLL_FIRST = 1,
  POLL_WAIT = 2,
  POLL_SLOWER = 3,
  LATE_AFTER = 8,
  REMIND_FIRST = 2,
  REMIND_SLOWER = 4,
  REMINDERS = 3
};
enum { SHARED_MAX = 8 };
enum { NEEDED_PART = 4 };         /* of a window: so much credit a root that polls waits for */
#define REMIND_NS_MIN (8 * VV_MS) /* operations that follow each other sooner say enough by themselves */
#define WAIT_NS_MAX   (8 * VV_SEC)

/* The piece of the present operation that lies at that position. */
static struct vv_gpdu present_piece(const struct vv_rank *self, uint64_t position) {
  const struct vv_rank_current *current = &self->current;
  struct vv_cut cut = vv_cut_piece(current->size_bytes, self->body_bytes, position - current->first);
  struct vv_gpdu pdu = {.kind = VV_GPDU_DATA,
                        .position = position,
                        .data = cut.bytes > 0 ? current->operation.buffer + cut.offset : NULL,
                        .data_bytes = cut.bytes};
  if (position != current->first) return pdu;
  pdu.kind = VV_GPDU_HEAD;
  pdu.rank = current->operation.root;
  pdu.size_bytes = current->size_bytes;
  pdu.horizon = self->credit.horizon < position ? self->credit.horizon : position; /* later if it is a repair */
  pdu.representation = current->operation.representation;
  return pdu;
}

static void emit(struct vv_rank *self, const struct vv_gpdu *pdu, struct vv_rank_datagram *datagram) {
  datagram->header_bytes = vv_gpdu_emit(&self->keys, self->config.stream, pdu, datagram->header);
  datagram->payload = pdu->data;
  datagram->payload_bytes = pdu->data_bytes;
}

static void hold(struct vv_rank *self, const struct vv_gpdu *pdu) {
  bool headed = vv_gpdu_is_headed(pdu->kind);
  size_t before = headed ? VV_GPDU_HEAD_BYTES : 0;
  uint8_t *body = vv_store_hold(&self->store, pdu->position, pdu->kind, true, before + pdu->data_bytes);
  if (headed) vv_gpdu_head_emit(pdu, body);
  if (pdu->data_bytes > 0) memcpy(body + before, pdu->data, pdu->data_bytes);
}

void vv_sender_remind(struct vv_rank *self, vv_ns now_ns) {
  self->reminders = 0;
  vv_ns first_ns = REMIND_FIRST * self->config.rtt_ns;
  if (first_ns < REMIND_NS_MIN) first_ns = REMIND_NS_MIN;
  self->remind_ns = now_ns + first_ns;
  self->remind_wait_ns = first_ns * REMIND_SLOWER;
}

/* Until those who answer a poll one after the other, on a hub, have all had their turn. */
static vv_ns turns_ns(const struct vv_rank *self) {
  uint32_t ranks = self->config.ranks;
  return (ranks < VV_TREE_SLOTS ? ranks : VV_TREE_SLOTS) * self->slot_ns;
}

void vv_sender_stall(struct vv_rank *self, vv_ns now_ns) {
  if (self->stalled_ns != VV_NEVER) return;
  if (!self->closing) self->counts.stalls++;
  self->stalled_ns = now_ns;
  self->poll_ns = now_ns + (self->credit.only_polled ? 0 : POLL_FIRST * self->config.rtt_ns);
  self->poll_wait_ns = POLL_WAIT * self->config.rtt_ns + turns_ns(self);
}

/* What was emitted goes for the first time. */
static void count_sent(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram) {
  uint64_t bytes = datagram->header_bytes + datagram->payload_bytes;
  datagram->way = VV_RANK_TO_DATA;
  self->counts.sent++;
  self->counts.sent_bytes += bytes;
  self->remind_ns = VV_NEVER;
  vv_rate_sent(&self->rate, now_ns, bytes);
}

static void finish(struct vv_rank *self, vv_ns now_ns) {
  self->current.busy = false;
  vv_rank_tell(self, VV_RANK_DONE);
  vv_sender_remind(self, now_ns);
}

bool vv_sender_data(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram) {
  if (!vv_rank_is_root(self)) return false;
  if (self->consumed >= vv_credit_limit(&self->credit)) {
    vv_sender_stall(self, now_ns);
    return false;
  }
  if (vv_rate_ready_ns(&self->rate, now_ns) > now_ns) return false;
  struct vv_gpdu pdu = present_piece(self, self->consumed);
  bool head = pdu.kind == VV_GPDU_HEAD;
  if (head) self->published = self->credit.horizon;
  emit(self, &pdu, datagram);
  if (vv_store_outlives(&self->store, pdu.position, self->current.end)) {
    hold(self, &pdu);
  } else {
    vv_store_place(&self->store, pdu.position, pdu.kind, true);
  }
  self->consumed++;
  vv_sight_sent(&self->sight, self->consumed);
  count_sent(self, now_ns, datagram);
  if (self->consumed == self->current.end) finish(self, now_ns);
  return true;
}

/* All wait for each other's parts, so each tells all at once that it is there. */
static void stall_part(struct vv_rank *self, vv_ns now_ns) {
  if (self->stalled_ns == VV_NEVER) vv_say_state(self, VV_OUTBOX_ALL);
  vv_sender_stall(self, now_ns);
}

bool vv_sender_part(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram) {
  uint64_t position = vv_rank_next_own(self);
  if (!vv_rank_in_round(self) || self->current.given) return false;
  if (position >= vv_credit_limit(&self->credit)) {
    stall_part(self, now_ns);
    return false;
  }
  if (vv_rate_ready_ns(&self->rate, now_ns) > now_ns) return false;
  const struct vv_rank_part *part = &self->current.operation.parts[self->config.rank];
  uint64_t first = self->current.first;
  struct vv_gpdu pdu = {.kind = VV_GPDU_PART,
                        .position = position,
                        .rank = self->config.rank,
                        .size_bytes = part->bytes,
                        .horizon = self->credit.horizon < first ? self->credit.horizon : first,
                        .data = part->bytes > 0 ? part->buffer : NULL,
                        .data_bytes = part->bytes};
  emit(self, &pdu, datagram);
  hold(self, &pdu);
  self->current.given = true;
  self->published = pdu.horizon;
  if (self->credit.reported < first) self->credit.reported = first; /* whoever gets the part knows it */
  vv_sight_sent(&self->sight, first);
  vv_sight_sent_one(&self->sight, position);
  count_sent(self, now_ns, datagram);
  return true;
}

/* What the store, or the present operation, has at that position: false when nothing. */
static bool find_piece(const struct vv_rank *self, uint64_t position, struct vv_gpdu *pdu) {
  const struct vv_store_slot *slot = vv_store_find(&self->store, position);
  if (slot == NULL) return false;
  if (slot->state == VV_STORE_PLACED) {
    if (!self->current.busy || position < self->current.first) return false;
    *pdu = present_piece(self, position);
    return true;
  }
  return vv_gpdu_body_parse((enum vv_gpdu_kind)slot->kind, position, vv_store_body(&self->store, slot), slot->bytes,
                            pdu);
}

/* True when so many have lost the same that it was no luck: half of the receivers, or as many as a few subtrees. */
static bool is_shared(const struct vv_rank *self, uint32_t ranks) {
  uint32_t half = self->config.ranks / 2;
  return ranks >= (half < SHARED_MAX ? half : SHARED_MAX);
}

bool vv_sender_repair(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram) {
  struct vv_gpdu pdu;
  struct vv_repair_order order;
  if (vv_repair_due_ns(&self->repair) > now_ns) return false;
  do {
    if (vv_rate_ready_ns(&self->rate, now_ns) > now_ns) return false;
    if (!vv_repair_next(&self->repair, now_ns, self->credit.horizon, &order)) return false;
  } while (!find_piece(self, order.position, &pdu));
  bool all = order.rank == VV_REPAIR_ALL;
  datagram->way = all ? VV_RANK_TO_CONTROL : VV_RANK_TO_RANK;
  datagram->rank = order.rank;
  emit(self, &pdu, datagram);
  uint64_t bytes = datagram->header_bytes + datagram->payload_bytes;
  if (all) {
    self->counts.repairs_all++;
  } else {
    self->counts.repairs_one++;
  }
  if (all && is_shared(self, order.ranks)) vv_rate_lost(&self->rate);
  self->counts.repair_bytes += bytes;
  vv_rate_sent(&self->rate, now_ns, bytes);
  return true;
}

/* Everything that this rank needs of the others: so much credit that it can go on, or, at the end, all. */
static uint64_t needed(const struct vv_rank *self) {
  if (vv_rank_in_round(self)) return self->current.first;
  if (self->closing || self->credit.only_polled) return self->consumed;
  return self->credit.horizon + (self->config.window_datagrams + NEEDED_PART - 1) / NEEDED_PART;
}

static void send_poll(struct vv_rank *self, uint64_t position) {
  struct vv_gpdu pdu = {.kind = VV_GPDU_POLL,
                        .position = position,
                        .source = self->config.rank,
                        .operation = self->own_number,
                        .edge = self->sight.edge};
  vv_outbox_put(&self->outbox, VV_OUTBOX_ALL, &pdu);
}

/* The next wait: a stopped rank's buffer holds hundreds of small datagrams, but not any number. */
static vv_ns slower(vv_ns wait_ns, uint32_t times) {
  return wait_ns * times < WAIT_NS_MAX ? wait_ns * times : WAIT_NS_MAX;
}

/* In a round all ranks poll whoever is late, whose buffer is no larger for that. */
static uint32_t poll_slower(const struct vv_rank *self) {
  const uint32_t ranks = self->config.ranks;
  return vv_rank_in_round(self) && ranks > POLL_SLOWER ? ranks : POLL_SLOWER;
}

static void poll(struct vv_rank *self, vv_ns now_ns) {
  send_poll(self, needed(self));
  if (now_ns - self->stalled_ns >= LATE_AFTER * self->config.rtt_ns && self->late_rank == UINT32_MAX) {
    self->late_rank = vv_credit_reckon(&self->credit, &self->tree, self->consumed).slowest;
    vv_rank_tell(self, VV_RANK_LATE);
  }
  self->poll_ns = now_ns + self->poll_wait_ns;
  self->poll_wait_ns = slower(self->poll_wait_ns, poll_slower(self));
}

/* First how far this rank has sent; then, as nobody need have answered, how far all are. */
static void remind(struct vv_rank *self, vv_ns now_ns) {
  if (self->credit.horizon >= self->own_end) {
    self->remind_ns = VV_NEVER;
    return;
  }
  if (self->reminders < REMINDERS) {
    vv_say_state(self, VV_OUTBOX_ALL);
  } else {
    send_poll(self, self->own_end);
  }
  self->reminders++;
  self->remind_ns = now_ns + self->remind_wait_ns;
  self->remind_wait_ns = slower(self->remind_wait_ns, REMIND_SLOWER);
}

void vv_sender_speak(struct vv_rank *self, vv_ns now_ns) {
  if (self->poll_ns <= now_ns) poll(self, now_ns);
  if (self->remind_ns <= now_ns) remind(self, now_ns);
}

static void go_on(struct vv_rank *self, vv_ns now_ns) {
  self->counts.stall_ns += now_ns - self->stalled_ns;
  self->stalled_ns = self->poll_ns = VV_NEVER;
  self->late_rank = UINT32_MAX;
  vv_rank_untell(self, VV_RANK_LATE);
}

void vv_sender_credit(struct vv_rank *self, vv_ns now_ns) {
  uint64_t horizon = self->credit.horizon;
  uint32_t half = self->config.window_datagrams / 2;
  bool enough = self->closing ? horizon >= self->consumed : vv_credit_limit(&self->credit) > vv_rank_next_own(self);
  if (self->stalled_ns != VV_NEVER && enough) go_on(self, now_ns);
  bool finished = self->closing && enough;
  if (vv_rank_is_root(self) || vv_rank_in_round(self) || (!finished && horizon / half <= self->published / half))
    return;
  if (horizon > self->published && self->last_root == self->config.rank) vv_say_state(self, VV_OUTBOX_ALL);
}

vv_ns vv_sender_deadline_ns(const struct vv_rank *self) {
  vv_ns ready_ns = vv_rate_ready_ns(&self->rate, 0), due_ns = vv_repair_due_ns(&self->repair);
  vv_ns next_ns = due_ns == VV_NEVER || due_ns > ready_ns ? due_ns : ready_ns;
  bool may = vv_rank_gives(self) && vv_rank_next_own(self) < vv_credit_limit(&self->credit);
  if (may && ready_ns < next_ns) next_ns = ready_ns;
  if (self->poll_ns < next_ns) next_ns = self->poll_ns;
  return self->remind_ns < next_ns ? self->remind_ns : next_ns;
}
