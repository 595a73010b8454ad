/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection component of type 2 as a table (ISO/IEC 8802-2:1998, clause
 * 7.9.2): 14 states, the events, and for each pair what is done. It is data:
 * vv_llc_link carries it out.
 *
 * A row holds for one state and one event, or for all six states of data
 * transfer, under conditions. Of the rows of a pair the first whose conditions
 * hold is taken. A pair without a row that holds changes nothing and answers
 * nothing: that is how the standard treats what it does not list.
 *
 * Where the standard leaves a choice, it is made here:
 *   - RNR and REJ are sent with P or F = 0 (the X = 0 of the standard), so that
 *     the P bit stays free for T1; only a busy condition that ends, and whatever
 *     is repeated, asks with P = 1.
 *   - A busy receiver discards the I PDUs that come, for it has no place.
 *   - I PDUs are sent again by setting V(S) back; sending is one event, whether
 *     it is the first time or not.
 *   - A peer that answers an enquiry with RNR is alive: RETRY_COUNT begins anew.
 *   - Acknowledgements of I PDUs without P wait for an I PDU that carries them.
 */
#ifndef VV_CORE_LLC_TABLE_H
#define VV_CORE_LLC_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum vv_llc_state {
  VV_LLC_ADM,         /* disconnected */
  VV_LLC_CONN,        /* a SABME came; the user decides */
  VV_LLC_RESET_WAIT,  /* the link must be reset; the user decides */
  VV_LLC_RESET_CHECK, /* a SABME came on a link that was up; the user decides */
  VV_LLC_SETUP,       /* SABME sent, to connect */
  VV_LLC_RESET,       /* SABME sent, to reset */
  VV_LLC_D_CONN,      /* DISC sent */
  VV_LLC_ERROR,       /* FRMR sent */
  VV_LLC_NORMAL,      /* data transfer: this and the next five */
  VV_LLC_BUSY,        /* we take no I PDUs */
  VV_LLC_REJECT,      /* REJ sent; what is missing has not come yet */
  VV_LLC_AWAIT,       /* P = 1 sent after a timer; until the answer no I PDU is sent */
  VV_LLC_AWAIT_BUSY,
  VV_LLC_AWAIT_REJECT,
  VV_LLC_STATES,
};

enum vv_llc_event {
  /* of the user */
  VV_LLC_CONNECT_REQUEST,
  VV_LLC_CONNECT_RESPONSE,
  VV_LLC_RESET_REQUEST,
  VV_LLC_RESET_RESPONSE,
  VV_LLC_DISCONNECT_REQUEST,
  VV_LLC_DATA_REQUEST, /* an I PDU may be sent: there is one, and room in the window */
  VV_LLC_BUSY_DETECTED,
  VV_LLC_BUSY_CLEARED,
  VV_LLC_ENQUIRE, /* is the peer there? */
  /* of the timers */
  VV_LLC_ACK_TIMER,  /* T1 */
  VV_LLC_P_TIMER,    /* Tpf */
  VV_LLC_REJ_TIMER,  /* Trej */
  VV_LLC_BUSY_TIMER, /* Tbusy */
  /* PDUs */
  VV_LLC_GOT_SABME,
  VV_LLC_GOT_DISC,
  VV_LLC_GOT_UA,
  VV_LLC_GOT_DM,
  VV_LLC_GOT_FRMR,
  VV_LLC_GOT_I,      /* N(S) = V(R) */
  VV_LLC_GOT_I_GAP,  /* N(S) beyond V(R), in the receive window */
  VV_LLC_GOT_I_SEEN, /* N(S) before V(R): a duplicate */
  VV_LLC_GOT_RR,
  VV_LLC_GOT_RNR,
  VV_LLC_GOT_REJ,
  VV_LLC_GOT_BAD_NR, /* I, RR, RNR or REJ with an N(R) that acknowledges what was never sent */
  VV_LLC_GOT_BAD_NS, /* I outside the receive window */
  VV_LLC_GOT_BAD,    /* unknown, information where none may be, or too much of it */
  VV_LLC_EVENTS,
};

/* What a row asks of the PDU and the variables of the link. */
enum {
  VV_LLC_IS_RESPONSE = 1 << 0,
  VV_LLC_IS_PF = 1 << 1,        /* P of the command, F of the response */
  VV_LLC_IS_POLLING = 1 << 2,   /* P_FLAG = 1: a command with P = 1 is unanswered */
  VV_LLC_IS_S = 1 << 3,         /* S_FLAG = 1: a SABME came while ours is unanswered */
  VV_LLC_IS_LOST = 1 << 4,      /* DATA_FLAG = 1: I PDUs were discarded while busy */
  VV_LLC_IS_REJECTING = 1 << 5, /* DATA_FLAG = 2: busy since a REJ is unanswered */
  VV_LLC_IS_TRYING = 1 << 6,    /* RETRY_COUNT < N2 */
  VV_LLC_IS_HELD = 1 << 7,      /* REMOTE_BUSY = 1 */
};

/* What is done, in the order of a row. "F = P" copies the bit that came. */
enum vv_llc_action {
  VV_LLC_NOTHING, /* ends the list */
  /* PDUs */
  VV_LLC_SEND_SABME,      /* P = 1; P_FLAG := 1 */
  VV_LLC_SEND_DISC,       /* P = 1; P_FLAG := 1 */
  VV_LLC_SEND_UA,         /* F = P */
  VV_LLC_SEND_UA_KEPT,    /* F = F_FLAG */
  VV_LLC_SEND_DM,         /* F = P */
  VV_LLC_SEND_DM_KEPT,    /* F = F_FLAG */
  VV_LLC_SEND_FRMR,       /* F = P of a command, 0 after a response; about the PDU that came */
  VV_LLC_SEND_FRMR_AGAIN, /* the last one; F = P, 0 without a PDU */
  VV_LLC_SEND_I,          /* the I PDU with N(S) = V(S); V(S) := V(S) + 1 */
  VV_LLC_SEND_RR,         /* response, F = 0 */
  VV_LLC_SEND_RR_FINAL,   /* response, F = 1 */
  VV_LLC_SEND_RR_POLL,    /* command, P = 1; starts Tpf, P_FLAG := 1 */
  VV_LLC_SEND_RNR,
  VV_LLC_SEND_RNR_FINAL,
  VV_LLC_SEND_RNR_POLL,
  VV_LLC_SEND_REJ,
  VV_LLC_SEND_REJ_FINAL,
  VV_LLC_SEND_REJ_POLL,
  VV_LLC_ACKNOWLEDGE, /* by the next I PDU, or RR, F = 0, soon */
  /* timers */
  VV_LLC_START_ACK,
  VV_LLC_START_ACK_IF_IDLE,
  VV_LLC_START_REJ,
  VV_LLC_STOP_ACK,
  VV_LLC_STOP_P, /* P_FLAG := 0 */
  VV_LLC_STOP_REJ,
  VV_LLC_STOP_ALL,
  /* variables */
  VV_LLC_CLEAR_NUMBERS, /* V(S) := V(R) := last N(R) received := 0 */
  VV_LLC_CLEAR_RETRY,
  VV_LLC_COUNT_RETRY,
  VV_LLC_CLEAR_S,
  VV_LLC_SET_S,
  VV_LLC_KEEP_F,            /* F_FLAG := P */
  VV_LLC_DATA_NONE,         /* DATA_FLAG := 0 */
  VV_LLC_DATA_LOST,         /* := 1 */
  VV_LLC_DATA_LOST_IF_NONE, /* := 1 when it is 0 */
  VV_LLC_DATA_REJECTING,    /* := 2 */
  VV_LLC_COUNT_VR,          /* V(R) := V(R) + 1 */
  VV_LLC_UPDATE_NR,         /* what N(R) acknowledges is done: RETRY_COUNT := 0, T1 begins anew or stops */
  VV_LLC_BACK_TO_NR,        /* V(S) := N(R) */
  VV_LLC_HOLD,              /* REMOTE_BUSY := 1; starts Tbusy */
  VV_LLC_FREE,              /* REMOTE_BUSY := 0; stops Tbusy */
  /* told to the user */
  VV_LLC_TELL_CONNECT,      /* CONNECT indication */
  VV_LLC_TELL_CONNECTED,    /* CONNECT confirm */
  VV_LLC_TELL_UP,           /* not in 7.9.2: data transfer begins, by our answer */
  VV_LLC_TELL_RESET,        /* RESET indication, remote: the user must answer */
  VV_LLC_TELL_RESET_NEEDED, /* RESET indication, local; or FRMR received: the user must reset or disconnect */
  VV_LLC_TELL_WAS_RESET,    /* RESET confirm */
  VV_LLC_TELL_DISCONNECTED, /* DISCONNECT indication */
  VV_LLC_TELL_CLOSED,       /* the end of a DISCONNECT request */
  VV_LLC_TELL_DATA,
  VV_LLC_ACTIONS,
};

#define VV_LLC_ROW_ACTIONS 8

struct vv_llc_row {
  uint8_t event; /* enum vv_llc_event */
  uint16_t when; /* which conditions matter (high byte), and which of those must hold: the others must not */
  uint8_t next;  /* enum vv_llc_state */
  uint8_t actions[VV_LLC_ROW_ACTIONS];
  const char *clause; /* of ISO/IEC 8802-2:1998, and what the standard calls the event there */
};

/* The row that holds for this state, event and conditions (VV_LLC_IS_*), NULL when none does. */
const struct vv_llc_row *vv_llc_row(enum vv_llc_state state, enum vv_llc_event event, unsigned conditions);

/* True in the six states of data transfer. */
static inline bool vv_llc_is_up(enum vv_llc_state state) {
  return state >= VV_LLC_NORMAL;
}

#endif
