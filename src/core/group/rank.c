/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/rank.h"

#include <assert.h>
#include <string.h>

#include "core/base/carve.h"
#include "core/group/cut.h"
#include "core/group/peer.h"
#include "core/group/progress.h"
#include "core/group/receiver.h"
#include "core/group/round.h"
#include "core/group/say.h"
#include "core/group/sender.h"

#define WIRE_MORE_BYTES 66  /* of a datagram: UDP 8, IPv4 20, Ethernet with preamble and gap 38 */
#define SLOT_BYTES      125 /* a control PDU on the wire, and some time to hear it */
#define BURST_DATAGRAMS 8

struct rank_parts {
  void *store, *credit, *repair;
};

static uint32_t body_bytes(const struct vv_rank_config *config) {
  return config->datagram_bytes - VV_GPDU_HEADER_BYTES;
}

static struct rank_parts lay_out(const struct vv_rank_config *config, struct vv_carve *carve) {
  return (struct rank_parts){.store = vv_carve(carve, vv_store_bytes(config->window_datagrams, body_bytes(config))),
                             .credit = vv_carve(carve, vv_credit_bytes(config->ranks)),
                             .repair = vv_carve(carve, vv_repair_bytes(config->window_datagrams))};
}

size_t vv_rank_bytes(const struct vv_rank_config *config) {
  struct vv_carve carve = {0};
  lay_out(config, &carve);
  return carve.used_bytes;
}

static void check(const struct vv_rank_config *config) {
  assert(config->ranks >= 1 && config->ranks <= VV_RANK_COUNT_MAX && config->rank < config->ranks);
  assert(config->stream <= VV_GPDU_STREAM_MAX && config->window_datagrams >= VV_RANK_WINDOW_MIN);
  assert(config->window_datagrams <= VV_GPDU_WINDOW_MAX);
  assert(config->datagram_bytes >= VV_GPDU_DATAGRAM_BYTES_MIN);
  assert(config->datagram_bytes <= VV_GPDU_DATAGRAM_BYTES_MAX && config->rtt_ns > 0);
}

/* How far apart ranks speak that would else collide: 0 where they cannot. */
static vv_ns slot_ns(const struct vv_rank_config *config) {
  return config->shared_bps > 0 ? (vv_ns)(SLOT_BYTES * 8 * VV_SEC / config->shared_bps) : 0;
}

/* What a root may send, so that those who ask find the medium free now and then; 0: as much as the sockets take. */
static uint64_t payload_bps(const struct vv_rank_config *config) {
  return config->shared_bps / (config->datagram_bytes + WIRE_MORE_BYTES) * config->datagram_bytes;
}

void vv_rank_init(struct vv_rank *self, void *memory, const struct vv_rank_config *config) {
  check(config);
  memset(self, 0, sizeof *self);
  struct vv_carve carve = {.memory = memory};
  struct rank_parts parts = lay_out(config, &carve);
  uint32_t window = config->window_datagrams;
  self->config = *config;
  self->body_bytes = body_bytes(config);
  self->tree = (struct vv_tree){.ranks = config->ranks, .rank = config->rank};
  vv_gpdu_keys_init(&self->keys, config->key, config->stream);
  vv_store_init(&self->store, parts.store, window, self->body_bytes);
  self->slot_ns = slot_ns(config);
  vv_credit_init(&self->credit, parts.credit, &self->tree, window, self->slot_ns > 0);
  vv_repair_init(&self->repair, parts.repair, window, config->rtt_ns);
  vv_gap_init(&self->gap, config->rtt_ns, config->rank % VV_TREE_SLOTS * self->slot_ns, config->ranks, window);
  vv_rate_init(&self->rate, payload_bps(config), (uint64_t)BURST_DATAGRAMS * config->datagram_bytes, window);
  vv_member_init(&self->member, config->rtt_ns);
  self->stalled_ns = self->poll_ns = self->remind_ns = self->report_ns = VV_NEVER;
  self->late_rank = UINT32_MAX;
}

static void begin(struct vv_rank *self, const struct vv_rank_operation *operation) {
  struct vv_rank_current *current = &self->current;
  *current = (struct vv_rank_current){.busy = true,
                                      .operation = *operation,
                                      .number = self->operations,
                                      .first = self->consumed,
                                      .size_bytes = operation->size_bytes,
                                      .representation = operation->representation};
  self->operations += self->operations < UINT32_MAX ? 1 : 2;
  self->last_root = operation->root;
  vv_progress_turn(self, operation->root);
}

/* True when another rank's data lie where this root's are to be. */
static bool occupied(const struct vv_rank *self) {
  return vv_store_find(&self->store, self->consumed) != NULL;
}

static void start_as_root(struct vv_rank *self, vv_ns now_ns) {
  struct vv_rank_current *current = &self->current;
  current->laid_out = true;
  current->end = current->first + vv_cut_count(current->size_bytes, self->body_bytes);
  self->own_end = current->end;
  self->own_number = current->number;
  if (occupied(self)) vv_say_fail(self, now_ns, self->config.rank, VV_GPDU_UNEQUAL_ROOT);
}

void vv_rank_start(struct vv_rank *self, vv_ns now_ns, const struct vv_rank_operation *operation) {
  assert(!self->current.busy && !self->closing && operation->root < self->config.ranks);
  assert(operation->size_bytes <= VV_GPDU_SIZE_BYTES_MAX);
  if (self->left && !self->member.failed) vv_say_fail(self, now_ns, self->left_rank, VV_GPDU_LEFT);
  if (self->member.failed) {
    vv_rank_tell(self, VV_RANK_FAILED);
    return;
  }
  begin(self, operation);
  if (self->config.ranks == 1) {
    self->current.busy = false;
    vv_rank_tell(self, VV_RANK_DONE);
  } else if (operation->parts != NULL) {
    vv_group_round_start(self, now_ns);
  } else if (operation->root == self->config.rank) {
    start_as_root(self, now_ns);
  } else {
    vv_receiver_start(self, now_ns);
  }
}

void vv_rank_redirect(struct vv_rank *self, vv_ns now_ns, uint8_t *buffer, uint64_t room_bytes) {
  assert(self->operations > 0 && self->current.operation.root != self->config.rank);
  assert(self->current.operation.parts == NULL);
  vv_receiver_redirect(self, now_ns, buffer, room_bytes);
}

void vv_rank_take(struct vv_rank *self, vv_ns now_ns, enum vv_rank_socket from, const uint8_t *bytes, size_t count) {
  struct vv_gpdu pdu;
  if (vv_gpdu_parse(&self->keys, self->config.stream, self->consumed, bytes, count, &pdu)) {
    vv_rank_take_pdu(self, now_ns, from, &pdu);
  } else {
    self->counts.foreign++;
  }
}

void vv_rank_take_pdu(struct vv_rank *self, vv_ns now_ns, enum vv_rank_socket from, const struct vv_gpdu *pdu) {
  if (pdu->kind > VV_GPDU_DATA) {
    vv_peer_control(self, now_ns, pdu);
  } else if (!self->member.failed) {
    vv_receiver_data(self, now_ns, from, pdu);
  }
}

void vv_rank_dry(struct vv_rank *self, vv_ns then_ns) {
  vv_receiver_dry(self, then_ns);
}

static bool next_letter(struct vv_rank *self, struct vv_rank_datagram *datagram) {
  const struct vv_outbox_letter *letter = vv_outbox_take(&self->outbox);
  if (letter == NULL) return false;
  datagram->way = letter->rank == VV_OUTBOX_ALL ? VV_RANK_TO_CONTROL : VV_RANK_TO_RANK;
  datagram->rank = letter->rank;
  datagram->header_bytes = vv_gpdu_emit(&self->keys, self->config.stream, &letter->pdu, datagram->header);
  datagram->payload = NULL;
  datagram->payload_bytes = 0;
  self->counts.control++;
  self->counts.control_bytes += datagram->header_bytes;
  return true;
}

bool vv_rank_next(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram) {
  if (self->config.ranks == 1) return false;
  if (self->member.failed) {
    vv_say_cry(self, now_ns);
    return next_letter(self, datagram);
  }
  vv_sender_speak(self, now_ns);
  vv_receiver_ask(self, now_ns);
  vv_progress_speak(self, now_ns);
  return next_letter(self, datagram) || vv_sender_repair(self, now_ns, datagram) ||
         vv_sender_data(self, now_ns, datagram) || vv_group_round_next(self, now_ns, datagram);
}

bool vv_rank_event(struct vv_rank *self, struct vv_rank_event *event) {
  for (int kind = 0; self->waiting != 0; kind++) {
    if ((self->waiting >> kind & 1) == 0) continue;
    vv_rank_untell(self, (enum vv_rank_event_kind)kind);
    *event = (struct vv_rank_event){.kind = (enum vv_rank_event_kind)kind,
                                    .size_bytes = self->current.size_bytes,
                                    .representation = self->current.representation,
                                    .rank = self->late_rank,
                                    .failure = self->member.failure};
    return true;
  }
  return false;
}

vv_ns vv_rank_duty_ns(const struct vv_rank *self) {
  if (self->outbox.count > 0) return 0;
  if (self->member.failed) return self->member.cry_ns;
  vv_ns next_ns = vv_sender_deadline_ns(self);
  return self->report_ns < next_ns ? self->report_ns : next_ns;
}

vv_ns vv_rank_deadline_ns(const struct vv_rank *self) {
  vv_ns next_ns = vv_rank_duty_ns(self);
  return !self->member.failed && self->gap.ask_ns < next_ns ? self->gap.ask_ns : next_ns;
}

bool vv_rank_wants_data(const struct vv_rank *self) {
  return vv_rank_waits(self);
}

bool vv_rank_wants_data_alone(const struct vv_rank *self) {
  return vv_rank_waits(self) && !vv_rank_gives(self) && !self->gap.lacking && self->gap.outstanding == 0;
}

void vv_rank_lost(struct vv_rank *self, vv_ns now_ns, uint32_t rank, enum vv_gpdu_why why) {
  assert(rank < self->config.ranks);
  if (!self->closed) vv_peer_lost(self, now_ns, rank, why);
}

void vv_rank_close(struct vv_rank *self, vv_ns now_ns) {
  assert(!self->current.busy && !self->closing);
  self->closing = true;
  if (self->member.failed) return;
  bool whole = self->config.ranks == 1 || self->left || self->credit.horizon >= self->consumed;
  if (whole) {
    self->closed = true;
    vv_rank_tell(self, VV_RANK_CLOSED);
  } else if (self->last_root == self->config.rank) {
    vv_sender_stall(self, now_ns);
  } else {
    vv_gap_close(&self->gap, now_ns);
  }
}
