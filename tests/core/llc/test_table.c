/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state table against what clause 7 of ISO/IEC 8802-2 says in words, for
 * every state, event and combination of conditions. Here a state of data
 * transfer is two things, what we can take (all, nothing, or one missing I PDU)
 * and whether an enquiry is unanswered; the table does not know that.
 */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/llc/table.h"

#define CONDITIONS 256
#define DO(action) (UINT64_C(1) << VV_LLC_##action)

static_assert(VV_LLC_ACTIONS <= 64, "a set of actions fits a word");

enum mode { TAKES_ALL, TAKES_NONE, MISSES_ONE };

struct outcome {
  int next; /* -1: nothing happens */
  uint64_t actions;
};

static const struct outcome ignored = {-1, 0};

struct transfer {
  enum mode mode;
  bool await;
};

static struct transfer split(enum vv_llc_state state) {
  switch (state) {
  case VV_LLC_BUSY:
    return (struct transfer){TAKES_NONE, false};
  case VV_LLC_REJECT:
    return (struct transfer){MISSES_ONE, false};
  case VV_LLC_AWAIT:
    return (struct transfer){TAKES_ALL, true};
  case VV_LLC_AWAIT_BUSY:
    return (struct transfer){TAKES_NONE, true};
  case VV_LLC_AWAIT_REJECT:
    return (struct transfer){MISSES_ONE, true};
  default:
    return (struct transfer){TAKES_ALL, false};
  }
}

static enum vv_llc_state join(struct transfer transfer) {
  static const enum vv_llc_state states[] = {VV_LLC_NORMAL, VV_LLC_BUSY,       VV_LLC_REJECT,
                                             VV_LLC_AWAIT,  VV_LLC_AWAIT_BUSY, VV_LLC_AWAIT_REJECT};
  return states[transfer.mode + 3 * transfer.await];
}

/* How a PDU of the peer bears on the P/F cycle. */
struct cycle {
  bool poll;   /* it must be answered at once */
  bool answer; /* it answers us */
  bool wrong;  /* it answers what was not asked */
};

static struct cycle cycle_of(unsigned conditions) {
  bool response = conditions & VV_LLC_IS_RESPONSE, pf = conditions & VV_LLC_IS_PF,
       polling = conditions & VV_LLC_IS_POLLING;
  return (struct cycle){pf && !response, pf && response && polling, pf && response && !polling};
}

static const uint64_t frmr = DO(SEND_FRMR) | DO(STOP_ALL) | DO(START_ACK) | DO(CLEAR_RETRY);

/* Clause 7.5.4 and following: an answer ends the cycle, and after an enquiry says where to go on. */
static uint64_t end_cycle(struct transfer *transfer, struct cycle cycle) {
  uint64_t actions = cycle.answer ? DO(STOP_P) : 0;
  if (cycle.answer && transfer->await) actions |= DO(BACK_TO_NR);
  if (cycle.answer) transfer->await = false;
  return actions;
}

static struct outcome supervisory(struct transfer transfer, enum vv_llc_event event, unsigned conditions) {
  struct cycle cycle = cycle_of(conditions);
  if (cycle.wrong) return (struct outcome){VV_LLC_ERROR, frmr};
  bool await = transfer.await;
  uint64_t actions = DO(UPDATE_NR) | (event == VV_LLC_GOT_RNR ? DO(HOLD) : DO(FREE)) | end_cycle(&transfer, cycle);
  if (event == VV_LLC_GOT_REJ && !await) actions |= DO(BACK_TO_NR);
  if (event == VV_LLC_GOT_RNR && cycle.answer) actions |= DO(CLEAR_RETRY);
  if (cycle.poll) actions |= transfer.mode == TAKES_NONE ? DO(SEND_RNR_FINAL) : DO(SEND_RR_FINAL);
  return (struct outcome){join(transfer), actions};
}

static uint64_t accept(struct transfer *transfer, struct cycle cycle) {
  uint64_t actions = DO(COUNT_VR) | DO(TELL_DATA) | (cycle.poll ? DO(SEND_RR_FINAL) : DO(ACKNOWLEDGE));
  if (transfer->mode == MISSES_ONE) actions |= DO(STOP_REJ);
  transfer->mode = TAKES_ALL;
  return actions;
}

static struct outcome information(struct transfer transfer, enum vv_llc_event event, unsigned conditions) {
  struct cycle cycle = cycle_of(conditions);
  if (cycle.wrong) return (struct outcome){VV_LLC_ERROR, frmr};
  uint64_t actions = DO(UPDATE_NR) | end_cycle(&transfer, cycle) | (cycle.answer ? DO(FREE) : 0);
  bool seen = event == VV_LLC_GOT_I_SEEN;
  if (transfer.mode == TAKES_NONE) {
    if (cycle.poll) actions |= DO(SEND_RNR_FINAL);
    if (!seen) actions |= DO(DATA_LOST_IF_NONE) | (cycle.poll ? 0 : DO(SEND_RNR));
  } else if (event == VV_LLC_GOT_I) {
    actions |= accept(&transfer, cycle);
  } else if (!seen && transfer.mode == TAKES_ALL) { /* one REJ at a time */
    actions |= DO(START_REJ) | (cycle.poll ? DO(SEND_REJ_FINAL) : DO(SEND_REJ));
    transfer.mode = MISSES_ONE;
  } else if (cycle.poll) {
    actions |= DO(SEND_RR_FINAL);
  }
  return (struct outcome){join(transfer), actions};
}

static struct outcome enquire(struct transfer transfer) {
  uint64_t actions = DO(COUNT_RETRY);
  if (transfer.mode == MISSES_ONE) actions |= DO(START_REJ);
  if (transfer.mode == TAKES_NONE) {
    actions |= DO(SEND_RNR_POLL);
  } else {
    actions |= transfer.mode == MISSES_ONE && transfer.await ? DO(SEND_REJ_POLL) : DO(SEND_RR_POLL);
  }
  transfer.await = true;
  return (struct outcome){join(transfer), actions};
}

static struct outcome timer(struct transfer transfer, enum vv_llc_event event, unsigned conditions) {
  bool polling = conditions & VV_LLC_IS_POLLING;
  if (event == VV_LLC_REJ_TIMER && transfer.await && transfer.mode == TAKES_NONE)
    return (struct outcome){VV_LLC_AWAIT_BUSY, DO(DATA_LOST)};
  if (!(conditions & VV_LLC_IS_TRYING))
    return (struct outcome){VV_LLC_RESET_WAIT, DO(STOP_ALL) | DO(CLEAR_S) | DO(TELL_RESET_NEEDED)};
  if (event == VV_LLC_P_TIMER) return enquire(transfer);
  if (transfer.await) return ignored;
  if (event != VV_LLC_REJ_TIMER) return polling ? ignored : enquire(transfer);
  if (transfer.mode == TAKES_NONE) {
    if (polling) return (struct outcome){VV_LLC_BUSY, DO(DATA_LOST)};
    struct outcome outcome = enquire(transfer);
    outcome.actions |= DO(DATA_LOST);
    return outcome;
  }
  if (transfer.mode != MISSES_ONE || polling) return ignored;
  return (struct outcome){VV_LLC_REJECT, DO(COUNT_RETRY) | DO(SEND_REJ_POLL) | DO(START_REJ)};
}

static struct outcome busy(struct transfer transfer, enum vv_llc_event event, unsigned conditions) {
  bool lost = conditions & VV_LLC_IS_LOST, rejecting = conditions & VV_LLC_IS_REJECTING;
  bool may_poll = !transfer.await && !(conditions & VV_LLC_IS_POLLING);
  bool was_busy = transfer.mode == TAKES_NONE;
  if (was_busy == (event == VV_LLC_BUSY_DETECTED)) return ignored;
  if (!was_busy) {
    uint64_t actions = DO(SEND_RNR) | (transfer.mode == MISSES_ONE ? DO(DATA_REJECTING) : DO(DATA_NONE));
    transfer.mode = TAKES_NONE;
    return (struct outcome){join(transfer), actions};
  }
  transfer.mode = lost || rejecting ? MISSES_ONE : TAKES_ALL;
  uint64_t actions = lost ? DO(START_REJ) : 0;
  if (lost) actions |= may_poll ? DO(SEND_REJ_POLL) : DO(SEND_REJ);
  if (!lost) actions |= may_poll ? DO(SEND_RR_POLL) : DO(SEND_RR);
  return (struct outcome){join(transfer), actions};
}

static struct outcome up(enum vv_llc_state state, enum vv_llc_event event, unsigned conditions) {
  struct transfer transfer = split(state);
  bool free = !transfer.await && !(conditions & VV_LLC_IS_POLLING);
  switch (event) {
  case VV_LLC_CONNECT_REQUEST:
  case VV_LLC_CONNECT_RESPONSE:
  case VV_LLC_RESET_RESPONSE:
    return ignored;
  case VV_LLC_RESET_REQUEST:
    return (struct outcome){VV_LLC_RESET,
                            DO(STOP_ALL) | DO(SEND_SABME) | DO(START_ACK) | DO(CLEAR_RETRY) | DO(CLEAR_S)};
  case VV_LLC_DISCONNECT_REQUEST:
    return (struct outcome){VV_LLC_D_CONN, DO(STOP_ALL) | DO(SEND_DISC) | DO(START_ACK) | DO(CLEAR_RETRY)};
  case VV_LLC_DATA_REQUEST:
    if (transfer.await || (conditions & VV_LLC_IS_HELD)) return ignored;
    return (struct outcome){state, DO(SEND_I) | DO(START_ACK_IF_IDLE)};
  case VV_LLC_BUSY_DETECTED:
  case VV_LLC_BUSY_CLEARED:
    return busy(transfer, event, conditions);
  case VV_LLC_ENQUIRE:
    if (!free) return ignored;
    return (struct outcome){state, transfer.mode == TAKES_NONE ? DO(SEND_RNR_POLL) : DO(SEND_RR_POLL)};
  case VV_LLC_GOT_SABME:
    return (struct outcome){VV_LLC_RESET_CHECK, DO(KEEP_F) | DO(STOP_ALL) | DO(TELL_RESET)};
  case VV_LLC_GOT_DISC:
    return (struct outcome){VV_LLC_ADM, DO(SEND_UA) | DO(STOP_ALL) | DO(TELL_DISCONNECTED)};
  case VV_LLC_GOT_DM:
    return (struct outcome){VV_LLC_ADM, DO(STOP_ALL) | DO(TELL_DISCONNECTED)};
  case VV_LLC_GOT_FRMR:
    return (struct outcome){VV_LLC_RESET_WAIT, DO(STOP_ALL) | DO(CLEAR_S) | DO(TELL_RESET_NEEDED)};
  case VV_LLC_GOT_I:
  case VV_LLC_GOT_I_GAP:
  case VV_LLC_GOT_I_SEEN:
    return information(transfer, event, conditions);
  case VV_LLC_GOT_RR:
  case VV_LLC_GOT_RNR:
  case VV_LLC_GOT_REJ:
    return supervisory(transfer, event, conditions);
  case VV_LLC_ACK_TIMER:
  case VV_LLC_P_TIMER:
  case VV_LLC_REJ_TIMER:
  case VV_LLC_BUSY_TIMER:
    return timer(transfer, event, conditions);
  default: /* UA, an impossible N(R) or N(S), no PDU at all */
    return (struct outcome){VV_LLC_ERROR, frmr};
  }
}

static const uint64_t set_up = DO(CLEAR_NUMBERS) | DO(STOP_P) | DO(CLEAR_RETRY) | DO(FREE);
static const uint64_t begin = DO(START_ACK) | DO(CLEAR_RETRY);

static bool is_numbered(enum vv_llc_event event) {
  return event >= VV_LLC_GOT_I;
}

static struct outcome disconnected(enum vv_llc_event event, unsigned conditions) {
  if (event == VV_LLC_CONNECT_REQUEST) return (struct outcome){VV_LLC_SETUP, DO(SEND_SABME) | begin | DO(CLEAR_S)};
  if (event == VV_LLC_GOT_SABME) return (struct outcome){VV_LLC_CONN, DO(KEEP_F) | DO(TELL_CONNECT)};
  bool polled = is_numbered(event) && cycle_of(conditions).poll;
  if (event == VV_LLC_GOT_DISC || polled) return (struct outcome){VV_LLC_ADM, DO(SEND_DM)};
  return ignored;
}

/* CONN, RESET_CHECK and RESET_WAIT: a user has to decide. */
static struct outcome asking(enum vv_llc_state state, enum vv_llc_event event, unsigned conditions) {
  bool crossed = conditions & VV_LLC_IS_S, wait = state == VV_LLC_RESET_WAIT;
  if (event == VV_LLC_GOT_SABME) return (struct outcome){state, DO(KEEP_F) | (wait ? DO(SET_S) : 0)};
  if (event == VV_LLC_GOT_DISC) return (struct outcome){VV_LLC_ADM, DO(SEND_DM) | DO(TELL_DISCONNECTED)};
  if (event == VV_LLC_GOT_DM) return (struct outcome){VV_LLC_ADM, DO(TELL_DISCONNECTED)};
  if (event == VV_LLC_DISCONNECT_REQUEST && wait && !crossed)
    return (struct outcome){VV_LLC_D_CONN, DO(SEND_DISC) | begin};
  if (event == VV_LLC_DISCONNECT_REQUEST) return (struct outcome){VV_LLC_ADM, DO(SEND_DM_KEPT) | DO(TELL_CLOSED)};
  if (event == VV_LLC_RESET_REQUEST && wait && crossed)
    return (struct outcome){VV_LLC_NORMAL, DO(SEND_UA_KEPT) | set_up | DO(CLEAR_S) | DO(TELL_WAS_RESET)};
  if (event == VV_LLC_RESET_REQUEST && wait) return (struct outcome){VV_LLC_RESET, DO(SEND_SABME) | begin};
  bool yes = event == (state == VV_LLC_CONN ? VV_LLC_CONNECT_RESPONSE : VV_LLC_RESET_RESPONSE);
  return yes && !wait ? (struct outcome){VV_LLC_NORMAL, DO(SEND_UA_KEPT) | set_up | DO(TELL_UP)} : ignored;
}

static struct outcome calling(enum vv_llc_state state, enum vv_llc_event event, unsigned conditions) {
  bool trying = conditions & VV_LLC_IS_TRYING, crossed = conditions & VV_LLC_IS_S;
  uint64_t done = state == VV_LLC_SETUP ? DO(TELL_CONNECTED) : DO(TELL_WAS_RESET);
  switch (event) {
  case VV_LLC_GOT_SABME:
    return (struct outcome){state, DO(CLEAR_NUMBERS) | DO(SEND_UA) | DO(SET_S)};
  case VV_LLC_GOT_UA:
    return cycle_of(conditions).answer ? (struct outcome){VV_LLC_NORMAL, set_up | DO(STOP_ACK) | done} : ignored;
  case VV_LLC_GOT_DISC:
    return (struct outcome){VV_LLC_ADM, DO(SEND_DM) | DO(STOP_ACK) | DO(TELL_DISCONNECTED)};
  case VV_LLC_GOT_DM:
    return (struct outcome){VV_LLC_ADM, DO(STOP_ACK) | DO(TELL_DISCONNECTED)};
  case VV_LLC_DISCONNECT_REQUEST:
    if (state == VV_LLC_SETUP) return (struct outcome){VV_LLC_ADM, DO(STOP_ACK) | DO(TELL_CLOSED)};
    return (struct outcome){VV_LLC_D_CONN, DO(SEND_DISC) | begin};
  case VV_LLC_ACK_TIMER:
    if (crossed) return (struct outcome){VV_LLC_NORMAL, DO(STOP_P) | DO(CLEAR_RETRY) | DO(FREE) | done};
    if (trying) return (struct outcome){state, DO(COUNT_RETRY) | DO(SEND_SABME) | DO(START_ACK)};
    return (struct outcome){VV_LLC_ADM, DO(TELL_DISCONNECTED)};
  default:
    return ignored;
  }
}

static struct outcome closing(enum vv_llc_event event, unsigned conditions) {
  switch (event) {
  case VV_LLC_GOT_UA: /* F = P_FLAG */
    if (!(conditions & VV_LLC_IS_PF) != !(conditions & VV_LLC_IS_POLLING)) return ignored;
    return (struct outcome){VV_LLC_ADM, DO(STOP_ACK) | DO(TELL_CLOSED)};
  case VV_LLC_GOT_DM:
    return (struct outcome){VV_LLC_ADM, DO(STOP_ACK) | DO(TELL_CLOSED)};
  case VV_LLC_GOT_SABME:
    return (struct outcome){VV_LLC_ADM, DO(SEND_DM) | DO(STOP_ACK) | DO(TELL_CLOSED)};
  case VV_LLC_GOT_DISC:
    return (struct outcome){VV_LLC_D_CONN, DO(SEND_UA)};
  case VV_LLC_ACK_TIMER:
    if (conditions & VV_LLC_IS_TRYING)
      return (struct outcome){VV_LLC_D_CONN, DO(COUNT_RETRY) | DO(SEND_DISC) | DO(START_ACK)};
    return (struct outcome){VV_LLC_ADM, DO(TELL_CLOSED)};
  default:
    return ignored;
  }
}

static struct outcome in_error(enum vv_llc_event event, unsigned conditions) {
  bool trying = conditions & VV_LLC_IS_TRYING, command = !(conditions & VV_LLC_IS_RESPONSE);
  switch (event) {
  case VV_LLC_GOT_SABME:
    return (struct outcome){VV_LLC_RESET_CHECK, DO(KEEP_F) | DO(STOP_ACK) | DO(TELL_RESET)};
  case VV_LLC_GOT_DISC:
    return (struct outcome){VV_LLC_ADM, DO(SEND_UA) | DO(STOP_ACK) | DO(TELL_DISCONNECTED)};
  case VV_LLC_GOT_DM:
    return (struct outcome){VV_LLC_ADM, DO(STOP_ACK) | DO(TELL_DISCONNECTED)};
  case VV_LLC_GOT_FRMR:
    return (struct outcome){VV_LLC_RESET_WAIT, DO(STOP_ACK) | DO(CLEAR_S) | DO(TELL_RESET_NEEDED)};
  case VV_LLC_DISCONNECT_REQUEST:
    return (struct outcome){VV_LLC_D_CONN, DO(SEND_DISC) | begin};
  case VV_LLC_ACK_TIMER:
    if (trying) return (struct outcome){VV_LLC_ERROR, DO(SEND_FRMR_AGAIN) | DO(START_ACK) | DO(COUNT_RETRY)};
    return (struct outcome){VV_LLC_RESET_WAIT, DO(CLEAR_S) | DO(TELL_RESET_NEEDED)};
  default:
    return is_numbered(event) && command ? (struct outcome){VV_LLC_ERROR, DO(SEND_FRMR_AGAIN) | DO(START_ACK)}
                                         : ignored;
  }
}

static struct outcome expected(enum vv_llc_state state, enum vv_llc_event event, unsigned conditions) {
  if (vv_llc_is_up(state)) return up(state, event, conditions);
  switch (state) {
  case VV_LLC_ADM:
    return disconnected(event, conditions);
  case VV_LLC_SETUP:
  case VV_LLC_RESET:
    return calling(state, event, conditions);
  case VV_LLC_D_CONN:
    return closing(event, conditions);
  case VV_LLC_ERROR:
    return in_error(event, conditions);
  default:
    return asking(state, event, conditions);
  }
}

static struct outcome actual(enum vv_llc_state state, enum vv_llc_event event, unsigned conditions) {
  const struct vv_llc_row *row = vv_llc_row(state, event, conditions);
  if (row == NULL) return ignored;
  struct outcome outcome = {row->next, 0};
  for (int i = 0; i < VV_LLC_ROW_ACTIONS && row->actions[i] != VV_LLC_NOTHING; i++) {
    assert_true(row->actions[i] < VV_LLC_ACTIONS);
    assert_int_equal(outcome.actions & UINT64_C(1) << row->actions[i], 0); /* none twice */
    outcome.actions |= UINT64_C(1) << row->actions[i];
  }
  return outcome;
}

/* Users and timers bring no PDU, and DATA_FLAG has one value. */
static bool can_be(enum vv_llc_event event, unsigned conditions) {
  const unsigned pdu = VV_LLC_IS_RESPONSE | VV_LLC_IS_PF, data = VV_LLC_IS_LOST | VV_LLC_IS_REJECTING;
  bool response = event == VV_LLC_GOT_UA || event == VV_LLC_GOT_DM || event == VV_LLC_GOT_FRMR;
  bool command = event == VV_LLC_GOT_SABME || event == VV_LLC_GOT_DISC;
  if (event < VV_LLC_GOT_SABME && (conditions & pdu) != 0) return false;
  if (response && !(conditions & VV_LLC_IS_RESPONSE)) return false;
  if (command && (conditions & VV_LLC_IS_RESPONSE)) return false;
  return (conditions & data) != data;
}

static void test_every_pair(void **state_of_test) {
  (void)state_of_test;
  unsigned pairs = 0, wrong = 0;
  for (int state = 0; state < VV_LLC_STATES; state++) {
    for (int event = 0; event < VV_LLC_EVENTS; event++, pairs++) {
      for (unsigned conditions = 0; conditions < CONDITIONS; conditions++) {
        if (!can_be(event, conditions)) continue;
        struct outcome is = actual(state, event, conditions), should = expected(state, event, conditions);
        if (is.next == should.next && is.actions == should.actions) continue;
        if (wrong++ < 20)
          print_error("state %d event %d conditions %02x: next %d actions %llx, not %d %llx\n", state, event,
                      conditions, is.next, (unsigned long long)is.actions, should.next,
                      (unsigned long long)should.actions);
      }
    }
  }
  assert_int_equal(pairs, VV_LLC_STATES * VV_LLC_EVENTS);
  assert_int_equal(wrong, 0);
}

/* Rules that hold whatever the state: each would end in a deadlock or in data sent to nobody. */
static void test_rules(void **state_of_test) {
  (void)state_of_test;
  const uint64_t finals =
      DO(SEND_RR_FINAL) | DO(SEND_RNR_FINAL) | DO(SEND_REJ_FINAL) | DO(SEND_FRMR) | DO(SEND_RR_POLL);
  for (int state = VV_LLC_NORMAL; state < VV_LLC_STATES; state++) {
    for (int event = VV_LLC_GOT_I; event <= VV_LLC_GOT_REJ; event++) {
      struct outcome polled = actual(state, event, VV_LLC_IS_PF | VV_LLC_IS_TRYING);
      assert_true(polled.next >= 0 && (polled.actions & finals) != 0); /* P = 1 is answered at once */
      assert_true((polled.actions & DO(UPDATE_NR)) != 0);
    }
    if (state >= VV_LLC_AWAIT) assert_int_equal(actual(state, VV_LLC_DATA_REQUEST, 0).next, -1);
    assert_int_equal(actual(state, VV_LLC_P_TIMER, VV_LLC_IS_POLLING).next, VV_LLC_RESET_WAIT);
  }
}

static void test_every_row_has_its_clause(void **state_of_test) {
  (void)state_of_test;
  for (int state = 0; state < VV_LLC_STATES; state++) {
    for (int event = 0; event < VV_LLC_EVENTS; event++) {
      for (unsigned conditions = 0; conditions < CONDITIONS; conditions++) {
        const struct vv_llc_row *row = vv_llc_row(state, event, conditions);
        if (row == NULL) continue;
        assert_non_null(strstr(row->clause, "7.9.2"));
        assert_int_equal(row->event, event);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_pair),
      cmocka_unit_test(test_rules),
      cmocka_unit_test(test_every_row_has_its_clause),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
