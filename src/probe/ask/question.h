/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A question: what is asked of a stack. Each is one file of this room with one table,
 * vv_question_NAME; its name is added to the list in src/probe/meson.build, and
 * nowhere else.
 *
 * A cell begins with a control line of the near end whose verb is the
 * question's id; what is said after that is the question's own affair, as long
 * as both ends have agreed that it is over when they return.
 */
#ifndef VV_PROBE_ASK_QUESTION_H
#define VV_PROBE_ASK_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "io/os/error.h"
#include "probe/link/session.h"

/* Whom the near end meets before the first cell, beside the far end of its session. */
enum vv_question_meets {
  VV_QUESTION_ALONE,
  VV_QUESTION_OTHERS,
  VV_QUESTION_LINKED /* with an open end of the stack */
};

struct vv_question {
  const char *id;  /* "pingpong" */
  bool sizeless;   /* there is one cell, of size 0: --sizes means nothing to it */
  uint32_t train;  /* --train when it is not given; 0: it means nothing to it */
  bool steps;      /* the ends keep account of the steps of a message (vv_stack.steps) */
  bool unanswered; /* no message comes back for one: datagrams to all, which have no way back, can carry it */
  enum vv_question_meets meets;
  bool own_ends; /* it sends and receives by itself: a far end need not have opened the stack's */
  /* Refuses options under which it makes no sense. 0, or -1 and *error. May be NULL. */
  int (*check)(const struct vv_probe_config *config, struct vv_error *error);
  /* Near: one cell, and its record. 0, or -1 and *error: the launch is over. */
  int (*near)(struct vv_session *session, size_t size_bytes, struct vv_error *error);
  /* Near: after the last cell, and after a failure. May be NULL. */
  void (*finish)(void);
  /* Far: `line` is the line that began the cell. The same. */
  int (*far)(struct vv_session *session, const char *line, struct vv_error *error);
};

#endif
