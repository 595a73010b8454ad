/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A series of exchanges of one size, near: what pingpong and prtt share.
 *
 * near: VERB size_bytes=N check_every=K train=M    far: go check_ns=T
 *       ... messages; after a loss perhaps `open` ...
 *       end                                             done messages=M corrupt=C cpu_ns=T
 *
 * With marked=1 behind the first line (`more`) the far end tells its marks at the end: a
 * line `marks count=N`, and N lines `passed`, one for each message from the first
 * on. Of the last one there may be none, if it went out as the near end said so.
 *
 * The far end (answer.h) sends back every M-th message, the very bytes that it
 * got, so the near end's check of each answer covers both directions. The far
 * end's own check, of one answer in K, tells in which direction bytes were
 * spoilt: not of every one, because where both ends share a CPU it would hold up
 * the answer's arrival. It comes after the answer, while the near end checks that
 * and writes the next message, and if it takes longer than this (check_ns) the
 * near end waits: nothing of it is in a timed part.
 */
#ifndef VV_PROBE_KIT_SERIES_H
#define VV_PROBE_KIT_SERIES_H

#include "core/base/time.h"
#include "probe/base/record.h"
#include "probe/link/session.h"

enum vv_outcome { VV_OUTCOME_FAILED = -1, VV_OUTCOME_ANSWERED, VV_OUTCOME_LOST, VV_OUTCOME_WRONG };

struct vv_series {
  struct vv_session *session;
  size_t size_bytes;
  vv_ns patience_ns;   /* for one exchange */
  vv_ns far_check_ns;  /* how long the far end checks an answer; 0: no far end */
  vv_ns not_before_ns; /* it still does */
  vv_ns idle_ns;       /* the pause before each exchange */
  bool told;           /* nothing goes over the control connection */
  uint32_t answered;
  uint32_t lost;
  uint32_t late;
  uint32_t corrupt;
  /* Messages, over all of the series. */
  uint64_t given;
  uint64_t taken;
  /* Of the far end, after vv_series_end. */
  int64_t far_corrupt;
  int64_t far_messages;
  vv_ns far_cpu_ns;
};

/* What the far end is told. */
struct vv_series_config {
  const char *verb;
  size_t size_bytes;
  uint32_t check_every; /* answers */
  uint32_t train;       /* messages to one answer */
  const char *more;     /* that the question tells its far end, after a space; NULL: nothing */
  /* Another end has told the far end all that and heard its `go`, and will tell it the end: this one only measures. */
  bool told;
  vv_ns check_ns; /* of that `go` */
};

/* 0, or -1 and *error. Of a series that is told nothing of the far end is known at the end. */
int vv_series_begin(struct vv_series *series, struct vv_session *session, const struct vv_series_config *config,
                    struct vv_error *error);
int vv_series_end(struct vv_series *series, struct vv_error *error);

/* The message that is sent next, and where its answer goes. */
static inline uint8_t *vv_series_message(const struct vv_series *series) {
  return vv_slots_at(&series->session->out, series->session->seq);
}
static inline uint8_t *vv_series_answer(const struct vv_series *series) {
  return vv_slots_at(&series->session->in, series->session->seq);
}

/*
 * Before an exchange: looks round if a signal came while nothing waited, and
 * pauses, asleep or awake as this end waits for messages. 0, or -1 and *error.
 */
int vv_series_pause(const struct vv_series *series, struct vv_error *error);

/*
 * The timed part: sends the message, takes its answer; late answers to earlier
 * messages are counted and passed over. VV_OUTCOME_ANSWERED; VV_OUTCOME_LOST at
 * session->stop_at_ns; VV_OUTCOME_FAILED and *error.
 */
enum vv_outcome vv_series_give(struct vv_series *series, struct vv_error *error);
enum vv_outcome vv_series_take(struct vv_series *series, struct vv_error *error);

/*
 * Ends the timed part, which ended so at that time of the session's clock. A
 * host that was away may find an answer and the time-out together: a datagram
 * that came after session->stop_at_ns is late, and its message lost, whoever
 * looked first.
 */
enum vv_outcome vv_series_over(struct vv_series *series, enum vv_outcome outcome, vv_ns end_ns);

/*
 * The time between two readings of the session's clock. 0, or -1 and *error
 * "clock-backwards": no time is ever negative.
 */
int vv_series_elapsed(vv_ns start_ns, vv_ns end_ns, vv_ns *elapsed_ns, struct vv_error *error);

/*
 * After the timed part: counts, checks the answer, writes the next message. A
 * wrong answer turns VV_OUTCOME_ANSWERED into VV_OUTCOME_WRONG. After a loss, new ends are opened
 * unless the tag tells stale answers from due ones, which it cannot if it is
 * short or if several exchanges had the same message (alike); where the series is
 * told, what may still come is waited for instead, as long again. A stream does not
 * lose messages: that is the error "no-answer", VV_OUTCOME_FAILED.
 */
enum vv_outcome vv_series_settle(struct vv_series *series, enum vv_outcome outcome, bool alike, struct vv_error *error);

/* For the record of a cell, after vv_series_end: what was lost, late and corrupt, at either end. */
void vv_series_record(struct vv_record *record, const struct vv_series *series);

/* All of it, for one message and its answer. 1 and what it took; 0 when there was no right answer; -1 and *error. */
int vv_series_exchange(struct vv_series *series, vv_ns *ns, struct vv_error *error);

#endif
