/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question exchange: every end sends a message to every other, all at once.
 * It tells what a switch carries when all its ports are busy, and what a hub does
 * not (swaps.h). What comes to one port at the same time from several has to queue.
 */
#include "probe/ask/question.h"
#include "probe/kit/rounds.h"
#include "probe/kit/swaps.h"

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  return vv_rounds_check(config, "exchange", error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  return vv_swaps_cell(session, "exchange", false, size_bytes, error);
}

static int far_cell(struct vv_session *session, const char *line, struct vv_error *error) {
  return vv_swaps_far(session, line, false, error);
}

const struct vv_question vv_question_exchange = {.id = "exchange",
                                                 .meets = VV_QUESTION_LINKED,
                                                 .check = check,
                                                 .near = near_cell,
                                                 .finish = vv_swaps_finish,
                                                 .far = far_cell};
