/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PDUs of `group`, reliable multicast among known ranks: one UDP datagram each.
 *
 *   0 kind (1) | 1 stream (3) | 4 position (4) | 8 tag (8) | 16 body
 *
 * A group numbers its datagrams of data 0, 1, 2, ...: their positions. All ranks
 * start the same operations in the same order, so who may write a position
 * follows from the operation that it belongs to, and DATA needs no more than
 * these 16 bytes. Positions are 64-bit numbers of which the low half travels;
 * the tag covers both halves, so that nothing old comes back after 2^32.
 *
 *   HEAD   first of an operation: root (2) back (2) representation (1) size (5) | data; the horizon lies `back` behind
 *          its position
 *   PART   what one rank gives to a round, all of it: rank (2) back (2) representation (1) size (5) | data. Who sends
 *          it has consumed all that is below position - rank, where the round begins
 *   DATA   what follows a HEAD: data alone
 *   ASK    source has consumed what is below position, and lacks more of the operation that it is in:
 *          source (4) operation (4) root (4) flags (1) count (1) | bitmap, bit i: lacks position + i
 *   ACK    all ranks of source's subtree have consumed what is below position: source (4) target (4) slowest (4)
 *   POLL   the root waits until all have consumed what is below position: source (4) operation (4) edge (4)
 *   STATE  source has consumed what is below position: source (4) edge (4) horizon (4) beyond (4), bit i: edge + i has
 *          been sent, too
 *   FAIL   the group has failed at operation: source (4) operation (4) rank (4) why (1)
 *
 * A repair is the original datagram once more, bit for bit but for a horizon that is newer, whoever sends it.
 * Everything is in network byte order. The first four bytes are what a socket
 * filter needs to drop the datagrams of others before they are charged.
 *
 * The tag is SipHash-2-4 of header, high half of the position and the hash of
 * the body, with keys made of the session's (core/wire/letter.h): it keeps out
 * strangers, what was said in other groups of the job, and wrong bits, it hides nothing and it cannot tell one rank
 * from another.
 */
#ifndef VV_CORE_WIRE_GPDU_H
#define VV_CORE_WIRE_GPDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/siphash.h"

#define VV_GPDU_HEADER_BYTES       16
#define VV_GPDU_HEAD_BYTES         10 /* of the body of HEAD, before the data; of PART likewise */
#define VV_GPDU_BITMAP_BYTES       32 /* of an ASK, at most */
#define VV_GPDU_CONTROL_BYTES      62 /* the longest PDU that has no data */
#define VV_GPDU_STREAM_MAX         0xffffffu
#define VV_GPDU_SIZE_BYTES_MAX     ((UINT64_C(1) << 40) - 1) /* of one operation */
#define VV_GPDU_WINDOW_MAX         0xffff                    /* how far a HEAD may be ahead of the horizon */
#define VV_GPDU_DATAGRAM_BYTES_MIN 128
#define VV_GPDU_DATAGRAM_BYTES_MAX 65507

enum vv_gpdu_kind {
  VV_GPDU_HEAD = 0xa1,
  VV_GPDU_PART,
  VV_GPDU_DATA,
  VV_GPDU_ASK,
  VV_GPDU_ACK,
  VV_GPDU_POLL,
  VV_GPDU_STATE,
  VV_GPDU_FAIL,
};

/* Flags of an ASK: source hears no multicast; it lacks what comes after the bitmap, too. */
enum { VV_GPDU_ASK_DEAF = 1, VV_GPDU_ASK_MORE = 2 };

/* Why a group failed. */
enum vv_gpdu_why {
  VV_GPDU_DIED = 1,     /* the rank's process or host is gone */
  VV_GPDU_LEFT,         /* the rank left before the others were done */
  VV_GPDU_UNEQUAL_SIZE, /* the rank expected another size than the root sends */
  VV_GPDU_UNEQUAL_ROOT, /* the rank expected another root */
  VV_GPDU_UNEQUAL_CALL, /* the rank is in another operation */
};

/* True of the kinds whose body begins with HEAD's numbers. */
static inline bool vv_gpdu_is_headed(enum vv_gpdu_kind kind) {
  return kind == VV_GPDU_HEAD || kind == VV_GPDU_PART;
}

/* The two keys of a group's tags, made of the session's key and the stream. */
struct vv_gpdu_keys {
  uint8_t header[VV_KEY_BYTES];
  uint8_t body[VV_KEY_BYTES];
};

/* Any PDU. Fields that a kind does not have are 0. */
struct vv_gpdu {
  enum vv_gpdu_kind kind;
  uint64_t position;
  uint32_t source;        /* ASK, ACK, POLL, STATE, FAIL */
  uint32_t operation;     /* ASK, POLL, FAIL: modulo 2^32 */
  uint32_t rank;          /* HEAD, ASK: root; PART: who gives it; ACK: slowest; FAIL: who it is about */
  uint32_t target;        /* ACK: the root that it is for */
  uint64_t size_bytes;    /* HEAD: of the whole message; PART: of its data */
  uint64_t edge;          /* POLL, STATE: all positions below have been sent, as far as source knows */
  uint64_t horizon;       /* HEAD, PART, STATE: all ranks have consumed what is below */
  uint32_t beyond;        /* STATE: bit i: edge + i has been sent */
  uint8_t representation; /* HEAD, PART: of the sender's numbers; the caller's affair */
  uint8_t flags;          /* ASK */
  enum vv_gpdu_why why;   /* FAIL */
  const uint8_t *data;    /* HEAD, PART, DATA: the data; ASK: the bitmap. Inside the bytes that were parsed */
  size_t data_bytes;
};

/* Keys of that stream of the session whose key it is. */
void vv_gpdu_keys_init(struct vv_gpdu_keys *keys, const uint8_t key[VV_KEY_BYTES], uint32_t stream);

/*
 * The value of a datagram. Positions are taken as those nearest to `near`, a
 * position that this rank is at. False, and nothing set, when it is no PDU of this
 * stream, or its tag is wrong.
 */
bool vv_gpdu_parse(const struct vv_gpdu_keys *keys, uint32_t stream, uint64_t near, const uint8_t *bytes, size_t count,
                   struct vv_gpdu *pdu);

/*
 * Writes the header of that PDU, and its body but for data_bytes of data that
 * follow it: 16 bytes for DATA, 26 for HEAD and PART, a whole control PDU for the others
 * (whose bitmap is copied). Tells how many.
 */
size_t vv_gpdu_emit(const struct vv_gpdu_keys *keys, uint32_t stream, const struct vv_gpdu *pdu,
                    uint8_t header[VV_GPDU_CONTROL_BYTES]);

/*
 * The value of the body of a HEAD, PART or DATA at that position, as a store keeps it:
 * `data` is inside it. False, and nothing set, when it is none.
 */
bool vv_gpdu_body_parse(enum vv_gpdu_kind kind, uint64_t position, const uint8_t *body, size_t count,
                        struct vv_gpdu *pdu);

/* Writes the body of that HEAD or PART but for its data. */
void vv_gpdu_head_emit(const struct vv_gpdu *head, uint8_t body[VV_GPDU_HEAD_BYTES]);

/* The 64-bit number with that low half that is nearest to `near`; never below 0. */
uint64_t vv_gpdu_expand(uint32_t low, uint64_t near);

#endif
