/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/station.h"

#include <assert.h>
#include <string.h>

#include "core/base/carve.h"
#include "core/llc/greeting.h"
#include "core/llc/inbound.h"
#include "core/llc/link.h"
#include "core/llc/machine.h"
#include "core/llc/turn.h"

void vv_llc_station_defaults(struct vv_llc_station_config *config) {
  static const struct vv_llc_station_config usual = {
      .listen = VV_LLC_LISTEN_ACCEPT,
      .links = 16,
      .messages = 256,
      .units = 16,
      .early = 128,
      .pdu_bytes_max = VV_FRAME_DATA_BYTES_MAX,
      .window = 32,
      .receive_window = VV_LPDU_MODULUS - 1,
      .credit = VV_LLC_CREDIT_UNLIMITED,
      .t1_ns_min = 2 * VV_MS,
      .t1_ns_max = VV_SEC,
      .ack_ns = 500 * VV_US,
      .idle_ns = VV_SEC,
      .late_ns = VV_MS,
      .tries = 10,
  };
  *config = usual;
}

static struct vv_heap *lay_out(struct vv_llc_station *station, struct vv_carve *carve, void **timers) {
  const struct vv_llc_station_config *config = &station->config;
  station->links = vv_carve(carve, config->links * sizeof *station->links);
  station->messages = vv_carve(carve, config->messages * sizeof *station->messages);
  station->lookup.places = vv_carve(carve, vv_llc_lookup_places(config->links) * sizeof(uint32_t));
  station->busy.values = vv_carve(carve, config->links * sizeof(uint32_t));
  station->telling.values = vv_carve(carve, config->links * sizeof(uint32_t));
  station->units = vv_carve(carve, config->units * sizeof *station->units);
  station->unit_bytes = vv_carve(carve, (size_t)config->units * config->pdu_bytes_max);
  station->unit_queue.values = vv_carve(carve, config->units * sizeof(uint32_t));
  station->unit_free.values = vv_carve(carve, config->units * sizeof(uint32_t));
  station->early.pdus = vv_carve(carve, config->early * sizeof *station->early.pdus);
  station->early.bytes = vv_carve(carve, (size_t)config->early * config->pdu_bytes_max);
  *timers = vv_carve(carve, vv_heap_bytes(config->links));
  return &station->timers;
}

size_t vv_llc_station_bytes(const struct vv_llc_station_config *config) {
  struct vv_llc_station station = {.config = *config};
  struct vv_carve carve = {0};
  void *timers;
  lay_out(&station, &carve, &timers);
  return carve.used_bytes;
}

static void check(const struct vv_llc_station_config *config) {
  assert(config->links >= 1 && config->messages >= 1 && config->units >= 2 && config->tries >= 1);
  assert(config->pdu_bytes_max >= VV_LLC_STATION_PDU_BYTES_MIN &&
         config->pdu_bytes_max <= VV_LLC_STATION_PDU_BYTES_MAX);
  assert(config->window >= 1 && config->window < VV_LPDU_MODULUS);
  assert(config->receive_window >= 1 && config->receive_window < VV_LPDU_MODULUS);
  assert(config->t1_ns_min > config->ack_ns && config->t1_ns_max >= config->t1_ns_min);
  assert((config->self.sap & 1) == 0);
  (void)config;
}

void vv_llc_station_init(struct vv_llc_station *station, void *memory, const struct vv_llc_station_config *config) {
  check(config);
  *station = (struct vv_llc_station){.config = *config, .lent_unit = VV_LLC_NO_UNIT, .free_message = VV_LLC_NO_MESSAGE};
  struct vv_carve carve = {.memory = memory};
  void *timers;
  struct vv_heap *heap = lay_out(station, &carve, &timers);
  vv_heap_init(heap, timers, config->links);
  memset(station->links, 0, config->links * sizeof *station->links);
  vv_llc_lookup_init(&station->lookup, station->lookup.places, config->links);
  station->busy.room = station->telling.room = config->links;
  station->unit_queue.room = station->unit_free.room = config->units;
  station->early.room_bytes = config->pdu_bytes_max;
  vv_llc_early_init(&station->early, config->early);
  for (uint32_t i = 0; i < config->units; i++) vv_ring_push(&station->unit_free, i);
  for (uint32_t i = 0; i < config->messages; i++) {
    station->messages[i].next = station->free_message;
    station->free_message = i;
  }
}

/* --- links --- */

/* The place of the link that a peer has, or had last. */
static uint32_t place_of(const struct vv_llc_station *station, const struct vv_llc_address *peer) {
  return vv_llc_lookup_find(&station->lookup, peer, &station->links->peer, sizeof *station->links);
}

uint32_t vv_llc_station_find(const struct vv_llc_station *station, const struct vv_llc_address *peer) {
  uint32_t id = place_of(station, peer);
  return id != VV_LLC_LOOKUP_NONE && station->links[id].used ? id : VV_LLC_NO_LINK;
}

/* Another peer than before: all places anew, for it leaves a gap. */
static void learn_peers(struct vv_llc_station *station) {
  vv_llc_lookup_init(&station->lookup, station->lookup.places, station->config.links);
  for (uint32_t id = 0; id < station->config.links; id++) {
    const struct vv_llc_link *link = &station->links[id];
    if (link->has_peer) vv_llc_lookup_add(&station->lookup, &link->peer, id);
  }
}

/*
 * A place for a link: the one that this peer had before, because what is known
 * of it helps; else any that is free; else that of a peer that called and went no
 * further, of which the user has never heard.
 */
static uint32_t place_for(const struct vv_llc_station *station, const struct vv_llc_address *peer) {
  uint32_t before = place_of(station, peer), free = VV_LLC_NO_LINK, called = VV_LLC_NO_LINK;
  if (before != VV_LLC_LOOKUP_NONE) return before;
  for (uint32_t id = 0; id < station->config.links; id++) {
    const struct vv_llc_link *link = &station->links[id];
    if (vv_llc_link_is_unheard(link)) called = id;
    if (link->used) continue;
    if (free == VV_LLC_NO_LINK || !link->talked) free = id;
  }
  return free != VV_LLC_NO_LINK ? free : called;
}

/* A new link to a peer that has none, in ADM; VV_LLC_NO_LINK when all are taken. */
static uint32_t open_link(struct vv_llc_station *station, const struct vv_llc_address *peer) {
  uint32_t id = place_for(station, peer);
  if (id != VV_LLC_NO_LINK) {
    vv_llc_link_open(station, &station->links[id], peer);
    learn_peers(station);
    vv_heap_set(&station->timers, id, VV_NEVER);
  }
  return id;
}

uint32_t vv_llc_station_connect(struct vv_llc_station *station, vv_ns now_ns, const struct vv_llc_address *peer) {
  uint32_t id = vv_llc_station_find(station, peer);
  if (id == VV_LLC_NO_LINK) id = open_link(station, peer);
  if (id == VV_LLC_NO_LINK) return VV_LLC_NO_LINK;
  struct vv_llc_link *link = &station->links[id];
  bool begun = link->wanted || link->state != VV_LLC_ADM || link->greeting != VV_LLC_GREETING_NONE;
  bool known = link->wanted;
  link->wanted = true;
  if (!known) vv_llc_greeting_wait(station, link, now_ns); /* who asks again and again does not wait longer */
  if (!begun && link->plain) vv_llc_machine_ask(station, link, now_ns, VV_LLC_CONNECT_REQUEST);
  if (!begun && !link->plain) vv_llc_greeting_begin(station, link, now_ns);
  if (link->state == VV_LLC_CONN) vv_llc_machine_ask(station, link, now_ns, VV_LLC_CONNECT_RESPONSE);
  vv_llc_turn_settle(station, link, now_ns);
  return id;
}

static struct vv_llc_link *link_at(struct vv_llc_station *station, uint32_t id) {
  assert(id < station->config.links && station->links[id].used);
  return &station->links[id];
}

void vv_llc_station_accept(struct vv_llc_station *station, vv_ns now_ns, uint32_t id) {
  struct vv_llc_link *link = link_at(station, id);
  link->wanted = true;
  vv_llc_machine_ask(station, link, now_ns, VV_LLC_CONNECT_RESPONSE);
  vv_llc_turn_settle(station, link, now_ns);
}

void vv_llc_station_disconnect(struct vv_llc_station *station, vv_ns now_ns, uint32_t id) {
  struct vv_llc_link *link = link_at(station, id);
  if ((link->tell & VV_LLC_NEWS_CLOSED) != 0) return;
  vv_llc_machine_ask(station, link, now_ns, VV_LLC_DISCONNECT_REQUEST);
  if (link->state == VV_LLC_ADM && (link->tell & VV_LLC_NEWS_CLOSED) == 0)
    vv_llc_link_close(station, link, VV_LLC_CLOSE_ASKED);
  if (link->state == VV_LLC_D_CONN) {
    link->greeting = VV_LLC_GREETING_NONE;
    link->timers[VV_LLC_TIMER_GREETING] = VV_NEVER;
  }
  vv_llc_turn_settle(station, link, now_ns);
}

void vv_llc_station_reset(struct vv_llc_station *station, vv_ns now_ns, uint32_t id) {
  struct vv_llc_link *link = link_at(station, id);
  if (!vv_llc_is_up(link->state)) return;
  if (link->plain) {
    vv_llc_machine_ask(station, link, now_ns, VV_LLC_RESET_REQUEST);
  } else if (link->greeting == VV_LLC_GREETING_NONE) {
    vv_llc_greeting_begin(station, link, now_ns);
  }
  vv_llc_turn_settle(station, link, now_ns);
}

bool vv_llc_station_send(struct vv_llc_station *station, vv_ns now_ns, uint32_t id, const void *bytes, uint32_t count,
                         uint64_t handle) {
  struct vv_llc_link *link = link_at(station, id);
  uint32_t place = station->free_message;
  bool closing = (link->tell & VV_LLC_NEWS_CLOSED) != 0 || link->state == VV_LLC_D_CONN;
  if (place == VV_LLC_NO_MESSAGE || closing || (link->plain && count == 0)) return false;
  station->free_message = station->messages[place].next;
  station->messages[place] = (struct vv_llc_message){.bytes = bytes, .count = count, .handle = handle};
  vv_llc_backlog_add(&link->backlog, station->messages, place);
  vv_llc_turn_settle(station, link, now_ns);
  return true;
}

bool vv_llc_station_has_left(const struct vv_llc_station *station, uint32_t id) {
  assert(id < station->config.links && station->links[id].used);
  const struct vv_llc_link *link = &station->links[id];
  return !vv_llc_backlog_has(&link->backlog, link->base + vv_llc_link_ahead(link->high, link->va));
}

bool vv_llc_station_is_open(const struct vv_llc_station *station, uint32_t id) {
  return vv_llc_station_has_left(station, id) && vv_llc_link_is_open(station, &station->links[id]);
}

void vv_llc_station_credit(struct vv_llc_station *station, vv_ns now_ns, uint32_t id, uint32_t pdus) {
  struct vv_llc_link *link = link_at(station, id);
  bool fits = pdus < VV_LLC_CREDIT_UNLIMITED - link->credit;
  link->credit = fits ? link->credit + pdus : VV_LLC_CREDIT_UNLIMITED;
  vv_llc_turn_settle(station, link, now_ns);
}

/* --- type 1 --- */

static bool one(struct vv_llc_station *station, const struct vv_llc_address *to, enum vv_lpdu_kind kind,
                const void *bytes, size_t count) {
  return vv_llc_unit_add(station, &(struct vv_llc_unit){.to = *to, .kind = kind, .pf = kind == VV_LPDU_TEST}, bytes,
                         count);
}

bool vv_llc_station_unit(struct vv_llc_station *station, const struct vv_llc_address *to, const void *bytes,
                         size_t count) {
  return one(station, to, VV_LPDU_UI, bytes, count);
}

bool vv_llc_station_test(struct vv_llc_station *station, const struct vv_llc_address *to, const void *bytes,
                         size_t count) {
  bool waits = one(station, to, VV_LPDU_TEST, bytes, count);
  bool group = (to->mac[0] & 1) != 0;
  station->tests += waits && !group;
  station->tests_all = station->tests_all || (waits && group);
  return waits;
}

bool vv_llc_station_identify(struct vv_llc_station *station, const struct vv_llc_address *to) {
  bool waits = vv_llc_unit_add_xid(station, &(struct vv_llc_unit){.to = *to, .kind = VV_LPDU_XID, .pf = true});
  station->identities += waits;
  return waits;
}

/* --- frames that come --- */

static void tell_unit(struct vv_llc_station *station, enum vv_llc_station_happening what,
                      const struct vv_llc_address *peer, const struct vv_lpdu *pdu, uint8_t window) {
  assert(!station->has_data);
  station->has_data = true;
  station->data = (struct vv_llc_station_event){
      .what = what,
      .link = VV_LLC_NO_LINK,
      .peer = *peer,
      .data = pdu->data,
      .data_bytes = pdu->data_bytes,
      .window = window,
  };
}

/* A TEST command that calls: true when somebody here takes the call; else it is echoed. Makes a link where there is
 * none. */
static bool take_call(struct vv_llc_station *station, vv_ns now_ns, const struct vv_llc_address *peer,
                      const struct vv_lpdu *pdu) {
  struct vv_announcement call;
  if (!vv_llc_greeting_is_call(station, pdu->data, pdu->data_bytes, &call)) return false;
  uint32_t id = vv_llc_station_find(station, peer);
  if (call.peer != 0 && (id == VV_LLC_NO_LINK || call.peer != station->links[id].incarnation)) return false;
  if (id == VV_LLC_NO_LINK) id = open_link(station, peer);
  if (id == VV_LLC_NO_LINK) return false;
  vv_llc_greeting_called(station, &station->links[id], now_ns, &call);
  vv_llc_turn_settle(station, &station->links[id], now_ns);
  return true;
}

static void take_test(struct vv_llc_station *station, vv_ns now_ns, const struct vv_llc_address *peer,
                      const struct vv_lpdu *pdu) {
  uint32_t id = vv_llc_station_find(station, peer);
  if (pdu->response) {
    bool ours = id != VV_LLC_NO_LINK &&
                vv_llc_greeting_answered(station, &station->links[id], now_ns, pdu->data, pdu->data_bytes);
    if (!ours && (station->tests > 0 || station->tests_all)) {
      station->tests -= station->tests > 0;
      tell_unit(station, VV_LLC_STATION_ECHO, peer, pdu, 0);
    }
    if (id != VV_LLC_NO_LINK) vv_llc_turn_settle(station, &station->links[id], now_ns);
    return;
  }
  bool null = pdu->dsap == VV_LLC_SAP_NULL;
  if (!null && take_call(station, now_ns, peer, pdu)) return;
  struct vv_llc_unit answer = {.to = *peer, .kind = VV_LPDU_TEST, .response = true, .pf = pdu->pf, .from_null = null};
  vv_llc_unit_add(station, &answer, pdu->data, pdu->data_bytes);
}

static void take_xid(struct vv_llc_station *station, vv_ns now_ns, const struct vv_llc_address *peer,
                     const struct vv_lpdu *pdu) {
  struct vv_lpdu_xid xid;
  if (!vv_lpdu_xid_parse(pdu->data, pdu->data_bytes, &xid)) {
    station->counts.foreign++;
    return;
  }
  if (!pdu->response) {
    struct vv_llc_unit answer = {.to = *peer, .kind = VV_LPDU_XID, .response = true, .pf = pdu->pf};
    answer.from_null = pdu->dsap == VV_LLC_SAP_NULL;
    vv_llc_unit_add_xid(station, &answer);
    return;
  }
  uint32_t id = vv_llc_station_find(station, peer);
  if (id != VV_LLC_NO_LINK && vv_llc_greeting_identified(station, &station->links[id], now_ns, xid.window)) {
    vv_llc_turn_settle(station, &station->links[id], now_ns);
  } else if (station->identities > 0) {
    station->identities--;
    tell_unit(station, VV_LLC_STATION_IDENTITY, peer, pdu, xid.window);
  }
}

/* A PDU of type 2 from somebody we have no link with: clause 7.9.2, ADM. */
static void take_stranger(struct vv_llc_station *station, const struct vv_llc_address *peer,
                          const struct vv_lpdu *pdu) {
  bool answered = !pdu->response && (pdu->pf || pdu->kind == VV_LPDU_SABME || pdu->kind == VV_LPDU_DISC);
  if (!answered) return;
  vv_llc_unit_add(station, &(struct vv_llc_unit){.to = *peer, .kind = VV_LPDU_DM, .response = true, .pf = pdu->pf},
                  NULL, 0);
}

static void take_sequenced(struct vv_llc_station *station, vv_ns now_ns, const struct vv_llc_address *peer,
                           const struct vv_lpdu *pdu) {
  uint32_t id = vv_llc_station_find(station, peer);
  bool opens = pdu->kind == VV_LPDU_SABME && station->config.plain && station->config.listen != VV_LLC_LISTEN_REFUSE;
  if (id == VV_LLC_NO_LINK && opens) id = open_link(station, peer);
  if (id == VV_LLC_NO_LINK) return take_stranger(station, peer, pdu);
  vv_llc_inbound_take(station, &station->links[id], now_ns, pdu);
  vv_llc_turn_settle(station, &station->links[id], now_ns);
}

/* True when the frame is for us: our address or a group, and our SAP, or the null SAP for what it answers. */
static bool is_ours(const struct vv_llc_station *station, const struct vv_envelope *envelope,
                    const struct vv_lpdu *pdu) {
  bool group = (envelope->destination[0] & 1) != 0;
  if (!group && memcmp(envelope->destination, station->config.self.mac, VV_MAC_BYTES) != 0) return false;
  if ((envelope->source[0] & 1) != 0) return false;
  bool asks = (pdu->kind == VV_LPDU_XID || pdu->kind == VV_LPDU_TEST) && !pdu->response;
  if (pdu->dsap == VV_LLC_SAP_NULL) return asks;
  if (pdu->dsap == VV_LLC_SAP_GLOBAL) return asks || pdu->kind == VV_LPDU_UI;
  if (pdu->dsap != station->config.self.sap) return false;
  return !group || asks || pdu->kind == VV_LPDU_UI;
}

void vv_llc_station_receive(struct vv_llc_station *station, vv_ns now_ns, const uint8_t *frame, size_t count) {
  struct vv_envelope envelope;
  struct vv_lpdu_view view;
  struct vv_lpdu pdu;
  station->counts.frames_in++;
  bool whole = vv_envelope_parse(frame, count, &envelope) && vv_lpdu_view(envelope.pdu, envelope.pdu_bytes, &view) &&
               vv_lpdu_parse(view, &pdu);
  if (!whole || !is_ours(station, &envelope, &pdu)) {
    station->counts.foreign++;
    return;
  }
  struct vv_llc_address peer = {.sap = pdu.ssap};
  memcpy(peer.mac, envelope.source, VV_MAC_BYTES);
  switch (pdu.kind) {
  case VV_LPDU_UI:
    return tell_unit(station, VV_LLC_STATION_UNIT, &peer, &pdu, 0);
  case VV_LPDU_TEST:
    return take_test(station, now_ns, &peer, &pdu);
  case VV_LPDU_XID:
    return take_xid(station, now_ns, &peer, &pdu);
  case VV_LPDU_I:
  case VV_LPDU_RR:
  case VV_LPDU_RNR:
  case VV_LPDU_REJ:
  case VV_LPDU_SABME:
  case VV_LPDU_DISC:
  case VV_LPDU_UA:
  case VV_LPDU_DM:
  case VV_LPDU_FRMR:
  case VV_LPDU_UNKNOWN:
    return take_sequenced(station, now_ns, &peer, &pdu);
  }
}

/* --- time --- */

vv_ns vv_llc_station_next_ns(const struct vv_llc_station *station) {
  return vv_heap_next_ns(&station->timers);
}

void vv_llc_station_tick(struct vv_llc_station *station, vv_ns now_ns) {
  while (vv_heap_next_ns(&station->timers) <= now_ns) {
    uint32_t id = vv_heap_next(&station->timers);
    struct vv_llc_link *link = &station->links[id];
    vv_heap_set(&station->timers, id, VV_NEVER);
    if (!link->used) continue;
    vv_llc_turn_expire(station, link, now_ns);
    vv_llc_turn_settle(station, link, now_ns);
  }
}

/* --- what is taken out --- */

static bool take_sent(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_llc_station_event *event) {
  uint32_t place = vv_llc_backlog_take(&link->backlog, station->messages);
  if (place == VV_LLC_NO_MESSAGE) {
    link->tell &= ~(unsigned)VV_LLC_NEWS_SENT;
    return false;
  }
  struct vv_llc_message *message = &station->messages[place];
  event->what = VV_LLC_STATION_SENT;
  event->handle = message->handle;
  event->acknowledged = !message->given_up;
  message->next = station->free_message;
  station->free_message = place;
  return true;
}

static bool take_from(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_llc_station_event *event) {
  static const struct {
    unsigned tell;
    enum vv_llc_station_happening what;
  } tells[] = {{VV_LLC_NEWS_ASKED, VV_LLC_STATION_ASKED},
               {VV_LLC_NEWS_CONNECTED, VV_LLC_STATION_CONNECTED},
               {VV_LLC_NEWS_RESET, VV_LLC_STATION_RESET}};
  *event = (struct vv_llc_station_event){.link = (uint32_t)(link - station->links), .peer = link->peer};
  for (size_t i = 0; i < sizeof tells / sizeof tells[0]; i++) {
    if ((link->tell & tells[i].tell) == 0) continue;
    link->tell &= ~tells[i].tell;
    event->what = tells[i].what;
    return true;
  }
  if ((link->tell & VV_LLC_NEWS_SENT) != 0 && take_sent(station, link, event)) return true;
  if ((link->tell & VV_LLC_NEWS_CLOSED) == 0) return false;
  link->tell = 0;
  link->used = false;
  event->what = VV_LLC_STATION_CLOSED;
  event->why = link->why;
  return true;
}

/* What the last frame brought comes behind the beginning of its link, and before its end. */
static bool take_data(struct vv_llc_station *station, struct vv_llc_station_event *event) {
  if (!station->has_data) return false;
  uint32_t id = station->data.link;
  if (id != VV_LLC_NO_LINK && (station->links[id].tell & VV_LLC_NEWS_FIRST) != 0)
    return take_from(station, &station->links[id], event);
  station->has_data = false;
  *event = station->data;
  return true;
}

/* What came early and is due now, as if it came now. */
static bool resume(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  if (!vv_llc_inbound_resume(station, link, now_ns)) return false;
  vv_llc_turn_settle(station, link, now_ns);
  return true;
}

/* What links have to tell, one after the other. */
static bool take_told(struct vv_llc_station *station, vv_ns now_ns, struct vv_llc_station_event *event) {
  while (station->telling.count > 0) {
    struct vv_llc_link *link = &station->links[vv_ring_first(&station->telling)];
    while (resume(station, link, now_ns)) {
      if (take_data(station, event)) return true;
    }
    if (take_from(station, link, event)) return true;
    vv_ring_pop(&station->telling);
    link->telling = false;
  }
  return false;
}

bool vv_llc_station_take(struct vv_llc_station *station, vv_ns now_ns, struct vv_llc_station_event *event) {
  return take_data(station, event) || take_told(station, now_ns, event);
}

bool vv_llc_station_next_frame(struct vv_llc_station *station, vv_ns now_ns, struct vv_llc_station_frame *frame) {
  bool found = vv_llc_unit_next(station, frame);
  while (!found && station->busy.count > 0) {
    struct vv_llc_link *link = &station->links[vv_ring_pop(&station->busy)];
    link->queued = false;
    found = vv_llc_turn_frame(station, link, now_ns, frame);
    vv_llc_turn_settle(station, link, now_ns);
  }
  station->counts.frames_out += found;
  return found;
}
