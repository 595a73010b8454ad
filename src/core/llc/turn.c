/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/turn.h"

#include "core/llc/greeting.h"
#include "core/llc/inbound.h"
#include "core/llc/link.h"
#include "core/llc/machine.h"
#include "core/llc/outbound.h"

/*
 * What arrives not once in so many times, and for so long, does not fit the way. Where many send to one at once a queue
 * may be full whenever the same frame comes to it again, the short answers pass, and a hundred times are over in a
 * moment.
 */
enum { FRUITLESS_MAX = 64 };
static const vv_ns fruitless_ns_max = 10 * VV_SEC;

/*
 * Answers what the machine asks its user. In RESET_WAIT a SABME of the peer is the answer that the reset waits for,
 * when it has one to give.
 */
static void answer(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  if (link->question != VV_LLC_QUESTION_NONE) vv_llc_greeting_answer(station, link, now_ns);
  if (link->state == VV_LLC_RESET_WAIT && link->s_flag) vv_llc_machine_ask(station, link, now_ns, VV_LLC_RESET_REQUEST);
}

static void ask(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns, enum vv_llc_event event) {
  vv_llc_machine_ask(station, link, now_ns, event);
  answer(station, link, now_ns);
}

/* Nothing was heard for a while: what then is not answered is found out by P_TIMER. */
static void mind_silence(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  vv_ns next_ns = link->heard_ns + station->config.idle_ns;
  if (next_ns <= now_ns) {
    ask(station, link, now_ns, VV_LLC_ENQUIRE);
    next_ns = now_ns + station->config.idle_ns;
  }
  vv_llc_link_start(link, VV_LLC_TIMER_IDLE, next_ns);
}

static vv_ns earliest(const struct vv_llc_link *link) {
  vv_ns next = VV_NEVER;
  for (int timer = 0; timer < VV_LLC_TIMERS; timer++) {
    if (link->timers[timer] < next) next = link->timers[timer];
  }
  return next;
}

void vv_llc_turn_expire(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  static const enum vv_llc_event events[] = {VV_LLC_ACK_TIMER, VV_LLC_P_TIMER, VV_LLC_REJ_TIMER, VV_LLC_BUSY_TIMER};
  for (int timer = 0; timer < VV_LLC_TIMERS; timer++) {
    if (link->timers[timer] > now_ns) continue;
    vv_llc_link_stop(link, timer);
    if (timer == VV_LLC_TIMER_DELAY) {
      link->ack_due = link->acks_owed > 0;
    } else if (timer == VV_LLC_TIMER_IDLE) {
      mind_silence(station, link, now_ns);
    } else if (timer == VV_LLC_TIMER_GREETING) {
      vv_llc_greeting_expire(station, link, now_ns);
    } else {
      ask(station, link, now_ns, events[timer]);
    }
  }
  link->due_ns = earliest(link);
}

static void ensure(struct vv_llc_link *link, enum vv_llc_link_timer timer, vv_ns now_ns) {
  if (link->timers[timer] != VV_NEVER) return;
  vv_llc_link_start(link, timer, now_ns + vv_llc_pace_t1_ns(&link->pace, link->retry_count));
}

/* Whatever waits for something has a timer: a lost PDU, or a timer that found P outstanding, must not end that. */
static void watch(struct vv_llc_link *link, vv_ns now_ns) {
  if (link->timers[VV_LLC_TIMER_P] != VV_NEVER) return;
  if (link->vs != link->va) ensure(link, VV_LLC_TIMER_ACK, now_ns);
  if (link->state == VV_LLC_REJECT) ensure(link, VV_LLC_TIMER_REJ, now_ns);
  if (link->remote_busy) ensure(link, VV_LLC_TIMER_BUSY, now_ns);
}

static void mind_credit(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  bool busy = vv_llc_link_is_busy(link);
  if (busy == (link->credit == 0)) return;
  ask(station, link, now_ns, busy ? VV_LLC_BUSY_CLEARED : VV_LLC_BUSY_DETECTED);
}

/* Where the heap wakes us earlier it then learns the truth, which is cheaper than for each PDU. */
static void set_alarm(struct vv_llc_station *station, struct vv_llc_link *link) {
  uint32_t id = (uint32_t)(link - station->links);
  if (link->due_ns < vv_heap_get(&station->timers, id)) vv_heap_set(&station->timers, id, link->due_ns);
}

static bool is_stuck(const struct vv_llc_link *link, vv_ns now_ns) {
  return link->fruitless > FRUITLESS_MAX && now_ns - link->fruitless_ns > fruitless_ns_max;
}

void vv_llc_turn_settle(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns) {
  uint32_t id = (uint32_t)(link - station->links);
  answer(station, link, now_ns);
  if (vv_llc_is_up(link->state) && !link->frozen && is_stuck(link, now_ns))
    vv_llc_greeting_break(station, link, VV_LLC_CLOSE_STUCK);
  if (vv_llc_is_up(link->state) && !link->frozen) {
    mind_credit(station, link, now_ns);
    watch(link, now_ns);
  }
  set_alarm(station, link);
  if (!link->queued && (link->owed_count > 0 || link->ack_due || vv_llc_link_can_send(station, link))) {
    link->queued = vv_ring_push(&station->busy, id);
  }
  bool tells = link->tell != 0 || vv_llc_inbound_early(station, link) != VV_LLC_NO_EARLY;
  if (!link->telling && tells) link->telling = vv_ring_push(&station->telling, id);
}

bool vv_llc_turn_frame(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                       struct vv_llc_station_frame *frame) {
  if (link->owed_count > 0) {
    struct vv_llc_owed owed = link->owed[link->owed_first];
    link->owed_first = (uint8_t)((link->owed_first + 1) % VV_LLC_LINK_OWED_MAX);
    link->owed_count--;
    vv_llc_outbound_control(station, link, owed, frame);
    return true;
  }
  if (vv_llc_link_can_send(station, link)) {
    vv_llc_machine_do(link, &(struct vv_llc_link_cause){
                                .station = station, .now_ns = now_ns, .event = VV_LLC_DATA_REQUEST, .frame = frame});
    return true;
  }
  if (!link->ack_due) return false;
  bool busy = vv_llc_link_is_busy(link);
  vv_llc_outbound_control(station, link,
                          (struct vv_llc_owed){.kind = busy ? VV_LPDU_RNR : VV_LPDU_RR, .response = true}, frame);
  return true;
}
