/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question overlap: can a program compute while its messages travel?
 *
 * Three times, in turn: talk, a message there and back; work, a computation that
 * takes about as long; both, the message is given away, the computation done, and
 * then the answer taken. Where system and card move messages by themselves, both
 * take little longer than the longer of the two; where the processor has to do
 * it, as long as one after the other.
 *
 * To give a message away means what the stack has for it: one send, which returns
 * once the system has the message; or, where a library moves a message only while
 * it is called, to begin the message and the receipt of its answer (MPI_Isend and
 * MPI_Irecv: vv_stack.start), and to wait for both after the computation.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "probe/ask/question.h"
#include "probe/kit/answer.h"
#include "probe/kit/series.h"
#include "probe/kit/warmup.h"
#include "probe/show/cell.h"

#define CHECK_EVERY 16
#define TRIED       9       /* exchanges that tell how long the work is to be */
#define STEPS_TRIED 1000000 /* of work, to learn what one takes */

enum overlap_part { TALK, WORK, BOTH, PARTS };

struct overlap_run {
  struct vv_series series;
  uint64_t steps; /* of the work */
  vv_ns *ns[PARTS];
  size_t count[PARTS];
};

/* A computation in registers: it needs the processor and nothing else. */
static void work(uint64_t steps) {
  static volatile uint64_t kept;
  uint64_t value = kept + 1;
  for (uint64_t i = 0; i < steps; i++) value = value * 6364136223846793005u + 1442695040888963407u;
  kept = value;
}

static enum vv_outcome give_away(struct vv_series *series, struct vv_error *error) {
  const struct vv_session *session = series->session;
  if (!session->stack->start) return vv_series_give(series, error);
  int result = session->stack->start(session->end, vv_series_message(series), vv_series_answer(series),
                                     series->size_bytes, error);
  return result == 0 ? VV_OUTCOME_ANSWERED : VV_OUTCOME_FAILED;
}

static enum vv_outcome take_answer(struct vv_series *series, struct vv_error *error) {
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  if (series->session->stack->start) outcome = vv_series_give(series, error); /* the rest of it */
  return outcome == VV_OUTCOME_ANSWERED ? vv_series_take(series, error) : outcome;
}

/* 1 and the time, 0 when there was no right answer, -1 and *error. */
static int one(struct overlap_run *run, enum overlap_part part, vv_ns *ns, struct vv_error *error) {
  struct vv_session *session = run->series.session;
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  if (vv_series_pause(&run->series, error) != 0) return -1;
  vv_ns start_ns = vv_clock_ns();
  session->stop_at_ns = start_ns + run->series.patience_ns;
  if (part != WORK) outcome = give_away(&run->series, error);
  if (part != TALK) work(run->steps);
  if (part != WORK && outcome == VV_OUTCOME_ANSWERED) outcome = take_answer(&run->series, error);
  vv_ns end_ns = vv_clock_ns();
  session->stop_at_ns = VV_NEVER;
  if (outcome == VV_OUTCOME_FAILED || vv_series_elapsed(start_ns, end_ns, ns, error) != 0) return -1;
  if (part == WORK) return 1;
  outcome = vv_series_settle(&run->series, outcome, false, error);
  return outcome == VV_OUTCOME_FAILED ? -1 : outcome == VV_OUTCOME_ANSWERED;
}

/* So many steps that the work takes about as long as an exchange. */
static int size_work(struct overlap_run *run, struct vv_error *error) {
  vv_ns talk_ns[TRIED], work_ns;
  size_t count = 0;
  for (int i = 0; i < TRIED; i++) {
    int got = one(run, TALK, &talk_ns[count], error);
    if (got < 0) return -1;
    count += (size_t)got;
  }
  run->steps = STEPS_TRIED;
  if (one(run, WORK, &work_ns, error) < 0) return -1;
  double steps = (double)vv_warmup_median_ns(talk_ns, count) * STEPS_TRIED / (double)(work_ns > 0 ? work_ns : 1);
  run->steps = steps < 1 ? 1 : (uint64_t)steps;
  return 0;
}

static int measure(struct overlap_run *run, struct vv_error *error) {
  const struct vv_probe_config *config = run->series.session->config;
  vv_ns deadline_ns = vv_clock_ns() + config->cell_ns;
  do {
    for (int part = 0; part < PARTS; part++) {
      int got = one(run, (enum overlap_part)part, &run->ns[part][run->count[part]], error);
      if (got < 0) return -1;
      run->count[part] += (size_t)got;
    }
  } while (vv_probe_config_goes_on(config, run->count[WORK], run->series.lost, vv_clock_ns() < deadline_ns));
  return vv_series_end(&run->series, error);
}

static int print_cell(const struct overlap_run *run, struct vv_error *error) {
  const struct vv_series *series = &run->series;
  struct vv_record record;
  vv_record_begin_cell(&record, "overlap", series->size_bytes, 1);
  vv_record_ints(&record, "both_ns", run->ns[BOTH], run->count[BOTH]);
  vv_record_ints(&record, "talk_ns", run->ns[TALK], run->count[TALK]);
  vv_record_ints(&record, "work_ns", run->ns[WORK], run->count[WORK]);
  vv_series_record(&record, series);
  vv_record_int(&record, "warmup", TRIED);
  vv_record_bool(&record, "warm", true);
  vv_record_null(&record, "cpu_near_ns");
  vv_record_null(&record, "cpu_far_ns");
  vv_cell_wire(&record, series->session->config, series->size_bytes, 1, 1);
  return vv_record_end(&record, error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  const struct vv_series_config config = {
      .verb = "overlap", .size_bytes = size_bytes, .check_every = CHECK_EVERY, .train = 1};
  struct overlap_run run = {0};
  int result = vv_series_begin(&run.series, session, &config, error);
  for (int part = 0; part < PARTS && result == 0; part++) {
    run.ns[part] = calloc(session->config->samples, sizeof *run.ns[part]);
    if (!run.ns[part]) result = vv_error_set(error, "no-memory", "no memory for the samples");
  }
  if (result == 0) result = size_work(&run, error);
  if (result == 0) result = measure(&run, error);
  if (result == 0) result = print_cell(&run, error);
  for (int part = 0; part < PARTS; part++) free(run.ns[part]);
  return result;
}

/* Daemons and broadcasts: what their send has done when it returns is their own affair. */
static bool is_told(const struct vv_stack *stack) {
  return !stack->alone && (!stack->joined || stack->start);
}

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  if (is_told(config->stack)) return 0;
  vv_error_set(error, "usage", "--ask overlap: %s does not tell when a message has been given away", config->stack->id);
  return vv_error_remedy(error, "ask eth, llc, udp, tcp, openmpi or mpich");
}

const struct vv_question vv_question_overlap = {
    .id = "overlap", .check = check, .near = near_cell, .far = vv_answer_series};
