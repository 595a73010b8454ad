/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/link.h"

#include <assert.h>

#include "core/base/time.h"

enum { START_WINDOW = 8 };

#define INCARNATION_STEP UINT32_C(0x9e3779b1) /* odd, so that it comes back to where it was after 2^32 links */

static uint32_t unit_of(const struct vv_llc_station_config *config, size_t marks) {
  return config->pdu_bytes_max - VV_LPDU_HEADER_BYTES_MAX - (config->plain ? 0 : (uint32_t)marks);
}

/* 0 stands for none. */
static uint32_t new_incarnation(struct vv_llc_station *station) {
  uint32_t incarnation;
  do incarnation = station->config.incarnation + station->opened++ * INCARNATION_STEP;
  while (incarnation == 0);
  return incarnation;
}

void vv_llc_link_open(struct vv_llc_station *station, struct vv_llc_link *link, const struct vv_llc_address *peer) {
  const struct vv_llc_station_config *config = &station->config;
  struct vv_llc_link before = *link;
  bool again = before.has_peer && vv_llc_address_compare(&before.peer, peer) == 0;
  uint32_t incarnation = new_incarnation(station);
  assert(before.high == before.va); /* else what it had under way would be counted for ever */
  *link = (struct vv_llc_link){
      .peer = *peer,
      .has_peer = true,
      .used = true,
      .plain = config->plain,
      .n2 = config->n2,
      .tries = config->tries,
      .incarnation = incarnation,
      .base = incarnation,
      .early = VV_LLC_NO_EARLY,
      .credit = config->credit,
      .receive_window = config->receive_window,
      .talked = again && before.talked,
      .next_epoch = again ? before.next_epoch : (uint8_t)incarnation,
      .went = true,
      .due_ns = VV_NEVER,
      .queued = before.queued,
      .telling = before.telling,
  };
  vv_llc_backlog_init(&link->backlog, incarnation, unit_of(config, VV_SEGMENT_BYTES_MAX),
                      unit_of(config, VV_SEGMENT_BYTES));
  vv_llc_window_init(&link->window, config->window, START_WINDOW);
  vv_llc_pace_init(&link->pace, config->t1_ns_min, config->t1_ns_max, config->ack_ns);
  for (int timer = 0; timer < VV_LLC_TIMERS; timer++) link->timers[timer] = VV_NEVER;
}

static struct vv_llc_owed *owed_at(struct vv_llc_link *link, unsigned i) {
  return &link->owed[(link->owed_first + i) % VV_LLC_LINK_OWED_MAX];
}

/* Who asks again before the answer has gone gets one: it says then what both would. True when it waits already. */
static bool answers_both(struct vv_llc_link *link, struct vv_llc_owed owed) {
  for (unsigned i = 0; owed.response && owed.pf && i < link->owed_count; i++) {
    struct vv_llc_owed *waits = owed_at(link, i);
    if (!waits->response || !waits->pf || waits->kind != owed.kind) continue;
    waits->enquiry = owed.enquiry;
    return true;
  }
  return false;
}

void vv_llc_link_owe(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_llc_owed owed) {
  if (answers_both(link, owed)) return;
  if (link->owed_count == VV_LLC_LINK_OWED_MAX) {
    station->counts.overflows++;
    return;
  }
  *owed_at(link, link->owed_count++) = owed;
}

/* Takes back what waits and speaks of numbers: they mean nothing any more. */
static void disown(struct vv_llc_link *link) {
  unsigned kept = 0;
  for (unsigned i = 0; i < link->owed_count; i++) {
    struct vv_llc_owed owed = *owed_at(link, i);
    if (owed.kind == VV_LPDU_RR || owed.kind == VV_LPDU_RNR || owed.kind == VV_LPDU_REJ) continue;
    *owed_at(link, kept++) = owed;
  }
  link->owed_count = (uint8_t)kept;
  link->ack_due = false;
  link->acks_owed = 0;
}

void vv_llc_link_stop_all(struct vv_llc_link *link) {
  for (int timer = 0; timer <= VV_LLC_TIMER_IDLE; timer++) vv_llc_link_stop(link, timer);
}

void vv_llc_link_freeze(struct vv_llc_link *link) {
  link->frozen = true;
  link->timing = false;
  vv_llc_link_stop_all(link);
  disown(link);
}

/* The bytes of all messages that were not acknowledged are the caller's again. */
static void give_up_messages(struct vv_llc_station *station, struct vv_llc_link *link) {
  vv_llc_backlog_give_up(&link->backlog, station->messages);
  link->base = link->backlog.next;
  link->fruitless = 0;
  link->tell |= VV_LLC_NEWS_SENT;
}

/* Nothing of it is under way any more. */
static void land(struct vv_llc_station *station, struct vv_llc_link *link) {
  station->flight -= vv_llc_link_ahead(link->high, link->va);
  link->vs = link->high = link->va;
}

void vv_llc_link_clear(struct vv_llc_station *station, struct vv_llc_link *link) {
  land(station, link);
  link->vs = link->vr = link->va = link->high = link->va_round = link->vr_round = 0;
  vv_llc_repeat_init(&link->repeat, link->base);
  vv_llc_early_clear(&station->early, &link->early);
  link->knows_number = link->heard = link->frozen = link->timing = false;
  link->data_flag = link->late_answers = 0;
  link->window.ahead = 0;
  disown(link);
  if (link->was_up) station->counts.resets++;
  if (link->was_up && link->plain) give_up_messages(station, link);
  link->epoch = link->next_epoch;
  link->greeting = VV_LLC_GREETING_NONE;
  vv_llc_link_stop(link, VV_LLC_TIMER_GREETING);
}

bool vv_llc_link_is_patient(const struct vv_llc_link *link) {
  return link->was_up && link->n2 == 0 && link->wanted;
}

bool vv_llc_link_is_unheard(const struct vv_llc_link *link) {
  return link->state == VV_LLC_ADM && link->greeting == VV_LLC_GREETING_CALLED && !link->wanted && !link->was_up;
}

void vv_llc_link_close(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_llc_close why) {
  link->state = VV_LLC_ADM;
  vv_llc_early_clear(&station->early, &link->early);
  link->why = why;
  link->tell |= VV_LLC_NEWS_CLOSED;
  link->greeting = VV_LLC_GREETING_NONE;
  link->question = VV_LLC_QUESTION_NONE;
  vv_llc_link_freeze(link);
  vv_llc_link_stop(link, VV_LLC_TIMER_GREETING);
  land(station, link);
  give_up_messages(station, link);
}

/* What goes again is under way already. */
static bool may_fly(const struct vv_llc_station *station, const struct vv_llc_link *link) {
  return station->flight < VV_LLC_STATION_FLIGHT_MAX || link->vs != link->high ||
         vv_llc_link_ahead(link->high, link->va) < VV_LLC_LINK_FLIGHT_MIN;
}

bool vv_llc_link_is_open(const struct vv_llc_station *station, const struct vv_llc_link *link) {
  return !link->frozen && !link->remote_busy && vv_llc_link_ahead(link->vs, link->va) < link->window.working &&
         may_fly(station, link) &&
         (link->state == VV_LLC_NORMAL || link->state == VV_LLC_BUSY || link->state == VV_LLC_REJECT);
}

bool vv_llc_link_can_send(const struct vv_llc_station *station, const struct vv_llc_link *link) {
  return vv_llc_link_is_open(station, link) &&
         vv_llc_backlog_has(&link->backlog, link->base + vv_llc_link_ahead(link->vs, link->va));
}
