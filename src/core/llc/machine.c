/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/machine.h"

#include <assert.h>

#include "core/llc/link.h"
#include "core/llc/outbound.h"

enum { BUSY_T1S = 4 }; /* a peer that is busy is asked again after so many T1 */
enum { ACK_PART = 4 }; /* I PDUs are acknowledged at once when a receive window has so many parts like them */

/* DATA_FLAG */
enum { NONE, LOST, REJECTING };

/* T1 while the link is up; while it is set up, no sooner than a late PDU and its answer can arrive. */
static vv_ns t1_ns(const struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  uint32_t tries = link->retry_count > 0 ? link->retry_count - 1 : 0;
  vv_ns t1 = vv_llc_pace_t1_ns(&link->pace, vv_llc_is_up(link->state) ? tries : link->retry_count);
  vv_ns late = link->plain || vv_llc_is_up(link->state) ? 0 : vv_llc_station_late_ns(cause->station);
  return cause->now_ns + (t1 > late ? t1 : late);
}

/* --- PDUs --- */

/* The bit of the PDU that came, if it was a command with P = 1. */
static bool came(const struct vv_llc_link_cause *cause) {
  return cause->pdu != NULL && cause->pdu->pf && !cause->pdu->response;
}

static void respond(struct vv_llc_link *link, const struct vv_llc_link_cause *cause, enum vv_lpdu_kind kind,
                    bool final) {
  uint8_t enquiry = final ? cause->enquiry : 0;
  vv_llc_link_owe(cause->station, link, (struct vv_llc_owed){(uint8_t)kind, true, final, enquiry});
}

static void poll(struct vv_llc_link *link, const struct vv_llc_link_cause *cause, enum vv_lpdu_kind kind) {
  if (link->p_flag && link->late_answers < UINT8_MAX) link->late_answers++;
  if (link->went) link->enquiry = link->enquiry % UINT8_MAX + 1;
  link->went = false;
  link->p_flag = true;
  link->polled = link->enquiry;
  vv_llc_link_owe(cause->station, link, (struct vv_llc_owed){(uint8_t)kind, false, true, link->enquiry});
  link->polled_ns = cause->now_ns;
  vv_llc_link_start(link, VV_LLC_TIMER_P, t1_ns(link, cause));
  if (cause->pdu == NULL && cause->event >= VV_LLC_ACK_TIMER) cause->station->counts.enquiries++;
}

#define ACTION(name) static void name(struct vv_llc_link *link, const struct vv_llc_link_cause *cause)

ACTION(send_sabme) {
  link->p_flag = true;
  vv_llc_link_owe(cause->station, link, (struct vv_llc_owed){.kind = VV_LPDU_SABME, .pf = true});
}

/* Between ours with P = 0: the answer to a SABME that went twice has F = 1, and is then none to this. */
ACTION(send_disc) {
  link->p_flag = link->plain;
  vv_llc_link_owe(cause->station, link, (struct vv_llc_owed){.kind = VV_LPDU_DISC, .pf = link->plain});
}

ACTION(send_ua) {
  respond(link, cause, VV_LPDU_UA, came(cause));
}

ACTION(send_ua_kept) {
  respond(link, cause, VV_LPDU_UA, link->f_flag);
}

ACTION(send_dm) {
  respond(link, cause, VV_LPDU_DM, came(cause));
}

ACTION(send_dm_kept) {
  respond(link, cause, VV_LPDU_DM, link->f_flag);
}

ACTION(send_frmr) {
  const struct vv_lpdu *pdu = cause->pdu;
  assert(pdu != NULL);
  uint8_t why = VV_LPDU_FRMR_W;
  if (cause->event == VV_LLC_GOT_BAD_NR) why = VV_LPDU_FRMR_Z;
  if (cause->event == VV_LLC_GOT_BAD_NS) why = VV_LPDU_FRMR_V | VV_LPDU_FRMR_W;
  if (cause->event == VV_LLC_GOT_BAD && pdu->kind == VV_LPDU_I) why = VV_LPDU_FRMR_Y;
  if (cause->event == VV_LLC_GOT_BAD && pdu->kind != VV_LPDU_I && pdu->kind != VV_LPDU_UNKNOWN) why |= VV_LPDU_FRMR_X;
  link->frmr = (struct vv_lpdu_frmr){{pdu->control[0], pdu->control[1]}, pdu->response, link->vs, link->vr, why};
  cause->station->counts.frmr_out++;
  respond(link, cause, VV_LPDU_FRMR, came(cause));
}

ACTION(send_frmr_again) {
  respond(link, cause, VV_LPDU_FRMR, came(cause));
}

ACTION(send_i) {
  vv_llc_outbound_i(cause->station, link, cause->now_ns, cause->frame);
}

ACTION(send_rr) {
  respond(link, cause, VV_LPDU_RR, false);
}

ACTION(send_rr_final) {
  respond(link, cause, VV_LPDU_RR, true);
}

ACTION(send_rr_poll) {
  poll(link, cause, VV_LPDU_RR);
}

ACTION(send_rnr) {
  respond(link, cause, VV_LPDU_RNR, false);
}

ACTION(send_rnr_final) {
  respond(link, cause, VV_LPDU_RNR, true);
}

ACTION(send_rnr_poll) {
  poll(link, cause, VV_LPDU_RNR);
}

ACTION(send_rej) {
  respond(link, cause, VV_LPDU_REJ, false);
}

ACTION(send_rej_final) {
  respond(link, cause, VV_LPDU_REJ, true);
}

ACTION(send_rej_poll) {
  poll(link, cause, VV_LPDU_REJ);
}

ACTION(acknowledge) {
  if (link->timers[VV_LLC_TIMER_DELAY] == VV_NEVER)
    vv_llc_link_start(link, VV_LLC_TIMER_DELAY, cause->now_ns + cause->station->config.ack_ns);
  link->ack_due |= ++link->acks_owed * ACK_PART >= link->receive_window;
}

/* --- timers --- */

ACTION(start_ack) {
  vv_llc_link_start(link, VV_LLC_TIMER_ACK, t1_ns(link, cause));
}

ACTION(start_ack_if_idle) {
  if (link->timers[VV_LLC_TIMER_ACK] == VV_NEVER) start_ack(link, cause);
}

ACTION(start_rej) {
  vv_llc_link_start(link, VV_LLC_TIMER_REJ, t1_ns(link, cause));
}

ACTION(stop_ack) {
  (void)cause;
  vv_llc_link_stop(link, VV_LLC_TIMER_ACK);
}

ACTION(stop_p) {
  if (cause->pdu != NULL && link->p_flag && link->retry_count == 0 && vv_llc_is_up(link->state))
    vv_llc_pace_measured(&link->pace, cause->now_ns - link->polled_ns + 1);
  link->p_flag = false;
  vv_llc_link_stop(link, VV_LLC_TIMER_P);
}

ACTION(stop_rej) {
  (void)cause;
  vv_llc_link_stop(link, VV_LLC_TIMER_REJ);
}

ACTION(stop_all) {
  (void)cause;
  vv_llc_link_stop_all(link);
}

/* --- variables --- */

ACTION(clear_numbers) {
  vv_llc_link_clear(cause->station, link);
}

ACTION(clear_retry) {
  (void)cause;
  link->retry_count = 0;
}

ACTION(count_retry) {
  (void)cause;
  link->retry_count++;
}

ACTION(clear_s) {
  (void)cause;
  link->s_flag = false;
}

ACTION(set_s) {
  (void)cause;
  link->s_flag = true;
}

ACTION(keep_f) {
  assert(cause->pdu != NULL);
  link->f_flag = cause->pdu->pf;
}

ACTION(data_none) {
  (void)cause;
  link->data_flag = NONE;
}

ACTION(data_lost) {
  (void)cause;
  link->data_flag = LOST;
}

ACTION(data_lost_if_none) {
  (void)cause;
  if (link->data_flag == NONE) link->data_flag = LOST;
}

ACTION(data_rejecting) {
  (void)cause;
  link->data_flag = REJECTING;
}

ACTION(count_vr) {
  (void)cause;
  link->vr = vv_llc_link_ahead(link->vr + 1u, 0);
  link->vr_round += link->vr == 0;
  link->number++;
}

ACTION(update_nr) {
  assert(cause->pdu != NULL);
  uint8_t nr = cause->pdu->nr, count = vv_llc_link_ahead(nr, link->va);
  if (count == 0 || count > vv_llc_link_ahead(link->high, link->va)) return;
  if (count > vv_llc_link_ahead(link->vs, link->va)) link->vs = vv_llc_repeat_end(&link->repeat) ? link->high : nr;
  if (link->timing && vv_llc_link_ahead(link->timed, link->va) < count) {
    vv_llc_pace_measured(&link->pace, cause->now_ns - link->timed_ns + 1);
    link->timing = false;
  }
  link->va_round += nr < link->va;
  link->va = nr;
  link->base += count;
  cause->station->flight -= count;
  link->retry_count = link->fruitless = 0;
  vv_llc_backlog_done(&link->backlog, link->base);
  link->tell |= VV_LLC_NEWS_SENT;
  vv_llc_window_acknowledged(&link->window, count, !vv_llc_pace_is_queueing(&link->pace));
  vv_llc_link_stop(link, VV_LLC_TIMER_ACK);
  if (link->vs != link->va) vv_llc_link_start(link, VV_LLC_TIMER_ACK, t1_ns(link, cause));
}

ACTION(back_to_nr) {
  uint8_t outstanding = vv_llc_link_ahead(link->vs, link->va);
  bool same_flight = link->window.ahead > 0, enquired = link->state >= VV_LLC_AWAIT;
  if (outstanding == 0) return;
  vv_llc_window_lost(&link->window, outstanding);
  if (!vv_llc_repeat_begin(&link->repeat, link->base, vv_llc_link_ahead(link->high, link->va), same_flight, enquired))
    return;
  link->vs = link->va;
  link->timing = false;
  if (link->fruitless++ == 0) link->fruitless_ns = cause->now_ns;
  vv_llc_link_stop(link, VV_LLC_TIMER_ACK);
}

ACTION(hold) {
  link->remote_busy = true;
  vv_llc_link_start(link, VV_LLC_TIMER_BUSY, cause->now_ns + BUSY_T1S * vv_llc_pace_t1_ns(&link->pace, 0));
}

ACTION(release) {
  (void)cause;
  link->remote_busy = false;
  vv_llc_link_stop(link, VV_LLC_TIMER_BUSY);
}

/* --- told to the user --- */

ACTION(tell_connect) {
  (void)cause;
  link->question = VV_LLC_QUESTION_CONNECT;
}

ACTION(tell_reset) {
  (void)cause;
  link->question = VV_LLC_QUESTION_RESET;
}

ACTION(tell_reset_needed) {
  (void)cause;
  link->question = VV_LLC_QUESTION_RESET_NEEDED;
}

ACTION(tell_up) {
  vv_ns idle_ns = cause->station->config.idle_ns;
  link->heard_ns = cause->now_ns;
  if (idle_ns > 0) vv_llc_link_start(link, VV_LLC_TIMER_IDLE, cause->now_ns + idle_ns);
  link->tell |= link->was_up ? (link->plain ? VV_LLC_NEWS_RESET : 0) : VV_LLC_NEWS_CONNECTED;
  link->was_up = link->talked = true;
}

ACTION(tell_disconnected) {
  enum vv_llc_close why = VV_LLC_CLOSE_PEER;
  if (cause->event == VV_LLC_GOT_DM) why = link->was_up ? VV_LLC_CLOSE_GONE : VV_LLC_CLOSE_REFUSED;
  if (cause->event == VV_LLC_ACK_TIMER) why = VV_LLC_CLOSE_SILENT;
  vv_llc_link_close(cause->station, link, why);
}

ACTION(tell_closed) {
  vv_llc_link_close(cause->station, link, VV_LLC_CLOSE_ASKED);
}

/* I PDUs are delivered once: those of before a reset that came again are not. */
ACTION(tell_data) {
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

/* --- the table's actions --- */

typedef void handler(struct vv_llc_link *link, const struct vv_llc_link_cause *cause);

static handler *const act[] = {
    [VV_LLC_SEND_SABME] = send_sabme,
    [VV_LLC_SEND_DISC] = send_disc,
    [VV_LLC_SEND_UA] = send_ua,
    [VV_LLC_SEND_UA_KEPT] = send_ua_kept,
    [VV_LLC_SEND_DM] = send_dm,
    [VV_LLC_SEND_DM_KEPT] = send_dm_kept,
    [VV_LLC_SEND_FRMR] = send_frmr,
    [VV_LLC_SEND_FRMR_AGAIN] = send_frmr_again,
    [VV_LLC_SEND_I] = send_i,
    [VV_LLC_SEND_RR] = send_rr,
    [VV_LLC_SEND_RR_FINAL] = send_rr_final,
    [VV_LLC_SEND_RR_POLL] = send_rr_poll,
    [VV_LLC_SEND_RNR] = send_rnr,
    [VV_LLC_SEND_RNR_FINAL] = send_rnr_final,
    [VV_LLC_SEND_RNR_POLL] = send_rnr_poll,
    [VV_LLC_SEND_REJ] = send_rej,
    [VV_LLC_SEND_REJ_FINAL] = send_rej_final,
    [VV_LLC_SEND_REJ_POLL] = send_rej_poll,
    [VV_LLC_ACKNOWLEDGE] = acknowledge,
    [VV_LLC_START_ACK] = start_ack,
    [VV_LLC_START_ACK_IF_IDLE] = start_ack_if_idle,
    [VV_LLC_START_REJ] = start_rej,
    [VV_LLC_STOP_ACK] = stop_ack,
    [VV_LLC_STOP_P] = stop_p,
    [VV_LLC_STOP_REJ] = stop_rej,
    [VV_LLC_STOP_ALL] = stop_all,
    [VV_LLC_CLEAR_NUMBERS] = clear_numbers,
    [VV_LLC_CLEAR_RETRY] = clear_retry,
    [VV_LLC_COUNT_RETRY] = count_retry,
    [VV_LLC_CLEAR_S] = clear_s,
    [VV_LLC_SET_S] = set_s,
    [VV_LLC_KEEP_F] = keep_f,
    [VV_LLC_DATA_NONE] = data_none,
    [VV_LLC_DATA_LOST] = data_lost,
    [VV_LLC_DATA_LOST_IF_NONE] = data_lost_if_none,
    [VV_LLC_DATA_REJECTING] = data_rejecting,
    [VV_LLC_COUNT_VR] = count_vr,
    [VV_LLC_UPDATE_NR] = update_nr,
    [VV_LLC_BACK_TO_NR] = back_to_nr,
    [VV_LLC_HOLD] = hold,
    [VV_LLC_FREE] = release,
    [VV_LLC_TELL_CONNECT] = tell_connect,
    [VV_LLC_TELL_CONNECTED] = tell_up,
    [VV_LLC_TELL_UP] = tell_up,
    [VV_LLC_TELL_RESET] = tell_reset,
    [VV_LLC_TELL_RESET_NEEDED] = tell_reset_needed,
    [VV_LLC_TELL_WAS_RESET] = tell_up,
    [VV_LLC_TELL_DISCONNECTED] = tell_disconnected,
    [VV_LLC_TELL_CLOSED] = tell_closed,
    [VV_LLC_TELL_DATA] = tell_data,
};

static_assert(sizeof act / sizeof act[0] == VV_LLC_ACTIONS, "every action has a handler, and the last one too");

/*
 * N2 for what the link does now; 0: it goes on for ever. Not where the peer answers in another epoch: calls that came
 * later than frames can be may leave the two ends so.
 */
static uint32_t most_tries(const struct vv_llc_link *link) {
  if (vv_llc_is_up(link->state) && link->n2 > 0) return link->n2;
  if (vv_llc_is_up(link->state) && link->astray) return link->tries;
  return vv_llc_link_is_patient(link) && link->state != VV_LLC_D_CONN ? 0 : link->tries;
}

static unsigned conditions(const struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  const struct vv_lpdu *pdu = cause->pdu;
  uint32_t most = most_tries(link);
  return (pdu != NULL && pdu->response ? VV_LLC_IS_RESPONSE : 0u) | (pdu != NULL && pdu->pf ? VV_LLC_IS_PF : 0u) |
         (link->p_flag ? VV_LLC_IS_POLLING : 0u) | (link->s_flag ? VV_LLC_IS_S : 0u) |
         (link->data_flag == LOST ? VV_LLC_IS_LOST : 0u) | (link->data_flag == REJECTING ? VV_LLC_IS_REJECTING : 0u) |
         (most == 0 || link->retry_count < most ? VV_LLC_IS_TRYING : 0u) | (link->remote_busy ? VV_LLC_IS_HELD : 0u);
}

void vv_llc_machine_do(struct vv_llc_link *link, const struct vv_llc_link_cause *cause) {
  const struct vv_llc_row *row = vv_llc_row(link->state, cause->event, conditions(link, cause));
  if (row == NULL) return;
  for (int i = 0; i < VV_LLC_ROW_ACTIONS && row->actions[i] != VV_LLC_NOTHING; i++) act[row->actions[i]](link, cause);
  link->state = row->next;
}

void vv_llc_machine_ask(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                        enum vv_llc_event event) {
  vv_llc_machine_do(link, &(struct vv_llc_link_cause){.station = station, .now_ns = now_ns, .event = event});
}
