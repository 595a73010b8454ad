/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/greeting.h"

#include "core/llc/link.h"
#include "core/llc/machine.h"

enum { PATIENCE = 8 };      /* in tries of the peer: how long its SABME may take after its announcement */
enum { EPOCHS_AHEAD = 32 }; /* of a call that was made before its sender was up, and may count from anywhere */

/* No sooner than a late frame and its answer can arrive. */
static vv_ns patience_ns(const struct vv_llc_station *station, const struct vv_llc_link *link, uint32_t tries) {
  vv_ns t1 = vv_llc_pace_t1_ns(&link->pace, tries), late = vv_llc_station_late_ns(station);
  return t1 > late ? t1 : late;
}

/* Says that the link is a pair with that one of the peer: as a call, or in answer to one. */
static void announce(struct vv_llc_station *station, const struct vv_llc_link *link, uint32_t peer, bool response) {
  const struct vv_announcement announcement = {
      .nonce = station->config.nonce,
      .incarnation = link->incarnation,
      .peer = peer,
      .epoch = link->next_epoch,
      .window = station->config.receive_window,
      .talked = link->talked,
  };
  uint8_t info[VV_ANNOUNCEMENT_BYTES];
  vv_announcement_emit(&announcement, info);
  struct vv_llc_unit unit = {.to = link->peer, .kind = VV_LPDU_TEST, .response = response, .pf = true};
  vv_llc_unit_add(station, &unit, info, sizeof info);
}

static void call(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  if (!link->answered) {
    link->next_epoch++; /* each time another, for the peer may have used the last one, and its answer be lost */
    announce(station, link, link->was_up ? link->peer_incarnation : 0, false);
  }
  if (!link->identified)
    vv_llc_unit_add_xid(station, &(struct vv_llc_unit){.to = link->peer, .kind = VV_LPDU_XID, .pf = true});
  vv_llc_link_start(link, VV_LLC_TIMER_GREETING, now_ns + patience_ns(station, link, link->greetings++));
}

void vv_llc_greeting_begin(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  if (link->greeting == VV_LLC_GREETING_CALLING || link->greeting == VV_LLC_GREETING_WAITING) return;
  link->greeting = VV_LLC_GREETING_CALLING;
  link->answered = link->identified = false;
  link->greetings = 0;
  vv_llc_link_freeze(link);
  call(station, link, now_ns);
}

/* The peer has heard us. */
static void go(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  link->greeting = VV_LLC_GREETING_NONE;
  link->active = true;
  link->timers[VV_LLC_TIMER_GREETING] = VV_NEVER;
  if (link->state == VV_LLC_ERROR) { /* as when its FRMR is never answered */
    link->state = VV_LLC_RESET_WAIT;
    link->s_flag = false;
  }
  vv_llc_machine_ask(station, link, now_ns, link->state == VV_LLC_ADM ? VV_LLC_CONNECT_REQUEST : VV_LLC_RESET_REQUEST);
}

static void go_if_heard(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  if (!link->answered || !link->identified) return;
  if (!link->talked) return go(station, link, now_ns);
  link->greeting = VV_LLC_GREETING_WAITING;
  vv_llc_link_start(link, VV_LLC_TIMER_GREETING, now_ns + station->config.late_ns);
}

void vv_llc_greeting_expire(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  switch (link->greeting) {
  case VV_LLC_GREETING_WAITING:
    return go(station, link, now_ns);
  case VV_LLC_GREETING_CALLED: /* and then came no SABME */
    link->greeting = VV_LLC_GREETING_NONE;
    return vv_llc_greeting_begin(station, link, now_ns);
  case VV_LLC_GREETING_CALLING:
    if (link->greetings < link->tries || vv_llc_link_is_patient(link)) return call(station, link, now_ns);
    return vv_llc_link_close(station, link, VV_LLC_CLOSE_SILENT);
  case VV_LLC_GREETING_NONE:
    return;
  }
}

/* Our own attempt ends, as if it had not begun. */
static void withdraw(struct vv_llc_link *link) {
  if (link->state == VV_LLC_SETUP) link->state = VV_LLC_ADM;
  if (link->state == VV_LLC_RESET) link->state = VV_LLC_RESET_WAIT;
  link->greeting = VV_LLC_GREETING_NONE;
  link->p_flag = link->s_flag = false;
  link->owed_count = 0;
  vv_llc_link_freeze(link);
}

static bool is_calling(const struct vv_llc_link *link) {
  return link->greeting == VV_LLC_GREETING_CALLING || link->greeting == VV_LLC_GREETING_WAITING ||
         link->state == VV_LLC_SETUP || link->state == VV_LLC_RESET;
}

/*
 * True when a call is not from before: its epoch tells among those for the same pair. One for peer 0 that gave way to
 * ours counts as its sender once did: if we went on from there, the sender would take our calls for old ones.
 */
static bool is_fresh(const struct vv_llc_link *link, const struct vv_announcement *call) {
  if (call->incarnation != link->peer_incarnation) return true;
  if (link->greeting == VV_LLC_GREETING_CALLED && (int8_t)(call->epoch - link->next_epoch) < 0) return false;
  uint8_t ahead = call->epoch - link->epoch;
  return !link->was_up || (ahead > 0 && ahead <= (call->peer == 0 ? EPOCHS_AHEAD : INT8_MAX));
}

static void limit_window(const struct vv_llc_station *station, struct vv_llc_link *link, uint8_t window) {
  uint8_t limit = window > 0 && window < station->config.window ? window : station->config.window;
  if (limit != link->window.limit) vv_llc_window_init(&link->window, limit, link->window.working);
}

void vv_llc_greeting_wait(const struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  if (link->greeting != VV_LLC_GREETING_CALLED || !(link->was_up || link->wanted)) return;
  vv_llc_link_start(link, VV_LLC_TIMER_GREETING, now_ns + PATIENCE * patience_ns(station, link, 0));
}

/* The other end of the pair. Until we are up it may be another each time; its I PDUs begin with its incarnation. */
static void pair_with(struct vv_llc_link *link, uint32_t incarnation) {
  link->peer_incarnation = incarnation;
  if (!link->was_up) link->expected = incarnation;
}

static void take_call(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                      const struct vv_announcement *call) {
  link->next_epoch = call->epoch;
  pair_with(link, call->incarnation);
  limit_window(station, link, call->window);
  link->greeting = VV_LLC_GREETING_CALLED;
  vv_llc_link_freeze(link);
  vv_llc_greeting_wait(station, link, now_ns);
  announce(station, link, call->incarnation, true);
}

void vv_llc_greeting_called(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                            const struct vv_announcement *call) {
  if ((link->tell & VV_LLC_NEWS_CLOSED) != 0 || link->state == VV_LLC_D_CONN) return;
  if (link->was_up && link->peer_incarnation != call->incarnation) {
    vv_llc_link_close(station, link, VV_LLC_CLOSE_GONE);
  } else if (!is_fresh(link, call)) {
    station->counts.stale++;
  } else if (!is_calling(link) || vv_llc_address_compare(&station->config.self, &link->peer) < 0) {
    if (is_calling(link)) withdraw(link);
    take_call(station, link, now_ns, call);
  } else if (link->greeting == VV_LLC_GREETING_NONE) { /* it does not wait for our SABME any more: tell it again */
    withdraw(link);
    vv_llc_greeting_begin(station, link, now_ns);
  }
}

bool vv_llc_greeting_is_call(struct vv_llc_station *station, const uint8_t *info, size_t count,
                             struct vv_announcement *call) {
  struct vv_announcement said;
  if (station->config.plain || !vv_announcement_parse(info, count, &said)) return false;
  if (said.nonce != station->config.nonce) {
    station->counts.foreign++;
    return false;
  }
  *call = said;
  return true;
}

bool vv_llc_greeting_answered(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                              const uint8_t *info, size_t count) {
  struct vv_announcement answer;
  if (link->plain || !vv_announcement_parse(info, count, &answer)) return false;
  bool waits = link->greeting == VV_LLC_GREETING_CALLING && !link->answered;
  if (!waits || answer.nonce != station->config.nonce || answer.epoch != link->next_epoch) return true;
  bool is_taken = answer.peer == link->incarnation, is_echo = answer.incarnation == link->incarnation;
  bool is_pair = !link->was_up || answer.incarnation == link->peer_incarnation;
  if (is_taken && is_pair) {
    pair_with(link, answer.incarnation);
    link->talked |= answer.talked;
    link->answered = true;
    go_if_heard(station, link, now_ns);
  } else if (is_echo) {
    vv_llc_link_close(station, link, link->was_up ? VV_LLC_CLOSE_GONE : VV_LLC_CLOSE_REFUSED);
  }
  return true;
}

bool vv_llc_greeting_identified(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                                uint8_t window) {
  if (link->greeting != VV_LLC_GREETING_CALLING || link->identified) return false;
  limit_window(station, link, window);
  link->identified = true;
  go_if_heard(station, link, now_ns);
  return true;
}

bool vv_llc_greeting_expects_sabme(struct vv_llc_link *link) {
  if (link->plain) return true;
  bool called = link->greeting == VV_LLC_GREETING_CALLED;
  if (called) {
    link->active = false;
    link->timers[VV_LLC_TIMER_GREETING] = VV_NEVER;
  }
  return called || link->state == VV_LLC_CONN;
}

bool vv_llc_greeting_sabme_again(struct vv_llc_station *station, struct vv_llc_link *link, bool poll) {
  bool unheard = vv_llc_is_up(link->state) && !link->active && !link->heard;
  if (link->plain || !unheard || link->greeting != VV_LLC_GREETING_NONE) return false;
  vv_llc_link_owe(station, link, (struct vv_llc_owed){.kind = VV_LPDU_UA, .response = true, .pf = poll});
  return true;
}

static void answer_call(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  enum vv_llc_listen listen = link->wanted ? VV_LLC_LISTEN_ACCEPT : station->config.listen;
  if (listen == VV_LLC_LISTEN_ACCEPT) return vv_llc_machine_ask(station, link, now_ns, VV_LLC_CONNECT_RESPONSE);
  if (listen == VV_LLC_LISTEN_ASK) {
    link->tell |= VV_LLC_NEWS_ASKED;
    return;
  }
  vv_llc_machine_ask(station, link, now_ns, VV_LLC_DISCONNECT_REQUEST);
  link->tell = 0; /* the user has never heard of it */
  link->used = false;
}

void vv_llc_greeting_answer(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  enum vv_llc_question question = link->question;
  link->question = VV_LLC_QUESTION_NONE;
  if (question == VV_LLC_QUESTION_CONNECT) return answer_call(station, link, now_ns);
  if (question == VV_LLC_QUESTION_RESET) return vv_llc_machine_ask(station, link, now_ns, VV_LLC_RESET_RESPONSE);
  if (link->plain) return vv_llc_machine_ask(station, link, now_ns, VV_LLC_RESET_REQUEST);
  if (link->greeting != VV_LLC_GREETING_CALLED) vv_llc_greeting_begin(station, link, now_ns);
}

void vv_llc_greeting_break(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_llc_close why) {
  link->owed_count = 0;
  vv_llc_link_owe(station, link, (struct vv_llc_owed){.kind = VV_LPDU_DISC});
  vv_llc_link_close(station, link, why);
}
