/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The letters that ranks of a job write each other over the TCP links of their
 * meeting (io/boot/meeting.h).
 *
 *   RING       rank 0, when it listens, by a datagram to all: "vvb1" | tag (8)
 *   CHALLENGE  rank 0 to who has connected: "vvc1" | nonce (16)
 *   JOIN       the answer of rank r: "vvj1" | ranks (4) rank (4) address (4) port (2)
 *              order (1) 0 (1) nonce (16) | tag (8)
 *   WELCOME    rank 0, when all are there: "vvw1" | session (16) | `ranks` seats:
 *              address (4) port (2) order (1) 0 (1) | tag (8)
 *   REFUSAL    rank 0, instead: "vvr1" | why (1) 0 (3) rank (4) count (4) | tag (8)
 *   CALL       of rank r to rank s, after a CHALLENGE of s: "vvo1" | r (4) s (4) |
 *              nonce (16) | tag (8)
 *   ANSWER     of s: "vva1" | tag (8)
 *   NOTE       both ways, behind a WELCOME: kind (1) 0 (3) | four numbers (16) | tag (8)
 *   PLACE      rank 0 before all that, by a way that all ranks trust: "vvp1" | a seat
 *              (8) | the job's key (16)
 *
 * A tag is SipHash-2-4 of all before it, under a key that is good for this letter
 * alone: made of the job's key (RING), of the job's key and the challenge (JOIN), of the job's key and the
 * nonce of the JOIN (WELCOME, REFUSAL), of the job's key and the session that rank 0
 * drew for this meeting (NOTE; and CALL and ANSWER, with the challenge and the nonce of
 * the CALL). A NOTE's covers who writes to whom, and how many
 * notes have gone that way before: both ends count them. So nothing that was said
 * once is believed again, in this meeting or in another of the same job, but a RING,
 * which only makes ranks look.
 *
 * All numbers are in network byte order. A parser sets nothing when it says false.
 */
#ifndef VV_CORE_WIRE_LETTER_H
#define VV_CORE_WIRE_LETTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/siphash.h"

#define VV_LETTER_MARK_BYTES      4
#define VV_LETTER_NONCE_BYTES     16
#define VV_LETTER_TAG_BYTES       8
#define VV_LETTER_RING_BYTES      12
#define VV_LETTER_CHALLENGE_BYTES 20
#define VV_LETTER_JOIN_BYTES      44
#define VV_LETTER_REFUSAL_BYTES   24
#define VV_LETTER_NOTE_BYTES      28
#define VV_LETTER_CALL_BYTES      36
#define VV_LETTER_ANSWER_BYTES    12
#define VV_LETTER_PLACE_BYTES     28
#define VV_LETTER_NUMBERS         4 /* numbers of a note */

/* Of a WELCOME to a group of so many. */
#define VV_LETTER_WELCOME_BYTES(ranks) (28 + (size_t)8 * (ranks))

/* Where a rank hears datagrams. */
struct vv_letter_seat {
  uint32_t address; /* IPv4, 10.1.0.1 is 0x0a010001 */
  uint16_t port;
  uint8_t order; /* of the bytes of its numbers: enum vv_data_order (vaiven/data.h) */
};

struct vv_letter_join {
  uint32_t ranks; /* of the group, as this one counts them */
  uint32_t rank;
  struct vv_letter_seat seat;
  uint8_t nonce[VV_LETTER_NONCE_BYTES]; /* random: the answer is tagged under it */
};

/* Why a meeting, or what was to be agreed after it, came to nothing. */
enum vv_letter_why {
  VV_LETTER_DIED = 1, /* the link to that rank has ended */
  VV_LETTER_SILENT,   /* that rank has not answered in time */
  VV_LETTER_ABSENT,   /* `count` ranks have not come in time; `rank` is the first of them */
  VV_LETTER_TAKEN,    /* two processes say that they are `rank` */
  VV_LETTER_UNEQUAL,  /* a process says that it is `rank` of `count` */
  VV_LETTER_FULL,     /* rank 0 has no descriptors left for the others */
  VV_LETTER_GAVE_UP,  /* that rank cannot go on; its own error says why */
};

struct vv_letter_refusal {
  enum vv_letter_why why;
  uint32_t rank;
  uint32_t count; /* ABSENT, UNEQUAL; else 0 */
};

enum vv_letter_kind {
  VV_LETTER_NOTHING,
  VV_LETTER_VALUES = 'v', /* of an agreement */
  VV_LETTER_LOST = 'l',   /* a refusal, after the welcome: why, rank, count */
  VV_LETTER_WORD = 'w',   /* of accord, about a group of the job (core/wire/accord.h) */
};

struct vv_letter_note {
  enum vv_letter_kind kind;
  uint32_t numbers[VV_LETTER_NUMBERS];
};

/* Two ranks that want to talk without rank 0, over a connection of their own (io/job/lanes.h). */
struct vv_letter_call {
  uint32_t from, to;
  uint8_t nonce[VV_LETTER_NONCE_BYTES]; /* random: the answer is tagged under it */
};

/* Which note of which link it is. */
struct vv_letter_way {
  uint32_t from, to; /* ranks */
  uint32_t number;   /* notes that have gone this way before */
};

/* Where rank 0 listens, and the key of the job. */
void vv_letter_place_emit(const struct vv_letter_seat *seat, const uint8_t key[VV_KEY_BYTES],
                          uint8_t bytes[VV_LETTER_PLACE_BYTES]);
bool vv_letter_place_parse(const uint8_t bytes[VV_LETTER_PLACE_BYTES], struct vv_letter_seat *seat,
                           uint8_t key[VV_KEY_BYTES]);

/* The key of everything behind the meeting: of its notes, and of the group's datagrams. */
void vv_letter_session_key(const uint8_t key[VV_KEY_BYTES], const uint8_t session[VV_LETTER_NONCE_BYTES],
                           uint8_t session_key[VV_KEY_BYTES]);

void vv_letter_ring_emit(const uint8_t key[VV_KEY_BYTES], uint8_t bytes[VV_LETTER_RING_BYTES]);
bool vv_letter_ring_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t bytes[VV_LETTER_RING_BYTES]);

void vv_letter_challenge_emit(const uint8_t nonce[VV_LETTER_NONCE_BYTES], uint8_t bytes[VV_LETTER_CHALLENGE_BYTES]);
bool vv_letter_challenge_parse(const uint8_t bytes[VV_LETTER_CHALLENGE_BYTES], uint8_t nonce[VV_LETTER_NONCE_BYTES]);

void vv_letter_join_emit(const uint8_t key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                         const struct vv_letter_join *join, uint8_t bytes[VV_LETTER_JOIN_BYTES]);
bool vv_letter_join_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                          const uint8_t bytes[VV_LETTER_JOIN_BYTES], struct vv_letter_join *join);

/* How long the answer to a JOIN is that begins so, in a group of so many; 0: no answer begins so. */
size_t vv_letter_answer_bytes(const uint8_t mark[VV_LETTER_MARK_BYTES], uint32_t ranks);

/* `seats` has as many as there are ranks, `bytes` room for VV_LETTER_WELCOME_BYTES(ranks). */
void vv_letter_welcome_emit(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                            const uint8_t session[VV_LETTER_NONCE_BYTES], const struct vv_letter_seat *seats,
                            uint32_t ranks, uint8_t *bytes);
bool vv_letter_welcome_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                             const uint8_t *bytes, uint32_t ranks, uint8_t session[VV_LETTER_NONCE_BYTES],
                             struct vv_letter_seat *seats);

void vv_letter_refusal_emit(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                            const struct vv_letter_refusal *refusal, uint8_t bytes[VV_LETTER_REFUSAL_BYTES]);
bool vv_letter_refusal_parse(const uint8_t key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                             const uint8_t bytes[VV_LETTER_REFUSAL_BYTES], struct vv_letter_refusal *refusal);

void vv_letter_call_emit(const uint8_t session_key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                         const struct vv_letter_call *call, uint8_t bytes[VV_LETTER_CALL_BYTES]);
bool vv_letter_call_parse(const uint8_t session_key[VV_KEY_BYTES], const uint8_t challenge[VV_LETTER_NONCE_BYTES],
                          const uint8_t bytes[VV_LETTER_CALL_BYTES], struct vv_letter_call *call);

void vv_letter_answer_emit(const uint8_t session_key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                           uint8_t bytes[VV_LETTER_ANSWER_BYTES]);
bool vv_letter_answer_parse(const uint8_t session_key[VV_KEY_BYTES], const uint8_t nonce[VV_LETTER_NONCE_BYTES],
                            const uint8_t bytes[VV_LETTER_ANSWER_BYTES]);

void vv_letter_note_emit(const uint8_t session_key[VV_KEY_BYTES], const struct vv_letter_way *way,
                         const struct vv_letter_note *note, uint8_t bytes[VV_LETTER_NOTE_BYTES]);
bool vv_letter_note_parse(const uint8_t session_key[VV_KEY_BYTES], const struct vv_letter_way *way,
                          const uint8_t bytes[VV_LETTER_NOTE_BYTES], struct vv_letter_note *note);

/* A refusal as the note LOST, and back: false when the note is none. */
struct vv_letter_note vv_letter_lost(const struct vv_letter_refusal *refusal);
bool vv_letter_is_lost(const struct vv_letter_note *note, struct vv_letter_refusal *refusal);

#endif
