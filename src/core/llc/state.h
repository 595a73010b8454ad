/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A station and its links: everything that they know. All files of this room work on it, in floors: link.h its
 * variables, outbound.h frames made of them, machine.h what a row of the table does, greeting.h and inbound.h what
 * happens to a link, turn.h what is due after that, and on top the public calls (station.h).
 */
#ifndef VV_CORE_LLC_STATE_H
#define VV_CORE_LLC_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/heap.h"
#include "core/base/ring.h"
#include "core/base/time.h"
#include "core/llc/address.h"
#include "core/llc/backlog.h"
#include "core/llc/early.h"
#include "core/llc/lookup.h"
#include "core/llc/pace.h"
#include "core/llc/repeat.h"
#include "core/llc/table.h"
#include "core/llc/unit.h"
#include "core/llc/window.h"
#include "core/wire/envelope.h"
#include "core/wire/lpdu.h"
#include "core/wire/segment.h"

#define VV_LLC_STATION_PDU_BYTES_MIN 64 /* the shortest limit of a PDU */
#define VV_LLC_STATION_PDU_BYTES_MAX VV_ENVELOPE_PDU_BYTES_MAX
#define VV_LLC_MESSAGE_BYTES_MAX     UINT32_MAX
#define VV_LLC_CREDIT_UNLIMITED      UINT32_MAX
#define VV_LLC_NO_LINK               UINT32_MAX
#define VV_LLC_NO_UNIT               UINT32_MAX

#define VV_LLC_LINK_HEAD_BYTES (VV_ENVELOPE_BYTES + VV_LPDU_HEADER_BYTES_MAX + VV_SEGMENT_BYTES_MAX)
#define VV_LLC_LINK_OWED_MAX   16 /* control PDUs that wait to be sent */
#define VV_LLC_LATE_WAYS       3  /* a frame, what it leads to, and the answer, each as late as a frame can be */
/* I PDUs under way to all peers together: one whole window. Beyond it each link has but its own two. */
#define VV_LLC_STATION_FLIGHT_MAX (VV_LPDU_MODULUS - 1)
#define VV_LLC_LINK_FLIGHT_MIN    2
#define VV_LLC_LINK_LATE_MAX      32 /* an N(R) up to so far behind the last one is late, beyond it is invalid */

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
  uint8_t enquiry; /* core/wire/segment.h */
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
  uint8_t late_answers; /* plain: so many with F = 1 may still come, of commands with P = 1 that were sent again */
  uint8_t data_flag;
  uint32_t retry_count;
  uint32_t n2, tries;
  struct vv_lpdu_frmr frmr; /* the last one sent */
  enum vv_llc_question question;

  /* sending */
  struct vv_llc_backlog backlog;
  uint32_t base; /* number of the I PDU with N(S) = va */
  struct vv_llc_repeat repeat;
  struct vv_llc_window window;
  struct vv_llc_pace pace;
  struct vv_llc_owed owed[VV_LLC_LINK_OWED_MAX];
  uint8_t owed_first, owed_count;
  bool ack_due;      /* an acknowledgement goes now, whatever carries it */
  uint8_t acks_owed; /* of so many I PDUs */
  bool timing;       /* the round trip of `timed` is being measured */
  uint8_t timed;     /* acknowledged by an N(R) beyond it */
  vv_ns timed_ns;    /* when it was sent */
  vv_ns polled_ns;   /* when P = 1 was sent, */
  uint8_t polled;    /* and with which enquiry; 0: in an I PDU */
  uint8_t enquiry;   /* the last one, 1 .. 255: a new one when an I PDU went since */
  bool went;         /* an I PDU, since the last enquiry */

  /* receiving */
  uint32_t expected; /* number of the next I PDU of the message stream */
  uint32_t number;   /* of the I PDU with N(S) = V(R) */
  bool knows_number;
  bool heard;                        /* an I or S PDU came since the numbers were cleared */
  vv_ns heard_ns;                    /* when the last one came */
  bool astray;                       /* since then one of another epoch did */
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

  vv_ns timers[VV_LLC_TIMERS];
  vv_ns due_ns;         /* no later than the earliest timer: exact when the station's heap has woken us */
  bool queued, telling; /* in the station's rings */
  uint32_t fruitless;   /* times in a row that we went back to the same I PDU, resets or not, */
  vv_ns fruitless_ns;   /* and when that began */
  unsigned tell;
  enum vv_llc_close why;
};

struct vv_llc_station;
struct vv_llc_station_frame;

/* What happens to a link: an event, its PDU if it has one, and the time. */
struct vv_llc_link_cause {
  struct vv_llc_station *station;
  vv_ns now_ns;
  enum vv_llc_event event;
  const struct vv_lpdu *pdu; /* NULL: of the user or a timer */
  const uint8_t *data;       /* of an I PDU, without marks */
  size_t data_bytes;
  uint8_t enquiry;                    /* of an S PDU with P = 1 */
  struct vv_llc_station_frame *frame; /* of DATA_REQUEST: where the I PDU is put */
};

/* Who may connect to us. */
enum vv_llc_listen {
  VV_LLC_LISTEN_REFUSE, /* nobody: answered with DM */
  VV_LLC_LISTEN_ACCEPT, /* everybody of our job (plain: everybody) */
  VV_LLC_LISTEN_ASK,    /* VV_LLC_STATION_ASKED, then vv_llc_station_accept or vv_llc_station_disconnect */
};

struct vv_llc_station_config {
  struct vv_llc_address self;
  uint32_t nonce;            /* of the job; stations with another do not connect */
  uint32_t incarnation;      /* of the first link: random. Each link that is opened gets another */
  bool plain;                /* no marks of ours in PDUs */
  enum vv_llc_listen listen; /* */
  uint32_t links;            /* peers, >= 1 */
  uint32_t messages; /* sends at a time, of all links together, from vv_llc_station_send to VV_LLC_STATION_SENT; >= 1 */
  uint32_t units;    /* UI, TEST and XID PDUs waiting to be sent at a time, >= 2; beyond that they are lost */
  uint32_t early;    /* I PDUs that are kept at a time, of all links together, behind one that is missing */
  uint32_t pdu_bytes_max; /* the MTU. More than 1500 needs jumbo frames with EtherType 0x8870 on every host */
  uint8_t window;         /* k: I PDUs sent without acknowledgement, 1 .. 127 */
  uint8_t receive_window; /* rw, told to peers by XID: 1 .. 127 */
  uint32_t credit;        /* I PDUs that a new link takes before vv_llc_station_credit gives more */
  vv_ns t1_ns_min;        /* T1 follows the measured round trip between these two */
  vv_ns t1_ns_max;        /* also the longest wait between two enquiries */
  vv_ns ack_ns;           /* an acknowledgement waits so long for an I PDU to carry it; < t1_ns_min */
  vv_ns idle_ns;          /* a peer that is silent for so long is asked whether it is there; 0: never */
  vv_ns late_ns;          /* frames are not overtaken by others sent so much later: resets wait for this */
  uint32_t tries;         /* of a set-up, reset or disconnect, before VV_LLC_CLOSE_SILENT; >= 1 */
  /*
   * Enquiries before a link is reset. 0: a link that was asked for (vv_llc_station_connect), or let in
   * (vv_llc_station_accept), waits for ever, for late is not dead; one that anybody made gets `tries`, and ends.
   */
  uint32_t n2;
};

enum vv_llc_station_happening {
  VV_LLC_STATION_ASKED,     /* the peer wants to connect (VV_LLC_LISTEN_ASK) */
  VV_LLC_STATION_CONNECTED, /* the link is up, whoever began */
  VV_LLC_STATION_DATA,      /* bytes of a message, in order, once */
  VV_LLC_STATION_SENT,      /* a message needs its bytes no more */
  VV_LLC_STATION_RESET,     /* plain: the link was reset, and data may be lost both ways */
  VV_LLC_STATION_CLOSED,    /* the link is no more; its number may be given to another from now on */
  VV_LLC_STATION_UNIT,      /* a UI PDU came */
  VV_LLC_STATION_ECHO,      /* an answer to vv_llc_station_test; of a group everybody's */
  VV_LLC_STATION_IDENTITY,  /* the answer to vv_llc_station_identify */
};

struct vv_llc_station_event {
  enum vv_llc_station_happening what;
  uint32_t link; /* VV_LLC_NO_LINK of the last three */
  struct vv_llc_address peer;
  const uint8_t *data;   /* DATA, UNIT, ECHO: inside the frame that came; valid until the next vv_llc_station_receive */
  size_t data_bytes;     /* */
  uint32_t offset_bytes; /* DATA: of these bytes in their message; plain: 0 */
  uint32_t message_bytes; /* DATA: of the whole message; plain: data_bytes */
  uint64_t handle;        /* SENT: the caller's */
  bool acknowledged;      /* SENT: by the peer's station; else it was given up, and may have arrived or not */
  enum vv_llc_close why;  /* CLOSED */
  uint8_t window;         /* IDENTITY: the peer's receive window */
};

/* A frame to be sent: the head, then the data. */
struct vv_llc_station_frame {
  uint8_t head[VV_LLC_LINK_HEAD_BYTES];
  size_t head_bytes;
  const uint8_t *data; /* of the caller's message, or of the station; valid until the next call of anything here */
  size_t data_bytes;
};

struct vv_llc_station_counts {
  uint64_t frames_in, frames_out;
  uint64_t foreign;   /* not for us, no LLC, too short, a length that lies, of another job */
  uint64_t stale;     /* I PDUs of an earlier epoch, other late PDUs that were ignored */
  uint64_t resent;    /* I PDUs sent again */
  uint64_t enquiries; /* P = 1 after a timer */
  uint64_t rejects;   /* REJ sent */
  uint64_t resets;    /* set-ups of a link that was up */
  uint64_t frmr_in, frmr_out;
  uint64_t overflows; /* UI, TEST, XID and control PDUs that had no room to wait: lost */
};

struct vv_llc_station {
  struct vv_llc_station_config config;
  struct vv_llc_link *links;
  uint32_t opened;             /* links so far */
  uint32_t flight;             /* I PDUs of all links that were sent, and are not acknowledged */
  struct vv_llc_lookup lookup; /* of links by peer, the ended ones too */
  struct vv_llc_message *messages;
  uint32_t free_message;  /* VV_LLC_NO_MESSAGE: none */
  struct vv_heap timers;  /* by link */
  struct vv_ring busy;    /* links with something to send */
  struct vv_ring telling; /* links with events */
  struct vv_llc_unit *units;
  uint8_t *unit_bytes;
  struct vv_ring unit_queue;
  struct vv_ring unit_free;
  struct vv_llc_early early;        /* I PDUs that came before one that is missing */
  uint32_t lent_unit;               /* the one whose bytes the last frame showed */
  uint32_t tests, identities;       /* asked for by the caller and not answered yet */
  bool tests_all;                   /* a group was asked: nobody knows how many will answer */
  struct vv_llc_station_event data; /* what the last frame brought */
  bool has_data;
  struct vv_llc_station_counts counts;
};

/* The timer runs from now on. */
static inline void vv_llc_link_start(struct vv_llc_link *link, enum vv_llc_link_timer timer, vv_ns at_ns) {
  link->timers[timer] = at_ns;
  if (at_ns < link->due_ns) link->due_ns = at_ns;
}

static inline void vv_llc_link_stop(struct vv_llc_link *link, enum vv_llc_link_timer timer) {
  link->timers[timer] = VV_NEVER;
}

/* What ends a wait that would be too short: no sooner can a late frame, what it leads to, and the answer have come. */
static inline vv_ns vv_llc_station_late_ns(const struct vv_llc_station *station) {
  return VV_LLC_LATE_WAYS * station->config.late_ns;
}

/* True while we take no I PDUs. */
static inline bool vv_llc_link_is_busy(const struct vv_llc_link *link) {
  return link->state == VV_LLC_BUSY || link->state == VV_LLC_AWAIT_BUSY;
}

/* From one number to another, modulo 128. */
static inline uint8_t vv_llc_link_ahead(uint8_t to, uint8_t from) {
  return (uint8_t)(to - from) & (VV_LPDU_MODULUS - 1);
}

#endif
