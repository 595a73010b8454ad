/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds: what questions with several far ends share. In each round the near
 * end gives one message, or several, and every far end says when it had its own.
 *
 * near, to each far: VERB size_bytes=N hush_ns=H          far: go
 *                    start  (only by a barrier)
 *                    ... the messages of a round ...           got tag=T at_ns=T
 *                    ... and of the next ...
 *                    end                                       done corrupt=C messages=M cpu_ns=T
 *
 * While a round is under way nobody speaks of it: a far end says `got` H after
 * it got it, when the others have theirs too, as rounds that were tried before
 * tell. Every message is checked after its time was taken.
 */
#ifndef VV_PROBE_ROUNDS_H
#define VV_PROBE_ROUNDS_H

#include "probe/buffers.h"
#include "probe/fars.h"
#include "probe/record.h"
#include "probe/series.h"

/* What compares the near end's time with a far end's. */
enum vv_rounds_clock {
  VV_CLOCK_COMMON,    /* they share CLOCK_REALTIME */
  VV_CLOCK_ESTIMATED, /* how far theirs is ahead, from questions and answers */
  VV_CLOCK_BARRIER,   /* each counts from `start` */
};

struct vv_rounds {
  struct vv_session *session; /* the first far end's */
  struct vv_fars *fars;
  const char *verb;
  size_t size_bytes;
  struct vv_ring ring;
  uint32_t messages; /* that the near end sends in a round, for what the wire takes */
  enum vv_rounds_clock clock;
  int64_t clock_error_ns;
  int64_t patience_ns;
  int64_t begun_ns;                /* of this round: CLOCK_REALTIME just before the first send */
  int64_t started_ns[VV_FARS_MAX]; /* when each was told to start */
  int64_t *last_ns;                /* by round */
  int64_t *each_ns;                /* by round and far end */
  size_t count;
  uint32_t tried; /* rounds that count for nothing */
  uint32_t lost;
  uint32_t missing[VV_FARS_MAX];
  int64_t corrupt;
  int64_t cpu_ns;
  int64_t far_cpu_ns; /* of all far ends */
  int64_t far_messages;
};

/*
 * The near end's part of a round: notes begun_ns and sends. VV_ANSWERED;
 * VV_LOST at session->stop_at_ns; VV_FAILED and *error.
 */
typedef enum vv_outcome vv_round_fn(struct vv_rounds *rounds, struct vv_error *error);

/* The message of this round. */
static inline const uint8_t *vv_rounds_message(const struct vv_rounds *rounds) {
  return vv_ring_slot(&rounds->ring, rounds->session->seq);
}

/* Gives it to one far end: the same results. */
enum vv_outcome vv_rounds_give(struct vv_rounds *rounds, size_t far, struct vv_error *error);

/* Near: a whole cell, tried, measured and printed. 0, or -1 and *error. */
int vv_rounds_cell(struct vv_session *session, const char *verb, size_t size_bytes, uint32_t messages,
                   vv_round_fn *give, struct vv_error *error);

/* Far: receives one message a round until the near end says "end". 0, or -1 and *error. */
int vv_rounds_far(struct vv_session *session, const char *line, struct vv_error *error);

#endif
