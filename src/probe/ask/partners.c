/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question partners: each of several hosts has a partner, and all pairs
 * ping-pong at once, as mpptest's processes do. What does a message cost when the
 * network is busy with others? The hosts stand in the order of their pairs
 * (duets.h).
 */
#include "probe/ask/question.h"
#include "probe/kit/duets.h"

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  return vv_duets_check(config, "partners", error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  return vv_duets_cell(session, "partners", size_bytes, error);
}

const struct vv_question vv_question_partners = {.id = "partners",
                                                 .meets = VV_QUESTION_OTHERS,
                                                 .own_ends = true,
                                                 .check = check,
                                                 .near = near_cell,
                                                 .finish = vv_duets_finish,
                                                 .far = vv_duets_far};
