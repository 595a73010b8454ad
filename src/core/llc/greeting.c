/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/greeting.h"

#include "core/llc/station.h"
#include "core/llc/unit.h"
#include "core/wire/announcement.h"

enum { PATIENCE = 8 }; /* in tries of the peer: how long its SABME may take after its announcement */

/* No sooner than a late frame and its answer can arrive. */
static uint64_t patience_ns(const struct vv_station *station, const struct vv_llc_link *link, uint32_t tries) {
  uint64_t t1 = vv_pace_t1_ns(&link->pace, tries), late = 3 * station->wanted.late_ns;
  return t1 > late ? t1 : late;
}

static void call(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  if (!link->echoed) {
    link->next_epoch++; /* each time another, for the peer may have used the last one, and its answer be lost */
    uint8_t info[VV_ANNOUNCEMENT_BYTES];
    const struct vv_station_wanted *wanted = &station->wanted;
    vv_announcement_emit(
        &(struct vv_announcement){wanted->nonce, wanted->incarnation, link->next_epoch, wanted->receive_window}, info);
    vv_unit_add(station, &(struct vv_unit){.to = link->peer, .kind = VV_LLC_TEST, .pf = true}, info, sizeof info);
  }
  if (!link->identified) vv_unit_add_xid(station, &(struct vv_unit){.to = link->peer, .kind = VV_LLC_XID, .pf = true});
  vv_llc_link_start(link, VV_TIMER_GREETING, now_ns + patience_ns(station, link, link->greetings++));
}

void vv_greeting_begin(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  if (link->greeting == VV_GREETING_CALLING || link->greeting == VV_GREETING_WAITING) return;
  link->greeting = VV_GREETING_CALLING;
  link->echoed = link->identified = false;
  link->greetings = 0;
  vv_llc_link_freeze(link);
  call(station, link, now_ns);
}

/* The peer has heard us. */
static void go(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  link->greeting = VV_GREETING_NONE;
  link->active = true;
  link->timers[VV_TIMER_GREETING] = VV_NEVER;
  if (link->state == VV_LLC_ERROR) link->state = VV_LLC_RESET_WAIT; /* as when its FRMR is never answered */
  vv_llc_link_ask(station, link, now_ns, link->state == VV_LLC_ADM ? VV_LLC_CONNECT_REQUEST : VV_LLC_RESET_REQUEST);
}

static void go_if_heard(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  if (!link->echoed || !link->identified) return;
  if (!link->was_up && !link->knows_epoch) return go(station, link, now_ns);
  link->greeting = VV_GREETING_WAITING;
  vv_llc_link_start(link, VV_TIMER_GREETING, now_ns + station->wanted.late_ns);
}

void vv_greeting_expire(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  switch (link->greeting) {
  case VV_GREETING_WAITING:
    return go(station, link, now_ns);
  case VV_GREETING_CALLED: /* and then came no SABME */
    link->greeting = VV_GREETING_NONE;
    return vv_greeting_begin(station, link, now_ns);
  case VV_GREETING_CALLING:
    if (link->greetings < link->tries || (link->was_up && link->n2 == 0)) return call(station, link, now_ns);
    return vv_llc_link_close(station, link, VV_CLOSE_SILENT);
  default:
    return;
  }
}

/* Our own attempt ends, as if it had not begun. */
static void withdraw(struct vv_llc_link *link) {
  if (link->state == VV_LLC_SETUP) link->state = VV_LLC_ADM;
  if (link->state == VV_LLC_RESET) link->state = VV_LLC_RESET_WAIT;
  link->greeting = VV_GREETING_NONE;
  link->p_flag = link->s_flag = false;
  link->owed_count = 0;
  vv_llc_link_freeze(link);
}

static bool is_calling(const struct vv_llc_link *link) {
  return link->greeting == VV_GREETING_CALLING || link->greeting == VV_GREETING_WAITING ||
         link->state == VV_LLC_SETUP || link->state == VV_LLC_RESET;
}

/* True when an announcement is not from before. What is known of a peer that is another process now is forgotten. */
static bool is_fresh(struct vv_llc_link *link, const struct vv_announcement *announcement) {
  if (!link->knows_peer && link->left_incarnation != announcement->incarnation && !link->was_up)
    link->knows_epoch = false;
  if (link->greeting == VV_GREETING_CALLED && (int8_t)(announcement->epoch - link->next_epoch) < 0) return false;
  return !link->knows_epoch || (int8_t)(announcement->epoch - link->epoch) > 0;
}

static void limit_window(const struct vv_station *station, struct vv_llc_link *link, uint8_t window) {
  uint8_t limit = window > 0 && window < station->wanted.window ? window : station->wanted.window;
  if (limit != link->window.limit) vv_window_init(&link->window, limit, link->window.working);
}

void vv_greeting_wait(const struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  if (link->greeting != VV_GREETING_CALLED || !(link->was_up || link->wanted)) return;
  vv_llc_link_start(link, VV_TIMER_GREETING, now_ns + PATIENCE * patience_ns(station, link, 0));
}

static void note(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns,
                 const struct vv_announcement *announcement) {
  link->next_epoch = announcement->epoch;
  link->peer_incarnation = announcement->incarnation;
  link->knows_peer = true;
  limit_window(station, link, announcement->window);
  if (!link->knows_expected) link->expected = announcement->incarnation;
  link->knows_expected = true;
  link->greeting = VV_GREETING_CALLED;
  vv_llc_link_freeze(link);
  vv_greeting_wait(station, link, now_ns);
}

bool vv_greeting_called(struct vv_station *station, const struct vv_llc_address *peer, uint64_t now_ns,
                        const uint8_t *info, size_t count) {
  struct vv_announcement announcement;
  if (station->wanted.plain || !vv_announcement_parse(info, count, &announcement)) return true;
  if (announcement.nonce != station->wanted.nonce) {
    station->counts.foreign++;
    return true;
  }
  uint32_t id = vv_station_find(station, peer);
  bool is_new = id == VV_NO_LINK;
  if (is_new) id = vv_station_open(station, peer);
  if (id == VV_NO_LINK) return true; /* its SABME will be refused */
  struct vv_llc_link *link = &station->links[id];
  bool fresh = false;
  if ((link->tell & VV_TELL_CLOSED) != 0 || link->state == VV_LLC_D_CONN) {
    fresh = false; /* it asks again when this is over */
  } else if (link->state == VV_LLC_CONN) {
    fresh = true; /* the user is thinking */
  } else if (link->knows_peer && link->peer_incarnation != announcement.incarnation) {
    vv_llc_link_close(station, link, VV_CLOSE_GONE);
  } else if (!is_fresh(link, &announcement)) {
    station->counts.stale++;
  } else if (!is_calling(link) || vv_llc_address_compare(&station->wanted.self, peer) < 0) {
    if (is_calling(link)) withdraw(link);
    note(station, link, now_ns, &announcement);
    fresh = true;
  } else if (link->greeting == VV_GREETING_NONE) { /* it does not wait for our SABME any more: tell it again */
    withdraw(link);
    vv_greeting_begin(station, link, now_ns);
  }
  if (is_new && !fresh) link->used = false;
  vv_llc_link_settle(station, link, now_ns);
  return fresh;
}

bool vv_greeting_echoed(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns, const uint8_t *info,
                        size_t count) {
  struct vv_announcement announcement;
  if (link->plain || !vv_announcement_parse(info, count, &announcement)) return false;
  bool ours = announcement.nonce == station->wanted.nonce && announcement.epoch == link->next_epoch &&
              announcement.incarnation == station->wanted.incarnation;
  if (ours && link->greeting == VV_GREETING_CALLING && !link->echoed) {
    link->echoed = true;
    go_if_heard(station, link, now_ns);
  }
  return true;
}

bool vv_greeting_identified(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns, uint8_t window) {
  if (link->greeting != VV_GREETING_CALLING || link->identified) return false;
  limit_window(station, link, window);
  link->identified = true;
  go_if_heard(station, link, now_ns);
  return true;
}

bool vv_greeting_expects_sabme(struct vv_llc_link *link) {
  if (link->plain || link->state == VV_LLC_D_CONN) return true;
  bool called = link->greeting == VV_GREETING_CALLED;
  bool unheard = vv_llc_is_up(link->state) && !link->active && !link->heard;
  bool again = unheard && link->greeting == VV_GREETING_NONE; /* our UA was lost */
  if (called) {
    link->active = false;
    link->timers[VV_TIMER_GREETING] = VV_NEVER;
  }
  return called || again || link->state == VV_LLC_CONN;
}

static void answer_call(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  enum vv_listen listen = link->wanted ? VV_LISTEN_ACCEPT : station->wanted.listen;
  if (listen == VV_LISTEN_ACCEPT) return vv_llc_link_ask(station, link, now_ns, VV_LLC_CONNECT_RESPONSE);
  if (listen == VV_LISTEN_ASK) {
    link->tell |= VV_TELL_ASKED;
    return;
  }
  vv_llc_link_ask(station, link, now_ns, VV_LLC_DISCONNECT_REQUEST);
  link->tell = 0; /* the user has never heard of it */
  link->used = false;
}

void vv_greeting_answer(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  enum vv_asked question = link->question;
  link->question = VV_QUESTION_NONE;
  if (question == VV_QUESTION_CONNECT) return answer_call(station, link, now_ns);
  if (question == VV_QUESTION_RESET) return vv_llc_link_ask(station, link, now_ns, VV_LLC_RESET_RESPONSE);
  if (link->plain) return vv_llc_link_ask(station, link, now_ns, VV_LLC_RESET_REQUEST);
  if (link->greeting != VV_GREETING_CALLED) vv_greeting_begin(station, link, now_ns);
}

void vv_greeting_break(struct vv_station *station, struct vv_llc_link *link, enum vv_close why) {
  link->owed_count = 0;
  vv_llc_link_owe(station, link, VV_LLC_DISC, false, false);
  vv_llc_link_close(station, link, why);
}
