/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question fanout: one message for many. How long until the last has it?
 * A stack that reaches everybody sends it once, the others to one far end after
 * the other. Of an interconnect this is what a broadcast costs (rounds.h).
 */
#include "probe/ask/question.h"
#include "probe/kit/rounds.h"

static bool once(const struct vv_probe_config *config) {
  return config->stack->to_all && config->to != VV_TO_EACH;
}

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  if (config->stack->alone || config->stack->kernel_echo) {
    vv_error_set(error, "usage", "--ask fanout: %s has no far ends that can say what they got", config->stack->id);
    return vv_error_remedy(error, "ask raw, udp or tcp");
  }
  return vv_rounds_check_sizes(config, "fanout", error);
}

static enum vv_outcome give(struct vv_rounds *rounds, struct vv_error *error) {
  size_t sends = once(rounds->session->config) ? 1 : rounds->fars->count;
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  const struct vv_session *session = rounds->session;
  rounds->begun_ns = vv_clock_real_ns();
  for (size_t i = 0; i < sends && outcome == VV_OUTCOME_ANSWERED; i++) outcome = vv_rounds_give(rounds, i, error);
  if (session->stack->began) rounds->begun_ns = session->stack->began(session->end, &rounds->setup_ns);
  return outcome;
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  uint32_t messages = once(session->config) ? 1 : (uint32_t)session->config->also_count + 1;
  const struct vv_rounds_config config = {.verb = "fanout", .give = give, .sends = messages, .on_medium = messages};
  return vv_rounds_cell(session, &config, size_bytes, error);
}

const struct vv_question vv_question_fanout = {.id = "fanout",
                                               .meets = VV_QUESTION_LINKED,
                                               .unanswered = true,
                                               .check = check,
                                               .near = near_cell,
                                               .finish = vv_fars_part,
                                               .far = vv_rounds_far};
