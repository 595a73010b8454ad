/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question bisection: every end has a partner, and the ends of each pair send
 * a message to each other, all at once, both ways. Nothing has to queue for a port,
 * so it tells whether a network carries the full rate of all its hosts, each way
 * (swaps.h).
 */
#include "probe/ask/question.h"
#include "probe/kit/rounds.h"
#include "probe/kit/swaps.h"

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  return vv_rounds_check(config, "bisection", error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  return vv_swaps_cell(session, "bisection", true, size_bytes, error);
}

static int far_cell(struct vv_session *session, const char *line, struct vv_error *error) {
  return vv_swaps_far(session, line, true, error);
}

const struct vv_question vv_question_bisection = {.id = "bisection",
                                                  .meets = VV_QUESTION_LINKED,
                                                  .check = check,
                                                  .near = near_cell,
                                                  .finish = vv_swaps_finish,
                                                  .far = far_cell};
