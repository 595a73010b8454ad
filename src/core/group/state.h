/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank of a group: everything that it knows, in one struct (core/group/rank.h says what it does). All files of this
 * room work on it; nobody else need read it but to look.
 */
#ifndef VV_CORE_GROUP_STATE_H
#define VV_CORE_GROUP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/group/credit.h"
#include "core/group/gap.h"
#include "core/group/member.h"
#include "core/group/outbox.h"
#include "core/group/rate.h"
#include "core/group/repair.h"
#include "core/group/sight.h"
#include "core/group/store.h"
#include "core/group/tree.h"
#include "core/wire/gpdu.h"

#define VV_RANK_COUNT_MAX 65536

/* What all ranks agreed on before, and must have equal, but for `rank`. */
struct vv_rank_config {
  uint32_t ranks; /* 1 .. VV_RANK_COUNT_MAX */
  uint32_t rank;  /* this one */
  uint8_t key[VV_KEY_BYTES];
  uint32_t stream;           /* <= VV_GPDU_STREAM_MAX; another for each group of the job, never used twice */
  uint32_t datagram_bytes;   /* UDP payload that no link on the way fragments: 1472 for an MTU of 1500 */
  uint32_t window_datagrams; /* the least of all ranks' vv_credit_datagrams; VV_RANK_WINDOW_MIN .. VV_GPDU_WINDOW_MAX */
  vv_ns rtt_ns;              /* a small datagram to a rank and its answer, both engines idle */
  uint64_t shared_bps;       /* of the medium on which one sends at a time (a hub); 0: each has a link of its own */
};

#define VV_RANK_WINDOW_MIN 2

/* What a rank gives to a round, or gets from it: at most a datagram (vv_group_round_part_bytes). */
struct vv_rank_part {
  uint8_t *buffer; /* its own is not written to */
  size_t bytes;    /* the same at all ranks */
};

/*
 * A broadcast, or, with parts, a round (core/group/round.h), of which buffer, sizes and representation are not looked
 * at, and root is 0. A receiver that has no memory for the whole message takes it as a
 * stream: what it has consumed is in the store for a window more
 * (vv_store_find), where the driver reads it after each datagram.
 */
struct vv_rank_operation {
  uint32_t root;
  uint8_t *buffer;        /* root: what to send, not written to. Others: where it goes, unless it is a stream */
  uint64_t size_bytes;    /* of the message (root, or size_known), or of the buffer */
  bool size_known;        /* not root: the message must have exactly that size */
  uint8_t representation; /* root: see HEAD */
  bool stream;            /* not root: there is no buffer */
  const struct vv_rank_part *parts; /* a round: by rank, the caller's until it is done. NULL: a broadcast */
};

enum vv_rank_event_kind {
  VV_RANK_DONE,     /* the operation is done: the buffer is the caller's again, and whole */
  VV_RANK_FAILED,   /* the group has failed, and with it this and all later operations: `failure` says why */
  VV_RANK_LATE,     /* root: waits for `rank` to consume. Told once per wait; it goes on waiting */
  VV_RANK_DEAFENED, /* this rank gets no multicast, only what it asks for: join the group again */
  VV_RANK_HEARING,  /* it does again */
  VV_RANK_CLOSED,   /* after vv_rank_close: nobody needs this rank any more */
};

struct vv_rank_event {
  enum vv_rank_event_kind kind;
  uint64_t size_bytes;              /* DONE: of the message */
  uint8_t representation;           /* DONE: as the root gave it */
  uint32_t rank;                    /* LATE */
  struct vv_member_failure failure; /* FAILED */
};

enum vv_rank_way {
  VV_RANK_TO_DATA,    /* everybody else's DATA socket, by multicast */
  VV_RANK_TO_CONTROL, /* everybody else's CONTROL socket, by multicast */
  VV_RANK_TO_RANK,    /* the CONTROL socket of `rank` */
};

/* A datagram to send: header and payload, one behind the other. */
struct vv_rank_datagram {
  enum vv_rank_way way;
  uint32_t rank;
  uint8_t header[VV_GPDU_CONTROL_BYTES];
  size_t header_bytes;
  const uint8_t *payload; /* the user's buffer or the store; if there is no room for it now, until vv_rank_event */
  size_t payload_bytes;
};

enum vv_rank_socket { VV_RANK_SOCKET_DATA, VV_RANK_SOCKET_CONTROL };

struct vv_rank_counts {
  uint64_t sent; /* datagrams of data sent for the first time, and their bytes with headers */
  uint64_t sent_bytes;
  uint64_t repairs_one; /* repairs sent to one rank, and to all, and the bytes of both */
  uint64_t repairs_all;
  uint64_t repair_bytes;
  uint64_t control; /* other datagrams sent, and their bytes */
  uint64_t control_bytes;
  uint64_t taken;    /* datagrams of data that were new */
  uint64_t repeated; /* datagrams of data that this rank had already */
  uint64_t beyond;   /* datagrams of data beyond the window: dropped. A peer breaks the credit */
  uint64_t foreign;  /* of another stream, forged or damaged: dropped */
  uint64_t stalls;   /* how often this rank as root waited for credit, and how long in all */
  vv_ns stall_ns;
  uint64_t asks; /* ASKs sent */
};

/* The operation that this rank is in. */
struct vv_rank_current {
  bool busy;
  bool laid_out; /* its HEAD is known, or it is a round: so are size and end */
  bool given;    /* of a round: this rank has sent its part */
  struct vv_rank_operation operation;
  uint32_t number; /* modulo 2^32 */
  uint64_t first;  /* position */
  uint64_t end;    /* the position behind it, if laid out */
  uint64_t size_bytes;
  uint8_t representation;
};

struct vv_rank {
  struct vv_rank_config config;
  vv_ns slot_ns;       /* ranks speak so far apart that would else collide; 0 where they cannot */
  uint32_t body_bytes; /* of a full datagram, without the 16 bytes of header */
  struct vv_gpdu_keys keys;
  struct vv_rank_current current;
  struct vv_tree tree; /* under the root that this rank heard of last */
  uint64_t consumed;   /* all positions below are delivered here, or sent */
  struct vv_sight sight;
  uint64_t own_end; /* of the last operation that this rank sent something of, and its number */
  uint32_t own_number;
  uint64_t published;  /* the horizon that others know from this rank */
  uint32_t operations; /* started here, modulo 2^32 but never 0 again */
  uint32_t last_root;  /* of the last operation that was started here */
  bool urged;          /* somebody has asked for what this rank had not sent of a round, which is that operation */
  uint32_t urged_operation;
  struct vv_store store;
  struct vv_credit credit;
  struct vv_gap gap;
  struct vv_repair repair;
  struct vv_rate rate;
  struct vv_member member;
  vv_ns stalled_ns; /* since when this rank waits for the others to consume; VV_NEVER */
  vv_ns poll_ns;    /* when to ask how far they are; VV_NEVER */
  vv_ns poll_wait_ns;
  vv_ns report_ns; /* on a hub, when this rank's slot for its report comes; VV_NEVER */
  vv_ns remind_ns; /* when to say again how far this rank has sent; VV_NEVER */
  vv_ns remind_wait_ns;
  uint32_t reminders; /* said so far */
  bool closing;
  bool closed;
  bool left; /* a rank has left in order */
  uint32_t left_rank;
  uint32_t waiting; /* events to be told: a bit for each kind */
  uint32_t late_rank;
  struct vv_rank_counts counts;
  struct vv_outbox outbox; /* last, because it is large: what every datagram touches lies together before it */
};

/* An event is to be told, or is no more. */
static inline void vv_rank_tell(struct vv_rank *self, enum vv_rank_event_kind kind) {
  self->waiting |= 1u << kind;
}

static inline void vv_rank_untell(struct vv_rank *self, enum vv_rank_event_kind kind) {
  self->waiting &= ~(1u << kind);
}

/* True when the present operation is a round. */
static inline bool vv_rank_in_round(const struct vv_rank *self) {
  return self->current.busy && self->current.operation.parts != NULL;
}

/* True when this rank is the root of the present operation, a broadcast. */
static inline bool vv_rank_is_root(const struct vv_rank *self) {
  return self->current.busy && self->current.operation.parts == NULL &&
         self->current.operation.root == self->config.rank;
}

/* True when it is in an operation in which others send. */
static inline bool vv_rank_waits(const struct vv_rank *self) {
  return self->current.busy && !vv_rank_is_root(self);
}

/* True when it has something to send for the first time, if its credit lets it. */
static inline bool vv_rank_gives(const struct vv_rank *self) {
  return vv_rank_in_round(self) ? !self->current.given : vv_rank_is_root(self);
}

/* Where that lies; without such, what it consumes next. */
static inline uint64_t vv_rank_next_own(const struct vv_rank *self) {
  bool part = vv_rank_in_round(self) && !self->current.given;
  return part ? self->current.first + self->config.rank : self->consumed;
}

#endif
