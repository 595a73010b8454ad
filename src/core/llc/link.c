/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/link.h"

#include <assert.h>
#include <string.h>

#include "core/llc/greeting.h"
#include "core/llc/inbound.h"
#include "core/llc/outbound.h"
#include "core/llc/station.h"

enum { FRUITLESS_MAX = 64, BUSY_T1S = 4, START_WINDOW = 8 };

#define INCARNATION_STEP UINT32_C(0x9e3779b1) /* odd, so that it comes back to where it was after 2^32 links */

static uint8_t at(unsigned number) {
  return number & (VV_LPDU_MODULUS - 1);
}

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
      .heap_ns = VV_NEVER,
      .queued = before.queued,
      .telling = before.telling,
  };
  vv_llc_backlog_init(&link->backlog, incarnation, unit_of(config, VV_SEGMENT_BYTES_MAX),
                      unit_of(config, VV_SEGMENT_BYTES));
  vv_llc_window_init(&link->window, config->window, START_WINDOW);
  vv_llc_pace_init(&link->pace, config->t1_ns_min, config->t1_ns_max, config->ack_ns);
  for (int timer = 0; timer < VV_LLC_TIMERS; timer++) link->timers[timer] = VV_NEVER;
}

void vv_llc_link_owe(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_lpdu_kind kind, bool response,
                     bool pf) {
  if (link->owed_count == VV_LLC_LINK_OWED_MAX) {
    station->counts.overflows++;
    return;
  }
  unsigned place = (link->owed_first + link->owed_count++) % VV_LLC_LINK_OWED_MAX;
  link->owed[place] = (struct vv_llc_owed){(uint8_t)kind, response, pf};
}

/* Takes back what waits and speaks of numbers: they mean nothing any more. */
static void disown(struct vv_llc_link *link) {
  unsigned kept = 0;
  for (unsigned i = 0; i < link->owed_count; i++) {
    struct vv_llc_owed owed = link->owed[(link->owed_first + i) % VV_LLC_LINK_OWED_MAX];
    if (owed.kind == VV_LPDU_RR || owed.kind == VV_LPDU_RNR || owed.kind == VV_LPDU_REJ) continue;
    link->owed[(link->owed_first + kept++) % VV_LLC_LINK_OWED_MAX] = owed;
  }
  link->owed_count = (uint8_t)kept;
  link->ack_due = false;
  link->acks_owed = 0;
}

void vv_llc_link_start(struct vv_llc_link *link, enum vv_llc_link_timer timer, uint64_t at_ns) {
  link->timers[timer] = at_ns;
}

static void stop(struct vv_llc_link *link, enum vv_llc_link_timer timer) {
  link->timers[timer] = VV_NEVER;
}

static void stop_all(struct vv_llc_link *link) {
  for (int timer = 0; timer <= VV_LLC_TIMER_IDLE; timer++) stop(link, timer);
}

void vv_llc_link_freeze(struct vv_llc_link *link) {
  link->frozen = true;
  link->timing = false;
  stop_all(link);
  disown(link);
}

/* T1 while the link is up; while it is set up, no sooner than a late PDU and its answer can arrive. */
static uint64_t t1_ns(const struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  uint32_t tries = link->retry_count > 0 ? link->retry_count - 1 : 0;
  uint64_t t1 = vv_llc_pace_t1_ns(&link->pace, vv_llc_is_up(link->state) ? tries : link->retry_count);
  uint64_t late = link->plain || vv_llc_is_up(link->state) ? 0 : 3 * cause->station->config.late_ns;
  return cause->now_ns + (t1 > late ? t1 : late);
}

static void ask_with(struct vv_llc_link *link, const struct vv_llc_link_cause *cause, enum vv_lpdu_kind kind) {
  vv_llc_link_owe(cause->station, link, kind, false, true);
  link->p_flag = true;
  link->polled_ns = cause->now_ns;
  vv_llc_link_start(link, VV_LLC_TIMER_P, t1_ns(link, cause));
  if (cause->pdu == NULL && cause->event >= VV_LLC_ACK_TIMER) cause->station->counts.enquiries++;
}

static void reject_pdu(struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  const struct vv_lpdu *pdu = cause->pdu;
  assert(pdu != NULL);
  uint8_t why = VV_LPDU_FRMR_W;
  if (cause->event == VV_LLC_GOT_BAD_NR) why = VV_LPDU_FRMR_Z;
  if (cause->event == VV_LLC_GOT_BAD_NS) why = VV_LPDU_FRMR_V | VV_LPDU_FRMR_W;
  if (cause->event == VV_LLC_GOT_BAD && pdu->kind == VV_LPDU_I) why = VV_LPDU_FRMR_Y;
  if (cause->event == VV_LLC_GOT_BAD && pdu->kind != VV_LPDU_I && pdu->kind != VV_LPDU_UNKNOWN) why |= VV_LPDU_FRMR_X;
  link->frmr = (struct vv_lpdu_frmr){{pdu->control[0], pdu->control[1]}, pdu->response, link->vs, link->vr, why};
  cause->station->counts.frmr_out++;
  vv_llc_link_owe(cause->station, link, VV_LPDU_FRMR, true, pdu->pf && !pdu->response);
}

static void act_by_pdu(struct vv_llc_link *link, const struct vv_llc_link_cause *cause, enum vv_llc_action action) {
  struct vv_llc_station *station = cause->station;
  bool came = cause->pdu != NULL && cause->pdu->pf && !cause->pdu->response;
  switch (action) {
  case VV_LLC_SEND_SABME:
  case VV_LLC_SEND_DISC:
    link->p_flag = true;
    return vv_llc_link_owe(station, link, action == VV_LLC_SEND_DISC ? VV_LPDU_DISC : VV_LPDU_SABME, false, true);
  case VV_LLC_SEND_UA:
    return vv_llc_link_owe(station, link, VV_LPDU_UA, true, came);
  case VV_LLC_SEND_UA_KEPT:
    return vv_llc_link_owe(station, link, VV_LPDU_UA, true, link->f_flag);
  case VV_LLC_SEND_DM:
    return vv_llc_link_owe(station, link, VV_LPDU_DM, true, came);
  case VV_LLC_SEND_DM_KEPT:
    return vv_llc_link_owe(station, link, VV_LPDU_DM, true, link->f_flag);
  case VV_LLC_SEND_FRMR:
    return reject_pdu(link, cause);
  case VV_LLC_SEND_FRMR_AGAIN:
    return vv_llc_link_owe(station, link, VV_LPDU_FRMR, true, came);
  case VV_LLC_SEND_RR:
    return vv_llc_link_owe(station, link, VV_LPDU_RR, true, false);
  case VV_LLC_SEND_RR_FINAL:
    return vv_llc_link_owe(station, link, VV_LPDU_RR, true, true);
  case VV_LLC_SEND_RR_POLL:
    return ask_with(link, cause, VV_LPDU_RR);
  case VV_LLC_SEND_RNR:
    return vv_llc_link_owe(station, link, VV_LPDU_RNR, true, false);
  case VV_LLC_SEND_RNR_FINAL:
    return vv_llc_link_owe(station, link, VV_LPDU_RNR, true, true);
  case VV_LLC_SEND_RNR_POLL:
    return ask_with(link, cause, VV_LPDU_RNR);
  case VV_LLC_SEND_REJ:
    return vv_llc_link_owe(station, link, VV_LPDU_REJ, true, false);
  case VV_LLC_SEND_REJ_FINAL:
    return vv_llc_link_owe(station, link, VV_LPDU_REJ, true, true);
  case VV_LLC_SEND_REJ_POLL:
    return ask_with(link, cause, VV_LPDU_REJ);
  case VV_LLC_ACKNOWLEDGE:
    if (link->timers[VV_LLC_TIMER_DELAY] == VV_NEVER)
      vv_llc_link_start(link, VV_LLC_TIMER_DELAY, cause->now_ns + station->config.ack_ns);
    link->ack_due |= ++link->acks_owed * 4 >= link->receive_window;
    return;
  default:
    return vv_llc_outbound_i(link, cause);
  }
}

static void act_on_timer(struct vv_llc_link *link, const struct vv_llc_link_cause *cause, enum vv_llc_action action) {
  switch (action) {
  case VV_LLC_START_ACK:
    return vv_llc_link_start(link, VV_LLC_TIMER_ACK, t1_ns(link, cause));
  case VV_LLC_START_ACK_IF_IDLE:
    if (link->timers[VV_LLC_TIMER_ACK] == VV_NEVER) vv_llc_link_start(link, VV_LLC_TIMER_ACK, t1_ns(link, cause));
    return;
  case VV_LLC_START_REJ:
    return vv_llc_link_start(link, VV_LLC_TIMER_REJ, t1_ns(link, cause));
  case VV_LLC_STOP_ACK:
    return stop(link, VV_LLC_TIMER_ACK);
  case VV_LLC_STOP_P:
    if (cause->pdu != NULL && link->p_flag && link->retry_count == 0 && vv_llc_is_up(link->state))
      vv_llc_pace_measured(&link->pace, cause->now_ns - link->polled_ns + 1);
    link->p_flag = false;
    return stop(link, VV_LLC_TIMER_P);
  case VV_LLC_STOP_REJ:
    return stop(link, VV_LLC_TIMER_REJ);
  default:
    return stop_all(link);
  }
}

/* The bytes of all messages that were not acknowledged are the caller's again. */
static void give_up_messages(struct vv_llc_station *station, struct vv_llc_link *link) {
  vv_llc_backlog_give_up(&link->backlog, station->messages);
  link->base = link->backlog.next;
  link->tell |= VV_LLC_NEWS_SENT;
}

static void clear_numbers(struct vv_llc_link *link, struct vv_llc_station *station) {
  link->vs = link->vr = link->va = link->high = link->va_round = link->vr_round = 0;
  vv_llc_repeat_init(&link->repeat, link->base);
  vv_llc_early_clear(&station->early, &link->early);
  link->knows_number = link->heard = link->frozen = link->timing = false;
  link->data_flag = 0;
  link->fruitless = 0;
  link->window.ahead = 0;
  disown(link);
  if (link->was_up) station->counts.resets++;
  if (link->was_up && link->plain) give_up_messages(station, link);
  link->epoch = link->next_epoch;
  link->greeting = VV_LLC_GREETING_NONE;
  stop(link, VV_LLC_TIMER_GREETING);
}

static void update_nr(struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  assert(cause->pdu != NULL);
  uint8_t nr = cause->pdu->nr, count = vv_llc_link_ahead(nr, link->va);
  link->advanced = count > 0 && count <= vv_llc_link_ahead(link->high, link->va);
  if (!link->advanced) return;
  if (count > vv_llc_link_ahead(link->vs, link->va)) link->vs = vv_llc_repeat_end(&link->repeat) ? link->high : nr;
  if (link->timing && vv_llc_link_ahead(link->timed, link->va) < count) {
    vv_llc_pace_measured(&link->pace, cause->now_ns - link->timed_ns + 1);
    link->timing = false;
  }
  link->va_round += nr < link->va;
  link->va = nr;
  link->base += count;
  link->retry_count = link->fruitless = 0;
  vv_llc_backlog_done(&link->backlog, link->base);
  link->tell |= VV_LLC_NEWS_SENT;
  vv_llc_window_acknowledged(&link->window, count, !vv_llc_pace_is_queueing(&link->pace));
  stop(link, VV_LLC_TIMER_ACK);
  if (link->vs != link->va) vv_llc_link_start(link, VV_LLC_TIMER_ACK, t1_ns(link, cause));
}

/*
 * An answer that acknowledges some may be that to the poll before the enquiry,
 * so that the rest is still under way: between ours T1 begins anew instead.
 */
static void back_to_nr(struct vv_llc_link *link) {
  uint8_t outstanding = vv_llc_link_ahead(link->vs, link->va);
  bool same_flight = link->window.ahead > 0, enquired = link->state >= VV_LLC_AWAIT;
  if (outstanding == 0) return;
  vv_llc_window_lost(&link->window, outstanding);
  if (enquired && link->advanced && !link->plain) return;
  if (!vv_llc_repeat_begin(&link->repeat, link->base, vv_llc_link_ahead(link->high, link->va), same_flight, enquired))
    return;
  link->vs = link->va;
  link->timing = false;
  link->fruitless++;
  stop(link, VV_LLC_TIMER_ACK);
}

static void act_on_variable(struct vv_llc_link *link, const struct vv_llc_link_cause *cause,
                            enum vv_llc_action action) {
  switch (action) {
  case VV_LLC_CLEAR_NUMBERS:
    return clear_numbers(link, cause->station);
  case VV_LLC_CLEAR_RETRY:
    link->retry_count = 0;
    return;
  case VV_LLC_COUNT_RETRY:
    link->retry_count++;
    return;
  case VV_LLC_CLEAR_S:
    link->s_flag = false;
    return;
  case VV_LLC_SET_S:
    link->s_flag = true;
    return;
  case VV_LLC_KEEP_F:
    assert(cause->pdu != NULL);
    link->f_flag = cause->pdu->pf;
    return;
  case VV_LLC_DATA_NONE:
    link->data_flag = 0;
    return;
  case VV_LLC_DATA_LOST:
    link->data_flag = 1;
    return;
  case VV_LLC_DATA_LOST_IF_NONE:
    if (link->data_flag == 0) link->data_flag = 1;
    return;
  case VV_LLC_DATA_REJECTING:
    link->data_flag = 2;
    return;
  case VV_LLC_COUNT_VR:
    link->vr = at(link->vr + 1u);
    link->vr_round += link->vr == 0;
    link->number++;
    return;
  case VV_LLC_UPDATE_NR:
    return update_nr(link, cause);
  case VV_LLC_BACK_TO_NR:
    return back_to_nr(link);
  case VV_LLC_HOLD:
    link->remote_busy = true;
    return vv_llc_link_start(link, VV_LLC_TIMER_BUSY, cause->now_ns + BUSY_T1S * vv_llc_pace_t1_ns(&link->pace, 0));
  default:
    link->remote_busy = false;
    return stop(link, VV_LLC_TIMER_BUSY);
  }
}

/* I PDUs are delivered once: those of before a reset that came again are not. */
static void tell_data(struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  struct vv_llc_station *station = cause->station;
  if (!link->plain && link->number - 1 != link->expected) return;
  assert(!station->has_data);
  station->has_data = true;
  station->data = (struct vv_llc_station_event){
      .what = VV_LLC_STATION_DATA,
      .link = (uint32_t)(link - station->links),
      .peer = link->peer,
      .data = cause->data,
      .data_bytes = cause->data_bytes,
      .offset_bytes = link->got_bytes,
      .message_bytes = link->plain ? (uint32_t)cause->data_bytes : link->message_bytes,
  };
  if (link->credit != VV_LLC_CREDIT_UNLIMITED) link->credit--;
  if (link->plain) return;
  link->expected++;
  link->got_bytes += (uint32_t)cause->data_bytes;
  if (link->got_bytes == link->message_bytes) link->got_bytes = link->message_bytes = 0;
}

static void up(struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  uint64_t idle_ns = cause->station->config.idle_ns;
  link->heard_ns = cause->now_ns;
  if (idle_ns > 0) vv_llc_link_start(link, VV_LLC_TIMER_IDLE, cause->now_ns + idle_ns);
  link->tell |= link->was_up ? (link->plain ? VV_LLC_NEWS_RESET : 0) : VV_LLC_NEWS_CONNECTED;
  link->was_up = link->talked = true;
}

static void tell(struct vv_llc_link *link, const struct vv_llc_link_cause *cause, enum vv_llc_action action) {
  switch (action) {
  case VV_LLC_TELL_CONNECT:
    link->question = VV_LLC_QUESTION_CONNECT;
    return;
  case VV_LLC_TELL_RESET:
    link->question = VV_LLC_QUESTION_RESET;
    return;
  case VV_LLC_TELL_RESET_NEEDED:
    link->question = VV_LLC_QUESTION_RESET_NEEDED;
    return;
  case VV_LLC_TELL_CONNECTED:
  case VV_LLC_TELL_WAS_RESET:
    return up(link, cause);
  case VV_LLC_TELL_DATA:
    return tell_data(link, cause);
  case VV_LLC_TELL_CLOSED:
    return vv_llc_link_close(cause->station, link, VV_LLC_CLOSE_ASKED);
  default:
    break;
  }
  enum vv_llc_close why = VV_LLC_CLOSE_PEER;
  if (cause->event == VV_LLC_GOT_DM) why = link->was_up ? VV_LLC_CLOSE_GONE : VV_LLC_CLOSE_REFUSED;
  if (cause->event == VV_LLC_ACK_TIMER) why = VV_LLC_CLOSE_SILENT;
  vv_llc_link_close(cause->station, link, why);
}

static void act(struct vv_llc_link *link, const struct vv_llc_link_cause *cause, enum vv_llc_action action) {
  if (action <= VV_LLC_ACKNOWLEDGE) return act_by_pdu(link, cause, action);
  if (action <= VV_LLC_STOP_ALL) return act_on_timer(link, cause, action);
  if (action <= VV_LLC_FREE) return act_on_variable(link, cause, action);
  return tell(link, cause, action);
}

bool vv_llc_link_is_patient(const struct vv_llc_link *link) {
  return link->was_up && link->n2 == 0 && link->wanted;
}

bool vv_llc_link_is_unheard(const struct vv_llc_link *link) {
  return link->state == VV_LLC_ADM && link->greeting == VV_LLC_GREETING_CALLED && !link->wanted && !link->was_up;
}

/* N2 for what the link does now; 0: it goes on for ever. */
static uint32_t most_tries(const struct vv_llc_link *link) {
  if (vv_llc_is_up(link->state) && link->n2 > 0) return link->n2;
  return vv_llc_link_is_patient(link) && link->state != VV_LLC_D_CONN ? 0 : link->tries;
}

static unsigned conditions(const struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  const struct vv_lpdu *pdu = cause->pdu;
  uint32_t most = most_tries(link);
  return (pdu != NULL && pdu->response ? VV_LLC_IS_RESPONSE : 0u) | (pdu != NULL && pdu->pf ? VV_LLC_IS_PF : 0u) |
         (link->p_flag ? VV_LLC_IS_POLLING : 0u) | (link->s_flag ? VV_LLC_IS_S : 0u) |
         (link->data_flag == 1 ? VV_LLC_IS_LOST : 0u) | (link->data_flag == 2 ? VV_LLC_IS_REJECTING : 0u) |
         (most == 0 || link->retry_count < most ? VV_LLC_IS_TRYING : 0u) | (link->remote_busy ? VV_LLC_IS_HELD : 0u);
}

void vv_llc_link_do(struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  const struct vv_llc_row *row = vv_llc_row(link->state, cause->event, conditions(link, cause));
  if (row == NULL) return;
  enum vv_llc_state before = link->state;
  for (int i = 0; i < VV_LLC_ROW_ACTIONS && row->actions[i] != VV_LLC_NOTHING; i++) act(link, cause, row->actions[i]);
  link->state = row->next;
  if ((before == VV_LLC_CONN || before == VV_LLC_RESET_CHECK) && vv_llc_is_up(link->state)) up(link, cause);
  if (link->question != VV_LLC_QUESTION_NONE) vv_llc_greeting_answer(cause->station, link, cause->now_ns);
}

void vv_llc_link_ask(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns,
                     enum vv_llc_event event) {
  vv_llc_link_do(link, &(struct vv_llc_link_cause){.station = station, .now_ns = now_ns, .event = event});
}

void vv_llc_link_close(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_llc_close why) {
  link->state = VV_LLC_ADM;
  vv_llc_early_clear(&station->early, &link->early);
  link->why = why;
  link->tell |= VV_LLC_NEWS_CLOSED;
  link->greeting = VV_LLC_GREETING_NONE;
  link->question = VV_LLC_QUESTION_NONE;
  vv_llc_link_freeze(link);
  stop(link, VV_LLC_TIMER_GREETING);
  give_up_messages(station, link);
}

/* Nothing was heard for a while: what then is not answered is found out by P_TIMER. */
static void mind_silence(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  uint64_t next_ns = link->heard_ns + station->config.idle_ns;
  if (next_ns <= now_ns) {
    vv_llc_link_ask(station, link, now_ns, VV_LLC_ENQUIRE);
    next_ns = now_ns + station->config.idle_ns;
  }
  vv_llc_link_start(link, VV_LLC_TIMER_IDLE, next_ns);
}

void vv_llc_link_expire(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  static const enum vv_llc_event events[] = {VV_LLC_ACK_TIMER, VV_LLC_P_TIMER, VV_LLC_REJ_TIMER, VV_LLC_BUSY_TIMER};
  for (int timer = 0; timer < VV_LLC_TIMERS; timer++) {
    if (link->timers[timer] > now_ns) continue;
    stop(link, timer);
    if (timer == VV_LLC_TIMER_DELAY) {
      link->ack_due = link->acks_owed > 0;
    } else if (timer == VV_LLC_TIMER_IDLE) {
      mind_silence(station, link, now_ns);
    } else if (timer == VV_LLC_TIMER_GREETING) {
      vv_llc_greeting_expire(station, link, now_ns);
    } else {
      vv_llc_link_ask(station, link, now_ns, events[timer]);
    }
  }
}

bool vv_llc_link_can_send(const struct vv_llc_link *link) {
  uint8_t outstanding = vv_llc_link_ahead(link->vs, link->va);
  return !link->frozen && !link->remote_busy && outstanding < link->window.working &&
         vv_llc_backlog_has(&link->backlog, link->base + outstanding) &&
         (link->state == VV_LLC_NORMAL || link->state == VV_LLC_BUSY || link->state == VV_LLC_REJECT);
}

/* Whatever waits for something has a timer: a lost PDU, or a timer that found P outstanding, must not end that. */
static void watch(struct vv_llc_link *link, uint64_t now_ns) {
  uint64_t t1 = vv_llc_pace_t1_ns(&link->pace, link->retry_count);
  if (link->timers[VV_LLC_TIMER_P] != VV_NEVER) return;
  if (link->vs != link->va && link->timers[VV_LLC_TIMER_ACK] == VV_NEVER) link->timers[VV_LLC_TIMER_ACK] = now_ns + t1;
  if (link->state == VV_LLC_REJECT && link->timers[VV_LLC_TIMER_REJ] == VV_NEVER)
    link->timers[VV_LLC_TIMER_REJ] = now_ns + t1;
  if (link->remote_busy && link->timers[VV_LLC_TIMER_BUSY] == VV_NEVER) link->timers[VV_LLC_TIMER_BUSY] = now_ns + t1;
}

static void mind_credit(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  bool busy = vv_llc_link_is_busy(link);
  if (busy == (link->credit == 0)) return;
  vv_llc_link_ask(station, link, now_ns, busy ? VV_LLC_BUSY_CLEARED : VV_LLC_BUSY_DETECTED);
}

static void set_alarm(struct vv_llc_station *station, struct vv_llc_link *link) {
  uint64_t next = VV_NEVER;
  for (int timer = 0; timer < VV_LLC_TIMERS; timer++) {
    if (link->timers[timer] < next) next = link->timers[timer];
  }
  if (next >= link->heap_ns)
    return; /* the heap wakes us earlier, and then learns the truth: cheaper than for each PDU */
  link->heap_ns = next;
  vv_heap_set(&station->timers, (uint32_t)(link - station->links), next);
}

void vv_llc_link_settle(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns) {
  uint32_t id = (uint32_t)(link - station->links);
  station->now_ns = now_ns;
  if (vv_llc_is_up(link->state) && !link->frozen) {
    if (link->fruitless > FRUITLESS_MAX) vv_llc_greeting_break(station, link, VV_LLC_CLOSE_STUCK);
  }
  if (vv_llc_is_up(link->state) && !link->frozen) {
    mind_credit(station, link, now_ns);
    watch(link, now_ns);
  }
  set_alarm(station, link);
  if (!link->queued && (link->owed_count > 0 || link->ack_due || vv_llc_link_can_send(link))) {
    link->queued = vv_ring_push(&station->busy, id);
  }
  bool tells = link->tell != 0 || vv_llc_inbound_early(station, link) != VV_LLC_NO_EARLY;
  if (!link->telling && tells) link->telling = vv_ring_push(&station->telling, id);
}
