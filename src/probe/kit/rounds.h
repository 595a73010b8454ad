/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds: what questions with several far ends share. In each round the near
 * end gives one message, or several, and every far end says when it had its own.
 *
 * near, to each far: VERB size_bytes=N number=I ends=E hush_ns=H barrier=B    far: go
 *                    start tag=T  (where B is 1)
 *                    ... the messages of a round ...           got tag=T at_ns=T missing=M late=L
 *                    ... and of the next ...
 *                    end                                       done corrupt=C messages=M cpu_ns=T resent=R
 *
 * While a round is under way nobody speaks of it: a far end says `got` H after
 * it got it, when the others have theirs too, as rounds that were tried before
 * tell. Every message is checked after its time was taken. A far end that hears
 * of a barrier after its message was late for the round, which then has no time.
 */
#ifndef VV_PROBE_KIT_ROUNDS_H
#define VV_PROBE_KIT_ROUNDS_H

#include "core/base/time.h"
#include "probe/base/record.h"
#include "probe/kit/series.h"
#include "probe/link/fars.h"

/* What compares the near end's time with a far end's. */
enum vv_rounds_clock {
  VV_ROUNDS_CLOCK_COMMON,  /* they share CLOCK_REALTIME */
  VV_ROUNDS_CLOCK_BOUNDED, /* how far theirs is ahead lies between bounds (strip.h), which questions and answers give */
  VV_ROUNDS_CLOCK_BARRIER, /* each counts from `start` */
};

struct vv_rounds;

/*
 * The near end's part of a round: notes begun_ns, and sends; where it takes part
 * itself, own_ns too. VV_OUTCOME_ANSWERED; VV_OUTCOME_LOST when the time is up; VV_OUTCOME_WRONG when it
 * came too late to begin with the others; VV_OUTCOME_FAILED and *error.
 */
typedef enum vv_outcome vv_rounds_fn(struct vv_rounds *rounds, struct vv_error *error);

struct vv_rounds_config {
  const char *verb;
  vv_rounds_fn *give;
  /* After the far ends have said `go`. 0, or -1 and *error. May be NULL. */
  int (*begin)(struct vv_rounds *rounds, struct vv_error *error);
  bool takes_part;    /* the near end receives too: it is the first of the ends whose times are recorded */
  uint32_t sends;     /* messages that the near end sends in a round; where it takes part, gets too */
  uint32_t on_medium; /* messages that follow each other on one link */
};

struct vv_rounds {
  const struct vv_rounds_config *config;
  struct vv_session *session; /* the first far end's */
  struct vv_fars *fars;
  size_t size_bytes;
  enum vv_rounds_clock clock;
  vv_ns clock_error_ns;     /* half of the widest strip; before there is one, of the quickest answer */
  const struct vv_far *set; /* whose clock was set while it was compared, or goes unevenly; NULL: nobody's */
  vv_ns patience_ns;
  vv_ns not_before_ns;           /* the next round, or more would be sent than --cap-bps allows */
  vv_ns begun_ns;                /* of this round: CLOCK_REALTIME just before the first send */
  vv_ns setup_ns;                /* of a stack that sets up a session for each message: what that took before */
  vv_ns own_ns;                  /* what the near end's own part took */
  vv_ns started_ns[VV_FARS_MAX]; /* when each was told to start */
  vv_ns *begins_ns;              /* by round: begun_ns */
  vv_ns *last_ns;                /* by round */
  vv_ns *each_ns;                /* by round and end */
  vv_ns *setups_ns;              /* by round */
  size_t count;
  uint32_t tried; /* rounds that count for nothing */
  uint32_t lost;
  uint32_t late; /* rounds in which somebody came too late to begin */
  uint32_t missing[VV_FARS_MAX];
  int64_t corrupt;
  vv_ns cpu_ns;
  vv_ns far_cpu_ns; /* of all far ends */
  int64_t far_messages;
  int64_t resent; /* by the near end, before the cell */
  int64_t far_resent[VV_FARS_MAX];
};

/* The message of this round. */
static inline const uint8_t *vv_rounds_message(const struct vv_rounds *rounds) {
  return vv_slots_at(&rounds->session->out, rounds->session->seq);
}

/* The number of a round as the tag of its message tells it: short ones repeat, only their own bytes count. */
uint64_t vv_rounds_tag(uint64_t seq, size_t size_bytes);

/* Gives it to one far end: the same results. */
enum vv_outcome vv_rounds_give(struct vv_rounds *rounds, size_t far, struct vv_error *error);

/* Near: a whole cell, tried, measured and printed. 0, or -1 and *error. */
int vv_rounds_cell(struct vv_session *session, const struct vv_rounds_config *config, size_t size_bytes,
                   struct vv_error *error);

/* Far: keeps quiet for so long, unless the near end speaks. 0; 1: there is a line to be read; -1 and *error. */
int vv_rounds_hush(struct vv_session *session, vv_ns hush_ns, struct vv_error *error);

/*
 * Refuses what makes no sense to a question whose messages are all under way at
 * once: a stack that carries one after the other, more than one write, empty
 * messages. 0, or -1 and *error.
 */
int vv_rounds_check(const struct vv_probe_config *config, const char *verb, struct vv_error *error);
/* The same of the sizes alone, for every question of this kind. */
int vv_rounds_check_sizes(const struct vv_probe_config *config, const char *verb, struct vv_error *error);

/* Far: receives one message a round until the near end says "end". 0, or -1 and *error. */
int vv_rounds_far(struct vv_session *session, const char *line, struct vv_error *error);

#endif
