/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A station of IEEE 802.2 logical link control, class II (ISO/IEC 8802-2:1998):
 * one SAP of one MAC address, datagrams (type 1: UI, XID, TEST) and connections
 * (type 2) to any number of peers.
 *
 * It is driven from outside: frames and requests go in, with the time; frames
 * and events are taken out. Each call that takes `now_ns` takes a time that is
 * no earlier than that of the call before. Nothing is allocated, nothing waits.
 *
 *   whoever drives it:   frame came       -> vv_llc_station_receive, then every vv_llc_station_take
 *                        vv_llc_station_next_ns is due -> vv_llc_station_tick
 *                        then             -> vv_llc_station_next_frame, as long as the interface has room
 *
 * Frames are made when they are taken: what is not taken is not sent, and each
 * carries the newest acknowledgement.
 *
 * Between two of our stations (not `plain`) a connection carries messages of
 * any size up to VV_LLC_MESSAGE_BYTES_MAX. Each is cut in I PDUs with a number that
 * goes on over resets and an epoch that every set-up and reset renews
 * (core/wire/segment.h), agreed on by a TEST PDU before the SABME
 * (core/wire/announcement.h). So
 *   - a reset loses nothing and repeats nothing;
 *   - a link belongs to the one link of the peer that it came up with (core/llc/greeting.h), and ends when that has
 *     ended (VV_LLC_CLOSE_GONE): what is acknowledged was delivered to the user of that one, and what was not is given
 * up;
 *   - I PDUs of another job, of an earlier connection, from before a reset, or
 *     late by more than 128 others are dropped and counted, never delivered; and
 *     no PDU acknowledges but in the epoch, and the round of N(R), that it says;
 *   - a lost I PDU is sent again alone, not with all behind it (core/llc/repeat.h);
 *   - if data are lost all the same, because the network delayed an S or U PDU
 *     by more than `late_ns`, whoever notices closes the link (VV_LLC_CLOSE_LOST)
 *     and tells the other. There is no wrong data.
 *
 * A `plain` station is what the standard has and no more, for peers that are
 * not ours (the kernel's): a message is cut in I PDUs without marks, what
 * arrives is handed over PDU by PDU, and a reset loses what was not
 * acknowledged. There all late PDUs are taken for what they seem.
 *
 * There is no check for a duplicate address (the station component of clause
 * 6.9.1): behind a switch it proves nothing, for the switch sends the question
 * to one of the two.
 */
#ifndef VV_CORE_LLC_STATION_H
#define VV_CORE_LLC_STATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/carve.h"
#include "core/base/heap.h"
#include "core/base/ring.h"
#include "core/llc/address.h"
#include "core/llc/early.h"
#include "core/llc/link.h"
#include "core/llc/lookup.h"
#include "core/llc/unit.h"

#define VV_LLC_STATION_PDU_BYTES_MIN 64 /* the shortest limit of a PDU */
#define VV_LLC_STATION_PDU_BYTES_MAX VV_ENVELOPE_PDU_BYTES_MAX
#define VV_LLC_MESSAGE_BYTES_MAX     UINT32_MAX
#define VV_LLC_CREDIT_UNLIMITED      UINT32_MAX
#define VV_LLC_NO_LINK               UINT32_MAX
#define VV_LLC_NO_UNIT               UINT32_MAX

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
  uint64_t t1_ns_min;     /* T1 follows the measured round trip between these two */
  uint64_t t1_ns_max;     /* also the longest wait between two enquiries */
  uint64_t ack_ns;        /* an acknowledgement waits so long for an I PDU to carry it; < t1_ns_min */
  uint64_t idle_ns;       /* a peer that is silent for so long is asked whether it is there; 0: never */
  uint64_t late_ns;       /* frames are not overtaken by others sent so much later: resets wait for this */
  uint32_t tries;         /* of a set-up, reset or disconnect, before VV_LLC_CLOSE_SILENT; >= 1 */
  /*
   * Enquiries before a link is reset. 0: a link that was asked for (vv_llc_station_connect), or let in
   * (vv_llc_station_accept), waits for ever, for late is not dead; one that anybody made gets `tries`, and ends.
   */
  uint32_t n2;
};

/* Sensible values; the caller sets self, nonce, incarnation, and what else it wants otherwise. */
void vv_llc_station_defaults(struct vv_llc_station_config *config);

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
  uint64_t now_ns;                  /* when a link was settled last: what came early is taken then */
  uint32_t lent_unit;               /* the one whose bytes the last frame showed */
  uint32_t tests, identities;       /* asked for by the caller and not answered yet */
  bool tests_all;                   /* a group was asked: nobody knows how many will answer */
  struct vv_llc_station_event data; /* what the last frame brought */
  bool has_data;
  struct vv_llc_station_counts counts;
};

/* The memory of such a station, and the station in it: the caller's, aligned as malloc's, there as long as the station.
 */
size_t vv_llc_station_bytes(const struct vv_llc_station_config *config);
void vv_llc_station_init(struct vv_llc_station *station, void *memory, const struct vv_llc_station_config *config);

/*
 * Connects to a peer, and tells the link: the one that there is already, made
 * by either side, or a new one. VV_LLC_NO_LINK when all are taken. What is sent
 * before VV_LLC_STATION_CONNECTED waits for it. If both sides begin, there is one
 * link.
 */
uint32_t vv_llc_station_connect(struct vv_llc_station *station, uint64_t now_ns, const struct vv_llc_address *peer);

/* The link to a peer, VV_LLC_NO_LINK when there is none. */
uint32_t vv_llc_station_find(const struct vv_llc_station *station, const struct vv_llc_address *peer);

/* A new link to a peer that has none, in ADM; VV_LLC_NO_LINK when all are taken. Of no use outside core/llc. */
uint32_t vv_llc_station_open(struct vv_llc_station *station, const struct vv_llc_address *peer);

/* The answer to VV_LLC_STATION_ASKED: the link is wanted, as if we had asked for it. */
void vv_llc_station_accept(struct vv_llc_station *station, uint64_t now_ns, uint32_t link);

/*
 * Ends a link, or refuses it. What was sent and not yet acknowledged is given
 * up: who wants it delivered waits for VV_LLC_STATION_SENT first. VV_LLC_STATION_CLOSED
 * follows.
 */
void vv_llc_station_disconnect(struct vv_llc_station *station, uint64_t now_ns, uint32_t link);

/* Resets a link that is up, for tests and for the curious: ours lose nothing by it. */
void vv_llc_station_reset(struct vv_llc_station *station, uint64_t now_ns, uint32_t link);

/* Forgets a link whose peer is known to be dead (by whoever started it), at once: VV_LLC_STATION_CLOSED,
 * VV_LLC_CLOSE_ASKED. */
void vv_llc_station_abandon(struct vv_llc_station *station, uint64_t now_ns, uint32_t link);

/*
 * Sends a message. Its bytes are the caller's and must stay as they are until
 * VV_LLC_STATION_SENT. False when `messages` of them are under way, or the link is
 * closing. A message of 0 bytes is a message (plain: refused).
 */
bool vv_llc_station_send(struct vv_llc_station *station, uint64_t now_ns, uint32_t link, const void *bytes,
                         uint32_t count, uint64_t handle);

/* True: all that was given to vv_llc_station_send has left at least once, and only acknowledgements may be missing. */
bool vv_llc_station_has_left(const struct vv_llc_station *station, uint32_t link);

/*
 * Lets the peer send so many I PDUs more. Each VV_LLC_STATION_DATA takes one. At 0
 * the peer is told RNR, and RR when there are some again. A link with
 * VV_LLC_CREDIT_UNLIMITED keeps it.
 */
void vv_llc_station_credit(struct vv_llc_station *station, uint64_t now_ns, uint32_t link, uint32_t pdus);

/* Type 1, to a station or a group; the bytes are copied. False without room, or when they do not fit a PDU. */
bool vv_llc_station_unit(struct vv_llc_station *station, const struct vv_llc_address *to, const void *bytes,
                         size_t count);
bool vv_llc_station_test(struct vv_llc_station *station, const struct vv_llc_address *to, const void *bytes,
                         size_t count);
bool vv_llc_station_identify(struct vv_llc_station *station, const struct vv_llc_address *to);

/* A frame came: the whole of it, from the destination on, without check sequence. Whatever it is, it does no harm. */
void vv_llc_station_receive(struct vv_llc_station *station, uint64_t now_ns, const uint8_t *frame, size_t count);

/* When vv_llc_station_tick has something to do; VV_NEVER: never. */
uint64_t vv_llc_station_next_ns(const struct vv_llc_station *station);
void vv_llc_station_tick(struct vv_llc_station *station, uint64_t now_ns);

/* The next event: false when there is none. */
bool vv_llc_station_take(struct vv_llc_station *station, struct vv_llc_station_event *event);

/* The next frame to send: false when there is none now. */
bool vv_llc_station_next_frame(struct vv_llc_station *station, uint64_t now_ns, struct vv_llc_station_frame *frame);

#endif
