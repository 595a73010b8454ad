/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection: the variables of ISO/IEC 8802-2:1998, clause 7, and what
 * carries the rows of the table out. A part of a station
 * (core/llc/station.h), which gives it frames and time, takes its frames, and
 * plays the user that the standard asks what to do (core/llc/greeting.h).
 */
#ifndef VV_CORE_LLC_LINK_H
#define VV_CORE_LLC_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/llc/address.h"
#include "core/llc/backlog.h"
#include "core/llc/early.h"
#include "core/llc/pace.h"
#include "core/llc/repeat.h"
#include "core/llc/table.h"
#include "core/llc/window.h"
#include "core/wire/envelope.h"
#include "core/wire/lpdu.h"
#include "core/wire/segment.h"

#define VV_LLC_LINK_HEAD_BYTES (VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES_MAX + VV_SEGMENT_BYTES_MAX)
#define VV_LLC_LINK_OWED_MAX   16 /* control PDUs that wait to be sent */
#define VV_LLC_LINK_LATE_MAX   32 /* an N(R) up to so far behind the last one is late, beyond it is invalid */

/* Why a link ended. */
enum vv_llc_close {
  VV_LLC_CLOSE_ASKED,   /* by us */
  VV_LLC_CLOSE_PEER,    /* by the peer: DISC */
  VV_LLC_CLOSE_REFUSED, /* the peer does not accept us, or is of another job */
  VV_LLC_CLOSE_GONE,    /* the peer knows of no such connection: it ended, or another process has its place */
  VV_LLC_CLOSE_SILENT,  /* no answer after all tries */
  VV_LLC_CLOSE_STUCK,   /* the peer answers, but what is sent does not arrive: frames too long for the way, perhaps */
  VV_LLC_CLOSE_LOST,    /* data were lost in a way that type 2 cannot mend */
};

enum vv_llc_link_timer {
  VV_LLC_TIMER_ACK,      /* T1 */
  VV_LLC_TIMER_P,        /* Tpf */
  VV_LLC_TIMER_REJ,      /* Trej */
  VV_LLC_TIMER_BUSY,     /* Tbusy */
  VV_LLC_TIMER_DELAY,    /* an acknowledgement that waits */
  VV_LLC_TIMER_IDLE,     /* to ask whether a silent peer is there */
  VV_LLC_TIMER_GREETING, /* of the agreement before a SABME */
  VV_LLC_TIMERS,
};

/* What a link has to tell; taken in this order. */
enum {
  VV_LLC_NEWS_ASKED = 1 << 0,
  VV_LLC_NEWS_CONNECTED = 1 << 1,
  VV_LLC_NEWS_RESET = 1 << 2,
  VV_LLC_NEWS_SENT = 1 << 3, /* messages that are done: taken from the backlog */
  VV_LLC_NEWS_CLOSED = 1 << 4,
  VV_LLC_NEWS_FIRST = VV_LLC_NEWS_ASKED | VV_LLC_NEWS_CONNECTED | VV_LLC_NEWS_RESET, /* before data */
};

/* The agreement before a SABME (core/llc/greeting.h). */
enum vv_llc_greeting {
  VV_LLC_GREETING_NONE,
  VV_LLC_GREETING_CALLING, /* TEST and XID sent, not both answered */
  VV_LLC_GREETING_WAITING, /* answered; late PDUs must die out before the SABME */
  VV_LLC_GREETING_CALLED,  /* the peer's came: its SABME will */
};

/* What the standard's user was asked. */
enum vv_llc_question {
  VV_LLC_QUESTION_NONE,
  VV_LLC_QUESTION_CONNECT,      /* may the peer connect? */
  VV_LLC_QUESTION_RESET,        /* may the peer reset? */
  VV_LLC_QUESTION_RESET_NEEDED, /* reset, or disconnect? */
};

/* A control PDU that waits; N(R) is put in when it goes. */
struct vv_llc_owed {
  uint8_t kind; /* enum vv_lpdu_kind */
  bool response;
  bool pf;
};

struct vv_llc_link {
  struct vv_llc_address peer;
  bool has_peer; /* ever since it first had one */
  bool used;
  bool plain;
  enum vv_llc_state state;

  /* the variables of clause 7 */
  uint8_t vs, vr;
  uint8_t va;                 /* last N(R) received */
  uint8_t high;               /* V(S) of the furthest I PDU sent; V(S) falls behind it when I PDUs are sent again */
  uint8_t va_round, vr_round; /* how often va and vr have begun anew at 0 in this epoch */
  bool p_flag, f_flag, s_flag, remote_busy;
  uint8_t data_flag;
  uint32_t retry_count;
  uint32_t n2, tries;
  struct vv_lpdu_frmr frmr; /* the last one sent */
  enum vv_llc_question question;

  /* sending */
  struct vv_llc_backlog backlog;
  uint32_t base; /* number of the I PDU with N(S) = va */
  struct vv_llc_repeat repeat;
  bool advanced; /* the last N(R) acknowledged something */
  struct vv_llc_window window;
  struct vv_llc_pace pace;
  struct vv_llc_owed owed[VV_LLC_LINK_OWED_MAX];
  uint8_t owed_first, owed_count;
  bool ack_due;       /* an acknowledgement goes now, whatever carries it */
  uint8_t acks_owed;  /* of so many I PDUs */
  bool timing;        /* the round trip of `timed` is being measured */
  uint8_t timed;      /* acknowledged by an N(R) beyond it */
  uint64_t timed_ns;  /* when it was sent */
  uint64_t polled_ns; /* when P = 1 was sent */

  /* receiving */
  uint32_t expected; /* number of the next I PDU of the message stream */
  uint32_t number;   /* of the I PDU with N(S) = V(R) */
  bool knows_number;
  bool heard;                        /* an I or S PDU came since the numbers were cleared */
  uint64_t heard_ns;                 /* when the last one came */
  uint32_t early;                    /* the chain of I PDUs that came too early */
  uint32_t message_bytes, got_bytes; /* of the message that is coming in */
  uint32_t credit;
  uint8_t receive_window;

  /* set-up; the first two are the pair of core/llc/greeting.h */
  uint32_t incarnation;      /* of this link: no other that this station opens has it; never 0 */
  uint32_t peer_incarnation; /* of the link at the peer's end; 0: we have not heard of one, or the link is plain */
  bool wanted;               /* our user asked for it, or let it in; else the peer may be anybody */
  bool active;               /* we began */
  bool was_up;
  bool talked; /* up with this peer, on this link or one before it: by us, or by what the peer says */
  bool frozen; /* between greeting and SABME nothing else is sent */
  enum vv_llc_greeting greeting;
  bool answered, identified; /* the two answers: TEST and XID */
  uint8_t epoch, next_epoch;
  uint32_t greetings; /* tries */

  uint64_t timers[VV_LLC_TIMERS];
  uint64_t heap_ns;     /* what the station's heap has: no later than the earliest timer */
  bool queued, telling; /* in the station's rings */
  uint32_t fruitless;   /* times in a row that we went back to the same I PDU */
  unsigned tell;
  enum vv_llc_close why;
};

struct vv_llc_station;

/* What happens to a link: an event, its PDU if it has one, and the time. */
struct vv_llc_link_cause {
  struct vv_llc_station *station;
  uint64_t now_ns;
  enum vv_llc_event event;
  const struct vv_lpdu *pdu; /* NULL: of the user or a timer */
  const uint8_t *data;       /* of an I PDU, without marks */
  size_t data_bytes;
  struct vv_llc_station_frame *frame; /* of DATA_REQUEST: where the I PDU is put */
};

/* A link to that peer, in ADM. What is known of an earlier link to the same peer in this place stays known. */
void vv_llc_link_open(struct vv_llc_station *station, struct vv_llc_link *link, const struct vv_llc_address *peer);

/* Carries out the row for that event, if there is one, and the answers to what it asks. */
void vv_llc_link_do(struct vv_llc_link *link, const struct vv_llc_link_cause *cause);

/* The same for an event of the user. */
void vv_llc_link_ask(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns,
                     enum vv_llc_event event);

/* Whatever timer is due. */
void vv_llc_link_expire(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns);

/* To be called after anything happened to a link: busy or not, timers, queues. */
void vv_llc_link_settle(struct vv_llc_station *station, struct vv_llc_link *link, uint64_t now_ns);

/* Ends the link at once, whatever its state. */
void vv_llc_link_close(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_llc_close why);

/* Lets a control PDU wait for its turn. */
void vv_llc_link_owe(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_lpdu_kind kind, bool response,
                     bool pf);

/* Stops data transfer until the numbers are cleared. */
void vv_llc_link_freeze(struct vv_llc_link *link);

/* The timer runs from now on. */
void vv_llc_link_start(struct vv_llc_link *link, enum vv_llc_link_timer timer, uint64_t at_ns);

/*
 * True when silence does not end the link: a peer that was there, and that our user knows, is late, not dead. A link
 * that our user neither asked for nor let in may be a stranger's, who takes a place for as long as it lasts.
 */
bool vv_llc_link_is_patient(const struct vv_llc_link *link);

/* True when the peer called and has gone no further: the user has never heard of the link. */
bool vv_llc_link_is_unheard(const struct vv_llc_link *link);

/* True when an I PDU may be sent: there is one, and room in the windows. */
bool vv_llc_link_can_send(const struct vv_llc_link *link);

/* True while we take no I PDUs. */
static inline bool vv_llc_link_is_busy(const struct vv_llc_link *link) {
  return link->state == VV_LLC_BUSY || link->state == VV_LLC_AWAIT_BUSY;
}

/* From one number to another, modulo 128. */
static inline uint8_t vv_llc_link_ahead(uint8_t to, uint8_t from) {
  return (uint8_t)(to - from) & (VV_LPDU_MODULUS - 1);
}

#endif
