/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question stream: a message to each far end at once, each over a connection
 * of its own. With k far ends on one host it tells what k connections share, and
 * what each of them gets (rounds.h).
 */
#include "io/os/watch.h"
#include "probe/ask/question.h"
#include "probe/kit/rounds.h"
#include "stack/flows.h"

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  return vv_rounds_check(config, "stream", error);
}

static bool time_is_up(void *context) {
  const struct vv_session *session = context;
  return vv_clock_ns() >= session->stop_at_ns || vv_watch_launcher_gone();
}

static enum vv_outcome give(struct vv_rounds *rounds, struct vv_error *error) {
  struct vv_session *session = rounds->session;
  struct vv_watch_stop stop = {.ask = time_is_up, .context = session};
  struct vv_flow flows[VV_FARS_MAX];
  for (size_t i = 0; i < rounds->fars->count; i++) {
    struct vv_session *far = rounds->fars->ends[i].session;
    flows[i] = (struct vv_flow){.end = far->end, .out = vv_rounds_message(rounds), .out_bytes = rounds->size_bytes};
  }
  rounds->begun_ns = vv_clock_real_ns();
  enum vv_got got = session->stack->flow(flows, rounds->fars->count, &stop, error);
  if (got == VV_GOT_MESSAGE) return VV_OUTCOME_ANSWERED;
  if (got == VV_GOT_STOPPED) return vv_session_why(session, error) == 0 ? VV_OUTCOME_LOST : VV_OUTCOME_FAILED;
  if (got == VV_GOT_CLOSED) vv_session_closed(session, error);
  return VV_OUTCOME_FAILED;
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  uint32_t messages = (uint32_t)session->config->also_count + 1;
  const struct vv_rounds_config config = {.verb = "stream", .give = give, .sends = messages, .on_medium = messages};
  return vv_rounds_cell(session, &config, size_bytes, error);
}

const struct vv_question vv_question_stream = {.id = "stream",
                                               .meets = VV_QUESTION_LINKED,
                                               .check = check,
                                               .near = near_cell,
                                               .finish = vv_fars_part,
                                               .far = vv_rounds_far};
