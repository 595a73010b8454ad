/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question steps: what do encoding, sending, decoding and translating a message take of the processor?
 *
 * Ping-pongs of a stack that tells its steps apart (vv_steps). All steps are the
 * near end's: it encodes and sends the message, and decodes and translates the
 * answer, which is the same bytes from the far end's representation.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/ask/question.h"
#include "probe/kit/answer.h"
#include "probe/kit/series.h"
#include "probe/kit/warmup.h"
#include "probe/show/cell.h"

#define CHECK_EVERY 16

enum steps_step { ROUND, ENCODE, SEND, DECODE, TRANSLATE, STEPS };
static const char *const names[STEPS] = {"rtt_ns", "encode_ns", "send_ns", "decode_ns", "translate_ns"};

struct steps_run {
  struct vv_series series;
  struct vv_warmup_warmth warmth;
  vv_ns *ns[STEPS];
  size_t count;
  int64_t out_bytes; /* of the last message */
  int64_t in_bytes;
  int64_t translations;
};

/* See vv_warmup_exchange_fn. */
static int exchange(void *context, vv_ns *ns, struct vv_error *error) {
  struct steps_run *run = context;
  return vv_series_exchange(&run->series, ns, error);
}

static void keep(struct steps_run *run, vv_ns rtt_ns) {
  const struct vv_session *session = run->series.session;
  const struct vv_steps *steps = session->stack->steps(session->end);
  const vv_ns ns[STEPS] = {rtt_ns, steps->encode_ns, steps->send_ns, steps->decode_ns, steps->translate_ns};
  for (int step = 0; step < STEPS; step++) run->ns[step][run->count] = ns[step];
  run->out_bytes = steps->out_bytes;
  run->in_bytes = steps->in_bytes;
  run->translations = steps->translations;
  run->count++;
}

static int measure(struct steps_run *run, vv_ns deadline_ns, struct vv_error *error) {
  do {
    vv_ns rtt_ns;
    int got = exchange(run, &rtt_ns, error);
    if (got < 0) return -1;
    if (got > 0) keep(run, rtt_ns);
  } while (
      vv_probe_config_goes_on(run->series.session->config, run->count, run->series.lost, vv_clock_ns() < deadline_ns));
  return vv_series_end(&run->series, error);
}

static int print_cell(const struct steps_run *run, struct vv_error *error) {
  const struct vv_series *series = &run->series;
  struct vv_record record;
  vv_record_begin_cell(&record, "steps", series->size_bytes, 1);
  for (int step = 0; step < STEPS; step++) vv_record_ints(&record, names[step], run->ns[step], run->count);
  vv_record_int(&record, "out_bytes", run->out_bytes);
  vv_record_int(&record, "in_bytes", run->in_bytes);
  vv_record_int(&record, "translations", run->translations);
  vv_series_record(&record, series);
  vv_record_int(&record, "warmup", run->warmth.exchanges);
  vv_record_bool(&record, "warm", run->warmth.warm);
  vv_record_null(&record, "cpu_near_ns");
  vv_record_null(&record, "cpu_far_ns");
  vv_cell_wire(&record, series->session->config, series->size_bytes, 1, 1);
  return vv_record_end(&record, error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  const struct vv_series_config config = {
      .verb = "steps", .size_bytes = size_bytes, .check_every = CHECK_EVERY, .train = 1};
  struct steps_run run = {0};
  vv_ns deadline_ns = vv_clock_ns() + session->config->cell_ns;
  int result = vv_series_begin(&run.series, session, &config, error);
  for (int step = 0; step < STEPS && result == 0; step++) {
    run.ns[step] = calloc(session->config->samples, sizeof *run.ns[step]);
    if (!run.ns[step]) result = vv_error_set(error, "no-memory", "no memory for the samples");
  }
  if (result == 0) result = vv_warmup(session, exchange, &run, &run.warmth, error);
  if (result == 0) result = measure(&run, deadline_ns, error);
  if (result == 0) result = print_cell(&run, error);
  for (int step = 0; step < STEPS; step++) free(run.ns[step]);
  return result;
}

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  if (config->stack->steps) return 0;
  vv_error_set(error, "usage", "--ask steps: a message of %s has no steps that could be told apart", config->stack->id);
  return vv_error_remedy(error, "ask a stack that encodes: those of PVM");
}

const struct vv_question vv_question_steps = {
    .id = "steps", .steps = true, .check = check, .near = near_cell, .far = vv_answer_series};
