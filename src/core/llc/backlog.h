/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages that a link still has to deliver, and the I PDU that each
 * number stands for. Numbers go on from message to message and over resets.
 */
#ifndef VV_CORE_LLC_BACKLOG_H
#define VV_CORE_LLC_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_LLC_NO_MESSAGE UINT32_MAX

struct vv_llc_message {
  const uint8_t *bytes; /* the caller's */
  uint64_t handle;      /* the caller's */
  uint32_t count;       /* of the bytes */
  uint32_t first;       /* number of its first I PDU */
  uint32_t pdus;
  uint32_t next; /* in the backlog, or of the free ones; VV_LLC_NO_MESSAGE: it is the last */
  bool given_up; /* not acknowledged, and it will not be */
};

struct vv_llc_backlog {
  uint32_t head, tail;  /* VV_LLC_NO_MESSAGE: empty */
  uint32_t cursor;      /* the message that the I PDU asked for last is of */
  uint32_t first_bytes; /* of a message in its first I PDU */
  uint32_t unit_bytes;  /* in every other */
  uint32_t next;        /* number that the next message begins with */
  uint32_t done;        /* numbers before this were acknowledged */
};

/* What one I PDU carries. */
struct vv_llc_backlog_pdu {
  const uint8_t *bytes;
  uint32_t count;
  uint32_t message_bytes; /* of the message, when this is its first I PDU */
  bool first;
};

/* An empty backlog whose numbers begin with `first`. */
void vv_llc_backlog_init(struct vv_llc_backlog *backlog, uint32_t first, uint32_t first_bytes, uint32_t unit_bytes);
/* Puts a message (whose bytes, count and handle are set) behind all others. */
void vv_llc_backlog_add(struct vv_llc_backlog *backlog, struct vv_llc_message *messages, uint32_t message);
/* True when the I PDU with that number can be had. */
static inline bool vv_llc_backlog_has(const struct vv_llc_backlog *backlog, uint32_t number) {
  return (int32_t)(backlog->next - number) > 0;
}
/* The I PDU with that number, which is not done and which it has. */
struct vv_llc_backlog_pdu vv_llc_backlog_at(struct vv_llc_backlog *backlog, const struct vv_llc_message *messages,
                                            uint32_t number);
/* All numbers before this one were acknowledged. */
void vv_llc_backlog_done(struct vv_llc_backlog *backlog, uint32_t number);
/* Gives up all messages that are not done: done from now on, in a way. */
void vv_llc_backlog_give_up(struct vv_llc_backlog *backlog, struct vv_llc_message *messages);
/* Takes the first message when all of it is done: VV_LLC_NO_MESSAGE when not. It is the caller's then. */
uint32_t vv_llc_backlog_take(struct vv_llc_backlog *backlog, const struct vv_llc_message *messages);

#endif
