/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question pingpongs: several ping-pongs between two hosts, all at once. What
 * does one take when others share hosts and wire with it? The far ends are on the
 * other host, on this one, on the other one, and so on (duets.h).
 */
#include "probe/ask/question.h"
#include "probe/kit/duets.h"

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  return vv_duets_check(config, "pingpongs", error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  return vv_duets_cell(session, "pingpongs", size_bytes, error);
}

const struct vv_question vv_question_pingpongs = {.id = "pingpongs",
                                                  .meets = VV_QUESTION_OTHERS,
                                                  .own_ends = true,
                                                  .check = check,
                                                  .near = near_cell,
                                                  .finish = vv_duets_finish,
                                                  .far = vv_duets_far};
