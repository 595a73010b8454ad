/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A question: what is asked of a stack. Each is one file with one table; add it
 * to vv_questions in question.c.
 *
 * A cell begins with a control line of the near end whose verb is the
 * question's id; what is said after that is the question's own affair, as long
 * as both ends have agreed that it is over when they return.
 */
#ifndef VV_PROBE_QUESTION_H
#define VV_PROBE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "io/os/error.h"
#include "probe/record.h"
#include "probe/session.h"

struct vv_question {
  const char *id; /* "pingpong" */
  bool sizeless;  /* there is one cell, of size 0: --sizes means nothing to it */
  uint32_t train; /* --train when it is not given; 0: it means nothing to it */
  bool own_ends;  /* it sends and receives by itself: a far end need not have opened the stack's */
  /* Refuses options under which it makes no sense. 0, or -1 and *error. May be NULL. */
  int (*check)(const struct vv_options *options, struct vv_error *error);
  /* Near: one cell, and its record. 0, or -1 and *error: the launch is over. */
  int (*near)(struct vv_session *session, size_t size_bytes, struct vv_error *error);
  /* Near: after the last cell, and after a failure. May be NULL. */
  void (*finish)(void);
  /* Far: `line` is the line that began the cell. The same. */
  int (*far)(struct vv_session *session, const char *line, struct vv_error *error);
};

/* The tables, one per file. */
extern const struct vv_question vv_question_connect;
extern const struct vv_question vv_question_exchange;
extern const struct vv_question vv_question_fanout;
extern const struct vv_question vv_question_layers;
extern const struct vv_question vv_question_oneway;
extern const struct vv_question vv_question_overlap;
extern const struct vv_question vv_question_pingpong;
extern const struct vv_question vv_question_pingpongs;
extern const struct vv_question vv_question_prtt;
extern const struct vv_question vv_question_steps;
extern const struct vv_question vv_question_stream;

/* All questions, NULL at the end. */
extern const struct vv_question *const vv_questions[];

const struct vv_question *vv_question_find(const char *id);

/*
 * Does a cell go on after so many samples, `lost` more being lost? Until it has
 * --samples of them or its time is up, and then still to --samples-min tries: a
 * median of fewer says little, however long they take. But time alone is no
 * reason to wait for one that loses more than come.
 */
bool vv_question_goes_on(const struct vv_options *options, uint64_t samples, uint64_t lost, bool in_time);

/*
 * Writes the member "wire" of a cell, as far as the options tell: what `sends`
 * such messages become on the wire, and what the wire alone takes for `in_a_row`
 * of them without a pause.
 */
void vv_question_wire(struct vv_record *record, const struct vv_options *options, size_t size_bytes, uint32_t sends,
                      uint32_t in_a_row);

#endif
