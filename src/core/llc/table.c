/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows. Those of the standard's table have no numbers, so each is named
 * here by the state it stands under and by the standard's word for the event.
 */
#include "core/llc/table.h"

#include <stddef.h>

/* Short names, for a row should fit a line. */
enum {
  R = VV_LLC_IS_RESPONSE,
  F = VV_LLC_IS_PF,
  P = VV_LLC_IS_POLLING,
  S = VV_LLC_IS_S,
  D1 = VV_LLC_IS_LOST,
  D2 = VV_LLC_IS_REJECTING,
  N2 = VV_LLC_IS_TRYING,
  HELD = VV_LLC_IS_HELD,
};

enum { NEEDED = 0xff }; /* of `when`: which conditions must hold */

/* Conditions: which of them matter, and which of those must hold. */
#define WHEN(of, need) ((of) << 8 | (need))
#define ALWAYS         WHEN(0, 0)
#define POLL           WHEN(R | F, F)             /* a command with P = 1 */
#define QUIET          WHEN(F, 0)                 /* P = 0, F = 0 */
#define ANSWER         WHEN(R | F | P, R | F | P) /* F = 1, and a command with P = 1 waits for it */
#define ANSWER_0       WHEN(R | F | P, R)         /* F = 0, and none with P = 1 does */
#define UNASKED        WHEN(R | F | P, R | F)     /* F = 1, and none does */
#define COMMAND        WHEN(R, 0)
#define TRY            WHEN(N2, N2)
#define GIVE_UP        WHEN(N2, 0)

#define DO1(a)                                           VV_LLC_##a
#define DO2(a, ...)                                      VV_LLC_##a, DO1(__VA_ARGS__)
#define DO3(a, ...)                                      VV_LLC_##a, DO2(__VA_ARGS__)
#define DO4(a, ...)                                      VV_LLC_##a, DO3(__VA_ARGS__)
#define DO5(a, ...)                                      VV_LLC_##a, DO4(__VA_ARGS__)
#define DO6(a, ...)                                      VV_LLC_##a, DO5(__VA_ARGS__)
#define DO7(a, ...)                                      VV_LLC_##a, DO6(__VA_ARGS__)
#define DO8(a, ...)                                      VV_LLC_##a, DO7(__VA_ARGS__)
#define DO_OF(_1, _2, _3, _4, _5, _6, _7, _8, name, ...) name
#define DO(...)                                          DO_OF(__VA_ARGS__, DO8, DO7, DO6, DO5, DO4, DO3, DO2, DO1, )(__VA_ARGS__)

/* Event, conditions, next state, clause; then what is done. */
#define ROW(event, conditions, next, clause, ...)                                                                      \
  { VV_LLC_##event, conditions, VV_LLC_##next, {DO(__VA_ARGS__)}, clause }
#define END                                                                                                            \
  { .event = VV_LLC_EVENTS }

typedef struct vv_llc_row row;

/* clang-format off */
static const row adm[] = {
  ROW(CONNECT_REQUEST, ALWAYS, SETUP, "7.9.2 ADM, CONNECT_REQUEST", SEND_SABME, START_ACK, CLEAR_RETRY, CLEAR_S),
  ROW(GOT_SABME, ALWAYS, CONN, "7.9.2 ADM, RECEIVE_SABME_CMD", KEEP_F, TELL_CONNECT),
  ROW(GOT_DISC, ALWAYS, ADM, "7.9.2 ADM, RECEIVE_DISC_CMD", SEND_DM),
#define ADM_POLLED(event) ROW(event, POLL, ADM, "7.9.2 ADM, RECEIVE_XXX_CMD(P=1)", SEND_DM)
  ADM_POLLED(GOT_I),
  ADM_POLLED(GOT_I_GAP),
  ADM_POLLED(GOT_I_SEEN),
  ADM_POLLED(GOT_RR),
  ADM_POLLED(GOT_RNR),
  ADM_POLLED(GOT_REJ),
  ADM_POLLED(GOT_BAD_NR),
  ADM_POLLED(GOT_BAD_NS),
  ADM_POLLED(GOT_BAD),
  END,
};

static const row conn[] = {
  ROW(CONNECT_RESPONSE, ALWAYS, NORMAL, "7.9.2 CONN, CONNECT_RESPONSE", SEND_UA_KEPT, CLEAR_NUMBERS, STOP_P, CLEAR_RETRY, FREE, TELL_UP),
  ROW(DISCONNECT_REQUEST, ALWAYS, ADM, "7.9.2 CONN, DISCONNECT_REQUEST", SEND_DM_KEPT, TELL_CLOSED),
  ROW(GOT_SABME, ALWAYS, CONN, "7.9.2 CONN, RECEIVE_SABME_CMD", KEEP_F),
  ROW(GOT_DISC, ALWAYS, ADM, "7.9.2 CONN, RECEIVE_DISC_CMD", SEND_DM, TELL_DISCONNECTED),
  ROW(GOT_DM, ALWAYS, ADM, "7.9.2 CONN, RECEIVE_DM_RSP", TELL_DISCONNECTED),
  END,
};

static const row reset_wait[] = {
  ROW(RESET_REQUEST, WHEN(S, 0), RESET, "7.9.2 RESET_WAIT, RESET_REQUEST & S_FLAG=0", SEND_SABME, START_ACK, CLEAR_RETRY),
  ROW(RESET_REQUEST, WHEN(S, S), NORMAL, "7.9.2 RESET_WAIT, RESET_REQUEST & S_FLAG=1", SEND_UA_KEPT, CLEAR_NUMBERS, STOP_P, CLEAR_RETRY, FREE, CLEAR_S, TELL_WAS_RESET),
  ROW(DISCONNECT_REQUEST, WHEN(S, 0), D_CONN, "7.9.2 RESET_WAIT, DISCONNECT_REQUEST & S_FLAG=0", SEND_DISC, START_ACK, CLEAR_RETRY),
  ROW(DISCONNECT_REQUEST, WHEN(S, S), ADM, "7.9.2 RESET_WAIT, DISCONNECT_REQUEST & S_FLAG=1", SEND_DM_KEPT, TELL_CLOSED),
  ROW(GOT_SABME, ALWAYS, RESET_WAIT, "7.9.2 RESET_WAIT, RECEIVE_SABME_CMD", SET_S, KEEP_F),
  ROW(GOT_DISC, ALWAYS, ADM, "7.9.2 RESET_WAIT, RECEIVE_DISC_CMD", SEND_DM, TELL_DISCONNECTED),
  ROW(GOT_DM, ALWAYS, ADM, "7.9.2 RESET_WAIT, RECEIVE_DM_RSP", TELL_DISCONNECTED),
  END,
};

static const row reset_check[] = {
  ROW(RESET_RESPONSE, ALWAYS, NORMAL, "7.9.2 RESET_CHECK, RESET_RESPONSE", SEND_UA_KEPT, CLEAR_NUMBERS, STOP_P, CLEAR_RETRY, FREE, TELL_UP),
  ROW(DISCONNECT_REQUEST, ALWAYS, ADM, "7.9.2 RESET_CHECK, DISCONNECT_REQUEST", SEND_DM_KEPT, TELL_CLOSED),
  ROW(GOT_SABME, ALWAYS, RESET_CHECK, "7.9.2 RESET_CHECK, RECEIVE_SABME_CMD", KEEP_F),
  ROW(GOT_DISC, ALWAYS, ADM, "7.9.2 RESET_CHECK, RECEIVE_DISC_CMD", SEND_DM, TELL_DISCONNECTED),
  ROW(GOT_DM, ALWAYS, ADM, "7.9.2 RESET_CHECK, RECEIVE_DM_RSP", TELL_DISCONNECTED),
  END,
};

/* SETUP and RESET wait for the same, and differ in what they tell at the end. */
#define CALLING(state, confirm)                                                                                          \
  ROW(GOT_SABME, ALWAYS, state, "7.9.2 " #state ", RECEIVE_SABME_CMD", CLEAR_NUMBERS, SEND_UA, SET_S),                   \
  ROW(GOT_UA, ANSWER, NORMAL, "7.9.2 " #state ", RECEIVE_UA_RSP(F=X) & P_FLAG=X", STOP_ACK, CLEAR_NUMBERS,  \
      STOP_P, CLEAR_RETRY, FREE, confirm),                                                                             \
  ROW(ACK_TIMER, WHEN(S, S), NORMAL, "7.9.2 " #state ", ACK_TIMER_EXPIRED & S_FLAG=1", STOP_P, CLEAR_RETRY, FREE, confirm),    \
  ROW(ACK_TIMER, WHEN(S | N2, N2), state, "7.9.2 " #state ", ACK_TIMER_EXPIRED & RETRY_COUNT<N2 & S_FLAG=0", COUNT_RETRY,       \
      SEND_SABME, START_ACK),                                                                                          \
  ROW(ACK_TIMER, WHEN(S | N2, 0), ADM, "7.9.2 " #state ", ACK_TIMER_EXPIRED & RETRY_COUNT>=N2 & S_FLAG=0", TELL_DISCONNECTED),  \
  ROW(GOT_DISC, ALWAYS, ADM, "7.9.2 " #state ", RECEIVE_DISC_CMD", SEND_DM, STOP_ACK, TELL_DISCONNECTED),                \
  ROW(GOT_DM, ALWAYS, ADM, "7.9.2 " #state ", RECEIVE_DM_RSP", STOP_ACK, TELL_DISCONNECTED)

static const row setup[] = {
  CALLING(SETUP, TELL_CONNECTED),
  ROW(DISCONNECT_REQUEST, ALWAYS, ADM, "not in 7.9.2: a user who no longer wants to connect waits for the end of SETUP there", STOP_ACK, TELL_CLOSED),
  END,
};

static const row reset[] = {
  CALLING(RESET, TELL_WAS_RESET),
  ROW(DISCONNECT_REQUEST, ALWAYS, D_CONN, "7.9.2 RESET, DISCONNECT_REQUEST", SEND_DISC, START_ACK, CLEAR_RETRY),
  END,
};

static const row d_conn[] = {
  ROW(GOT_UA, ANSWER, ADM, "7.9.2 D_CONN, RECEIVE_UA_RSP(F=X) & P_FLAG=X", STOP_ACK, TELL_CLOSED),
  ROW(GOT_UA, ANSWER_0, ADM, "7.9.2 D_CONN, RECEIVE_UA_RSP(F=X) & P_FLAG=X", STOP_ACK, TELL_CLOSED),
  ROW(GOT_DM, ALWAYS, ADM, "7.9.2 D_CONN, RECEIVE_DM_RSP", STOP_ACK, TELL_CLOSED),
  ROW(GOT_SABME, ALWAYS, ADM, "7.9.2 D_CONN, RECEIVE_SABME_CMD", SEND_DM, STOP_ACK, TELL_CLOSED),
  ROW(GOT_DISC, ALWAYS, D_CONN, "7.9.2 D_CONN, RECEIVE_DISC_CMD", SEND_UA),
  ROW(ACK_TIMER, TRY, D_CONN, "7.9.2 D_CONN, ACK_TIMER_EXPIRED & RETRY_COUNT<N2", COUNT_RETRY, SEND_DISC, START_ACK),
  ROW(ACK_TIMER, GIVE_UP, ADM, "7.9.2 D_CONN, ACK_TIMER_EXPIRED & RETRY_COUNT>=N2", TELL_CLOSED),
  END,
};

static const row error[] = {
  ROW(GOT_SABME, ALWAYS, RESET_CHECK, "7.9.2 ERROR, RECEIVE_SABME_CMD", KEEP_F, STOP_ACK, TELL_RESET),
  ROW(GOT_DISC, ALWAYS, ADM, "7.9.2 ERROR, RECEIVE_DISC_CMD", SEND_UA, STOP_ACK, TELL_DISCONNECTED),
  ROW(GOT_DM, ALWAYS, ADM, "7.9.2 ERROR, RECEIVE_DM_RSP", STOP_ACK, TELL_DISCONNECTED),
  ROW(GOT_FRMR, ALWAYS, RESET_WAIT, "7.9.2 ERROR, RECEIVE_FRMR_RSP", STOP_ACK, CLEAR_S, TELL_RESET_NEEDED),
  ROW(DISCONNECT_REQUEST, ALWAYS, D_CONN, "not in 7.9.2: the user may end what is in error", SEND_DISC, START_ACK, CLEAR_RETRY),
  ROW(ACK_TIMER, TRY, ERROR, "7.9.2 ERROR, ACK_TIMER_EXPIRED & RETRY_COUNT<N2", SEND_FRMR_AGAIN, START_ACK, COUNT_RETRY),
  ROW(ACK_TIMER, GIVE_UP, RESET_WAIT, "7.9.2 ERROR, ACK_TIMER_EXPIRED & RETRY_COUNT>=N2", CLEAR_S, TELL_RESET_NEEDED),
#define ERROR_AGAIN(event) ROW(event, COMMAND, ERROR, "7.9.2 ERROR, RECEIVE_XXX_CMD", SEND_FRMR_AGAIN, START_ACK)
  ERROR_AGAIN(GOT_I),
  ERROR_AGAIN(GOT_I_GAP),
  ERROR_AGAIN(GOT_I_SEEN),
  ERROR_AGAIN(GOT_RR),
  ERROR_AGAIN(GOT_RNR),
  ERROR_AGAIN(GOT_REJ),
  ERROR_AGAIN(GOT_BAD_NR),
  ERROR_AGAIN(GOT_BAD_NS),
  ERROR_AGAIN(GOT_BAD),
  END,
};

/* An S PDU in a state that goes on as it is: what is answered to a poll, and what it does to our sending. */
#define SUPERVISORY(event, state, word, final, ...)                                                                    \
  ROW(event, QUIET, state, "7.9.2 " #state ", " word "(X=0)", UPDATE_NR, __VA_ARGS__),                                  \
  ROW(event, POLL, state, "7.9.2 " #state ", " word "_CMD(P=1)", final, UPDATE_NR, __VA_ARGS__)
#define ANSWERED(event, state, word, next, ...)                                                                        \
  ROW(event, ANSWER, next, "7.9.2 " #state ", " word "_RSP(F=1)", STOP_P, UPDATE_NR, __VA_ARGS__)

/* RR, REJ and RNR in NORMAL, BUSY and REJECT. */
#define LISTENING(state, final)                                                                                        \
  SUPERVISORY(GOT_RR, state, "RECEIVE_RR", final, FREE),                                                               \
  ANSWERED(GOT_RR, state, "RECEIVE_RR", state, FREE),                                                                  \
  SUPERVISORY(GOT_REJ, state, "RECEIVE_REJ", final, BACK_TO_NR, FREE),                                                 \
  ANSWERED(GOT_REJ, state, "RECEIVE_REJ", state, BACK_TO_NR, FREE),                                                    \
  SUPERVISORY(GOT_RNR, state, "RECEIVE_RNR", final, HOLD),                                                             \
  ANSWERED(GOT_RNR, state, "RECEIVE_RNR", state, HOLD, CLEAR_RETRY)

/* The same in the three AWAIT states: the answer ends them, and says where to go on. */
#define AWAITING(state, final, next)                                                                                   \
  SUPERVISORY(GOT_RR, state, "RECEIVE_RR", final, FREE),                                                               \
  ANSWERED(GOT_RR, state, "RECEIVE_RR", next, BACK_TO_NR, FREE),                                                       \
  SUPERVISORY(GOT_REJ, state, "RECEIVE_REJ", final, FREE),                                                             \
  ANSWERED(GOT_REJ, state, "RECEIVE_REJ", next, BACK_TO_NR, FREE),                                                     \
  SUPERVISORY(GOT_RNR, state, "RECEIVE_RNR", final, HOLD),                                                             \
  ANSWERED(GOT_RNR, state, "RECEIVE_RNR", next, BACK_TO_NR, HOLD, CLEAR_RETRY)

/* I PDUs that are out of place and change nothing but what their N(R) says. */
#define PASSED(event, state, word, final)                                                                              \
  ROW(event, QUIET, state, "7.9.2 " #state ", " word "(X=0)", UPDATE_NR),                                               \
  ROW(event, POLL, state, "7.9.2 " #state ", " word "_CMD(P=1)", final, UPDATE_NR)
#define PASSED_ANSWER(event, state, word, next, ...)                                                                   \
  ROW(event, ANSWER, next, "7.9.2 " #state ", " word "_RSP(F=1)", STOP_P, UPDATE_NR, __VA_ARGS__)

#define I_WORD    "RECEIVE_I"
#define GAP_WORD  "RECEIVE_I_WITH_UNEXPECTED_N(S)"
#define SEEN_WORD "RECEIVE_DUPLICATE_I"

static const row normal[] = {
  ROW(GOT_I, QUIET, NORMAL, "7.9.2 NORMAL, RECEIVE_I(X=0)", COUNT_VR, TELL_DATA, UPDATE_NR, ACKNOWLEDGE),
  ROW(DATA_REQUEST, WHEN(HELD, 0), NORMAL, "7.9.2 NORMAL, DATA_REQUEST & REMOTE_BUSY=0", SEND_I, START_ACK_IF_IDLE),
  ROW(GOT_I, POLL, NORMAL, "7.9.2 NORMAL, RECEIVE_I_CMD(P=1)", COUNT_VR, TELL_DATA, UPDATE_NR, SEND_RR_FINAL),
  ROW(GOT_I, ANSWER, NORMAL, "7.9.2 NORMAL, RECEIVE_I_RSP(F=1)", COUNT_VR, TELL_DATA, STOP_P, UPDATE_NR, ACKNOWLEDGE, FREE),
  LISTENING(NORMAL, SEND_RR_FINAL),
  ROW(GOT_I_GAP, QUIET, REJECT, "7.9.2 NORMAL, " GAP_WORD "(X=0)", SEND_REJ, UPDATE_NR, START_REJ),
  ROW(GOT_I_GAP, POLL, REJECT, "7.9.2 NORMAL, " GAP_WORD "_CMD(P=1)", SEND_REJ_FINAL, UPDATE_NR, START_REJ),
  ROW(GOT_I_GAP, ANSWER, REJECT, "7.9.2 NORMAL, " GAP_WORD "_RSP(F=1)", SEND_REJ, STOP_P, UPDATE_NR, START_REJ, FREE),
  PASSED(GOT_I_SEEN, NORMAL, SEEN_WORD, SEND_RR_FINAL),
  PASSED_ANSWER(GOT_I_SEEN, NORMAL, SEEN_WORD, NORMAL, FREE),
  ROW(BUSY_DETECTED, ALWAYS, BUSY, "7.9.2 NORMAL, LOCAL_BUSY_DETECTED", SEND_RNR, DATA_NONE),
  ROW(ENQUIRE, WHEN(P, 0), NORMAL, "7.9.2 NORMAL, INITIATE_P/F_CYCLE & P_FLAG=0", SEND_RR_POLL),
  ROW(P_TIMER, TRY, AWAIT, "7.9.2 NORMAL, P_TIMER_EXPIRED & RETRY_COUNT<N2", COUNT_RETRY, SEND_RR_POLL),
  ROW(ACK_TIMER, WHEN(P | N2, N2), AWAIT, "7.9.2 NORMAL, ACK_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_RR_POLL),
  ROW(BUSY_TIMER, WHEN(P | N2, N2), AWAIT, "7.9.2 NORMAL, BUSY_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_RR_POLL),
  END,
};

static const row busy[] = {
  ROW(DATA_REQUEST, WHEN(HELD, 0), BUSY, "7.9.2 BUSY, DATA_REQUEST & REMOTE_BUSY=0", SEND_I, START_ACK_IF_IDLE),
  ROW(BUSY_CLEARED, WHEN(D1 | D2 | P, 0), NORMAL, "7.9.2 BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=0 & P_FLAG=0", SEND_RR_POLL),
  ROW(BUSY_CLEARED, WHEN(D1 | D2 | P, P), NORMAL, "7.9.2 BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=0 & P_FLAG=1", SEND_RR),
  ROW(BUSY_CLEARED, WHEN(D1 | P, D1), REJECT, "7.9.2 BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=1 & P_FLAG=0", SEND_REJ_POLL, START_REJ),
  ROW(BUSY_CLEARED, WHEN(D1 | P, D1 | P), REJECT, "7.9.2 BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=1 & P_FLAG=1", SEND_REJ, START_REJ),
  ROW(BUSY_CLEARED, WHEN(D2 | P, D2), REJECT, "7.9.2 BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=2 & P_FLAG=0", SEND_RR_POLL),
  ROW(BUSY_CLEARED, WHEN(D2 | P, D2 | P), REJECT, "7.9.2 BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=2 & P_FLAG=1", SEND_RR),
#define BUSY_I(event, word)                                                                                            \
  ROW(event, QUIET, BUSY, "7.9.2 BUSY, " word "(X=0)", SEND_RNR, UPDATE_NR, DATA_LOST_IF_NONE),                         \
  ROW(event, POLL, BUSY, "7.9.2 BUSY, " word "_CMD(P=1)", SEND_RNR_FINAL, UPDATE_NR, DATA_LOST_IF_NONE),                \
  ROW(event, ANSWER, BUSY, "7.9.2 BUSY, " word "_RSP(F=1)", SEND_RNR, STOP_P, UPDATE_NR, DATA_LOST_IF_NONE, FREE)
  BUSY_I(GOT_I, I_WORD),
  BUSY_I(GOT_I_GAP, GAP_WORD),
  PASSED(GOT_I_SEEN, BUSY, SEEN_WORD, SEND_RNR_FINAL),
  PASSED_ANSWER(GOT_I_SEEN, BUSY, SEEN_WORD, BUSY, FREE),
  LISTENING(BUSY, SEND_RNR_FINAL),
  ROW(ENQUIRE, WHEN(P, 0), BUSY, "7.9.2 BUSY, INITIATE_P/F_CYCLE & P_FLAG=0", SEND_RNR_POLL),
  ROW(P_TIMER, TRY, AWAIT_BUSY, "7.9.2 BUSY, P_TIMER_EXPIRED & RETRY_COUNT<N2", COUNT_RETRY, SEND_RNR_POLL),
  ROW(ACK_TIMER, WHEN(P | N2, N2), AWAIT_BUSY, "7.9.2 BUSY, ACK_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_RNR_POLL),
  ROW(BUSY_TIMER, WHEN(P | N2, N2), AWAIT_BUSY, "7.9.2 BUSY, BUSY_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_RNR_POLL),
  ROW(REJ_TIMER, WHEN(P | N2, N2), AWAIT_BUSY, "7.9.2 BUSY, REJ_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_RNR_POLL, DATA_LOST),
  ROW(REJ_TIMER, WHEN(P | N2, P | N2), BUSY, "7.9.2 BUSY, REJ_TIMER_EXPIRED & P_FLAG=1 & RETRY_COUNT<N2", DATA_LOST),
  END,
};

static const row reject[] = {
  ROW(DATA_REQUEST, WHEN(HELD, 0), REJECT, "7.9.2 REJECT, DATA_REQUEST & REMOTE_BUSY=0", SEND_I, START_ACK_IF_IDLE),
  ROW(GOT_I, QUIET, NORMAL, "7.9.2 REJECT, RECEIVE_I(X=0)", COUNT_VR, TELL_DATA, UPDATE_NR, ACKNOWLEDGE, STOP_REJ),
  ROW(GOT_I, POLL, NORMAL, "7.9.2 REJECT, RECEIVE_I_CMD(P=1)", COUNT_VR, TELL_DATA, UPDATE_NR, SEND_RR_FINAL, STOP_REJ),
  ROW(GOT_I, ANSWER, NORMAL, "7.9.2 REJECT, RECEIVE_I_RSP(F=1)", COUNT_VR, TELL_DATA, STOP_P, UPDATE_NR, ACKNOWLEDGE, FREE, STOP_REJ),
  PASSED(GOT_I_GAP, REJECT, GAP_WORD, SEND_RR_FINAL),
  PASSED_ANSWER(GOT_I_GAP, REJECT, GAP_WORD, REJECT, FREE),
  PASSED(GOT_I_SEEN, REJECT, SEEN_WORD, SEND_RR_FINAL),
  PASSED_ANSWER(GOT_I_SEEN, REJECT, SEEN_WORD, REJECT, FREE),
  LISTENING(REJECT, SEND_RR_FINAL),
  ROW(BUSY_DETECTED, ALWAYS, BUSY, "7.9.2 REJECT, LOCAL_BUSY_DETECTED", SEND_RNR, DATA_REJECTING),
  ROW(REJ_TIMER, WHEN(P | N2, N2), REJECT, "7.9.2 REJECT, REJ_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_REJ_POLL, START_REJ),
  ROW(ENQUIRE, WHEN(P, 0), REJECT, "7.9.2 REJECT, INITIATE_P/F_CYCLE & P_FLAG=0", SEND_RR_POLL),
  ROW(P_TIMER, TRY, AWAIT_REJECT, "7.9.2 REJECT, P_TIMER_EXPIRED & RETRY_COUNT<N2", COUNT_RETRY, SEND_RR_POLL, START_REJ),
  ROW(ACK_TIMER, WHEN(P | N2, N2), AWAIT_REJECT, "7.9.2 REJECT, ACK_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_RR_POLL, START_REJ),
  ROW(BUSY_TIMER, WHEN(P | N2, N2), AWAIT_REJECT, "7.9.2 REJECT, BUSY_TIMER_EXPIRED & P_FLAG=0 & RETRY_COUNT<N2", COUNT_RETRY, SEND_RR_POLL, START_REJ),
  END,
};

static const row await[] = {
  ROW(GOT_I, QUIET, AWAIT, "7.9.2 AWAIT, RECEIVE_I(X=0)", COUNT_VR, TELL_DATA, UPDATE_NR, ACKNOWLEDGE),
  ROW(GOT_I, POLL, AWAIT, "7.9.2 AWAIT, RECEIVE_I_CMD(P=1)", COUNT_VR, TELL_DATA, UPDATE_NR, SEND_RR_FINAL),
  ROW(GOT_I, ANSWER, NORMAL, "7.9.2 AWAIT, RECEIVE_I_RSP(F=1)", COUNT_VR, TELL_DATA, STOP_P, UPDATE_NR, BACK_TO_NR, ACKNOWLEDGE, FREE),
  ROW(GOT_I_GAP, QUIET, AWAIT_REJECT, "7.9.2 AWAIT, " GAP_WORD "(X=0)", SEND_REJ, UPDATE_NR, START_REJ),
  ROW(GOT_I_GAP, POLL, AWAIT_REJECT, "7.9.2 AWAIT, " GAP_WORD "_CMD(P=1)", SEND_REJ_FINAL, UPDATE_NR, START_REJ),
  ROW(GOT_I_GAP, ANSWER, REJECT, "7.9.2 AWAIT, " GAP_WORD "_RSP(F=1)", SEND_REJ, STOP_P, UPDATE_NR, BACK_TO_NR, START_REJ, FREE),
  PASSED(GOT_I_SEEN, AWAIT, SEEN_WORD, SEND_RR_FINAL),
  PASSED_ANSWER(GOT_I_SEEN, AWAIT, SEEN_WORD, NORMAL, BACK_TO_NR, FREE),
  AWAITING(AWAIT, SEND_RR_FINAL, NORMAL),
  ROW(BUSY_DETECTED, ALWAYS, AWAIT_BUSY, "7.9.2 AWAIT, LOCAL_BUSY_DETECTED", SEND_RNR, DATA_NONE),
  ROW(P_TIMER, TRY, AWAIT, "7.9.2 AWAIT, P_TIMER_EXPIRED & RETRY_COUNT<N2", COUNT_RETRY, SEND_RR_POLL),
  END,
};

static const row await_busy[] = {
  ROW(BUSY_CLEARED, WHEN(D1 | D2, 0), AWAIT, "7.9.2 AWAIT_BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=0", SEND_RR),
  ROW(BUSY_CLEARED, WHEN(D1, D1), AWAIT_REJECT, "7.9.2 AWAIT_BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=1", SEND_REJ, START_REJ),
  ROW(BUSY_CLEARED, WHEN(D2, D2), AWAIT_REJECT, "7.9.2 AWAIT_BUSY, LOCAL_BUSY_CLEARED & DATA_FLAG=2", SEND_RR),
#define AWAIT_BUSY_I(event, word)                                                                                      \
  ROW(event, QUIET, AWAIT_BUSY, "7.9.2 AWAIT_BUSY, " word "(X=0)", SEND_RNR, UPDATE_NR, DATA_LOST_IF_NONE),             \
  ROW(event, POLL, AWAIT_BUSY, "7.9.2 AWAIT_BUSY, " word "_CMD(P=1)", SEND_RNR_FINAL, UPDATE_NR, DATA_LOST_IF_NONE),    \
  ROW(event, ANSWER, BUSY, "7.9.2 AWAIT_BUSY, " word "_RSP(F=1)", SEND_RNR, STOP_P, UPDATE_NR, BACK_TO_NR,              \
      DATA_LOST_IF_NONE, FREE)
  AWAIT_BUSY_I(GOT_I, I_WORD),
  AWAIT_BUSY_I(GOT_I_GAP, GAP_WORD),
  PASSED(GOT_I_SEEN, AWAIT_BUSY, SEEN_WORD, SEND_RNR_FINAL),
  PASSED_ANSWER(GOT_I_SEEN, AWAIT_BUSY, SEEN_WORD, BUSY, BACK_TO_NR, FREE),
  AWAITING(AWAIT_BUSY, SEND_RNR_FINAL, BUSY),
  ROW(P_TIMER, TRY, AWAIT_BUSY, "7.9.2 AWAIT_BUSY, P_TIMER_EXPIRED & RETRY_COUNT<N2", COUNT_RETRY, SEND_RNR_POLL),
  ROW(REJ_TIMER, ALWAYS, AWAIT_BUSY, "not in 7.9.2: a REJ that was sent before is lost, so ask again when not busy", DATA_LOST),
  END,
};

static const row await_reject[] = {
  ROW(GOT_I, QUIET, AWAIT, "7.9.2 AWAIT_REJECT, RECEIVE_I(X=0)", COUNT_VR, TELL_DATA, UPDATE_NR, ACKNOWLEDGE, STOP_REJ),
  ROW(GOT_I, POLL, AWAIT, "7.9.2 AWAIT_REJECT, RECEIVE_I_CMD(P=1)", COUNT_VR, TELL_DATA, UPDATE_NR, SEND_RR_FINAL, STOP_REJ),
  ROW(GOT_I, ANSWER, NORMAL, "7.9.2 AWAIT_REJECT, RECEIVE_I_RSP(F=1)", COUNT_VR, TELL_DATA, STOP_P, UPDATE_NR, BACK_TO_NR, ACKNOWLEDGE, FREE, STOP_REJ),
  PASSED(GOT_I_GAP, AWAIT_REJECT, GAP_WORD, SEND_RR_FINAL),
  PASSED_ANSWER(GOT_I_GAP, AWAIT_REJECT, GAP_WORD, REJECT, BACK_TO_NR, FREE),
  PASSED(GOT_I_SEEN, AWAIT_REJECT, SEEN_WORD, SEND_RR_FINAL),
  PASSED_ANSWER(GOT_I_SEEN, AWAIT_REJECT, SEEN_WORD, REJECT, BACK_TO_NR, FREE),
  AWAITING(AWAIT_REJECT, SEND_RR_FINAL, REJECT),
  ROW(BUSY_DETECTED, ALWAYS, AWAIT_BUSY, "7.9.2 AWAIT_REJECT, LOCAL_BUSY_DETECTED", SEND_RNR, DATA_REJECTING),
  ROW(P_TIMER, TRY, AWAIT_REJECT, "7.9.2 AWAIT_REJECT, P_TIMER_EXPIRED & RETRY_COUNT<N2", COUNT_RETRY, SEND_REJ_POLL, START_REJ),
  END,
};

/* What all six states of data transfer do with whatever their own rows leave. */
static const row transfer[] = {
  ROW(DISCONNECT_REQUEST, ALWAYS, D_CONN, "7.9.2 data transfer, DISCONNECT_REQUEST", STOP_ALL, SEND_DISC, START_ACK, CLEAR_RETRY),
  ROW(RESET_REQUEST, ALWAYS, RESET, "7.9.2 data transfer, RESET_REQUEST", STOP_ALL, SEND_SABME, START_ACK, CLEAR_RETRY, CLEAR_S),
  ROW(GOT_SABME, ALWAYS, RESET_CHECK, "7.9.2 data transfer, RECEIVE_SABME_CMD", KEEP_F, STOP_ALL, TELL_RESET),
  ROW(GOT_DISC, ALWAYS, ADM, "7.9.2 data transfer, RECEIVE_DISC_CMD", SEND_UA, STOP_ALL, TELL_DISCONNECTED),
  ROW(GOT_FRMR, ALWAYS, RESET_WAIT, "7.9.2 data transfer, RECEIVE_FRMR_RSP", STOP_ALL, CLEAR_S, TELL_RESET_NEEDED),
  ROW(GOT_DM, ALWAYS, ADM, "7.9.2 data transfer, RECEIVE_DM_RSP", STOP_ALL, TELL_DISCONNECTED),
#define WRONG(event, conditions, word)                                                                                 \
  ROW(event, conditions, ERROR, "7.9.2 data transfer, " word, SEND_FRMR, STOP_ALL, START_ACK, CLEAR_RETRY)
  WRONG(GOT_UA, ALWAYS, "RECEIVE_UA_RSP"),
  WRONG(GOT_BAD, ALWAYS, "RECEIVE_BAD_PDU"),
  WRONG(GOT_BAD_NR, ALWAYS, "RECEIVE_XXX_WITH_INVALID_N(R)"),
  WRONG(GOT_BAD_NS, ALWAYS, "RECEIVE_I_WITH_INVALID_N(S)"),
  WRONG(GOT_I, UNASKED, "RECEIVE_XXX_RSP(F=1) & P_FLAG=0"),
  WRONG(GOT_I_GAP, UNASKED, "RECEIVE_XXX_RSP(F=1) & P_FLAG=0"),
  WRONG(GOT_I_SEEN, UNASKED, "RECEIVE_XXX_RSP(F=1) & P_FLAG=0"),
  WRONG(GOT_RR, UNASKED, "RECEIVE_XXX_RSP(F=1) & P_FLAG=0"),
  WRONG(GOT_RNR, UNASKED, "RECEIVE_XXX_RSP(F=1) & P_FLAG=0"),
  WRONG(GOT_REJ, UNASKED, "RECEIVE_XXX_RSP(F=1) & P_FLAG=0"),
#define TIRED(event) ROW(event, GIVE_UP, RESET_WAIT, "7.9.2 data transfer, timer expired & RETRY_COUNT>=N2", STOP_ALL, CLEAR_S, TELL_RESET_NEEDED)
  TIRED(ACK_TIMER),
  TIRED(P_TIMER),
  TIRED(REJ_TIMER),
  TIRED(BUSY_TIMER),
  END,
};
/* clang-format on */

static const row *const states[VV_LLC_STATES] = {
    [VV_LLC_ADM] = adm,
    [VV_LLC_CONN] = conn,
    [VV_LLC_RESET_WAIT] = reset_wait,
    [VV_LLC_RESET_CHECK] = reset_check,
    [VV_LLC_SETUP] = setup,
    [VV_LLC_RESET] = reset,
    [VV_LLC_D_CONN] = d_conn,
    [VV_LLC_ERROR] = error,
    [VV_LLC_NORMAL] = normal,
    [VV_LLC_BUSY] = busy,
    [VV_LLC_REJECT] = reject,
    [VV_LLC_AWAIT] = await,
    [VV_LLC_AWAIT_BUSY] = await_busy,
    [VV_LLC_AWAIT_REJECT] = await_reject,
};

static const row *find(const row *rows, enum vv_llc_event event, unsigned conditions) {
  for (; rows->event != VV_LLC_EVENTS; rows++) {
    if (rows->event == event && (conditions & rows->when >> 8) == (rows->when & NEEDED)) return rows;
  }
  return NULL;
}

const struct vv_llc_row *vv_llc_row(enum vv_llc_state state, enum vv_llc_event event, unsigned conditions) {
  const row *found = find(states[state], event, conditions);
  return found == NULL && vv_llc_is_up(state) ? find(transfer, event, conditions) : found;
}
