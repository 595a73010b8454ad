/* SPDX-License-Identifier: BSD-3-Clause */
/* The question pingpong: how long does a message of so many bytes take there and back? */
#include <inttypes.h>
#include <stdlib.h>

#include "probe/ask/question.h"
#include "probe/kit/answer.h"
#include "probe/kit/series.h"
#include "probe/kit/warmup.h"
#include "probe/show/cell.h"

#define BATCH_MAX    65536
#define QUANTA_MIN   1000 /* clock steps in one sample: 0.1 % */
#define READINGS_MIN 50   /* costs of a clock reading in one sample: 2 % */
#define CHECK_EVERY  16   /* answers */
#define CPU_EVERY    16   /* exchanges: asking what a process has used is a system call */

struct pingpong_run {
  struct vv_series series;
  uint32_t batch;
  uint32_t exchanges;
  vv_ns cpu_cost_ns;
  vv_ns cpu_ns; /* of cpu_messages */
  int64_t cpu_messages;
};

static int begin_run(struct pingpong_run *run, struct vv_session *session, size_t size_bytes, uint32_t batch,
                     uint32_t check_every, struct vv_error *error) {
  const struct vv_series_config config = {
      .verb = "pingpong", .size_bytes = size_bytes, .check_every = check_every, .train = 1};
  *run = (struct pingpong_run){.batch = batch, .cpu_cost_ns = vv_clock_cpu_cost_ns()};
  int result = vv_series_begin(&run->series, session, &config, error);
  run->series.patience_ns *= batch > 1 ? 2 : 1;
  return result;
}

/* The timed part. */
static enum vv_outcome exchange_batch(struct pingpong_run *run, vv_ns *ns, struct vv_error *error) {
  struct vv_session *session = run->series.session;
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  vv_ns start_ns = vv_session_clock_ns(session);
  session->stop_at_ns = start_ns + run->series.patience_ns;
  for (uint32_t i = 0; i < run->batch && outcome == VV_OUTCOME_ANSWERED; i++) {
    outcome = vv_series_give(&run->series, error);
    if (outcome == VV_OUTCOME_ANSWERED) outcome = vv_series_take(&run->series, error);
  }
  vv_ns end_ns = vv_session_clock_ns(session);
  outcome = vv_series_over(&run->series, outcome, end_ns);
  if (outcome == VV_OUTCOME_FAILED || vv_series_elapsed(start_ns, end_ns, ns, error) != 0) return VV_OUTCOME_FAILED;
  return outcome;
}

/* The same with its CPU time, which is that of a sample of them: nothing but messages should lie between two. */
static enum vv_outcome exchange_counted(struct pingpong_run *run, vv_ns *ns, struct vv_error *error) {
  vv_ns cpu_start_ns = vv_clock_cpu_ns();
  enum vv_outcome outcome = exchange_batch(run, ns, error);
  if (outcome != VV_OUTCOME_ANSWERED) return outcome;
  run->cpu_ns += vv_clock_cpu_ns() - cpu_start_ns - run->cpu_cost_ns;
  run->cpu_messages += run->batch;
  return outcome;
}

/* One exchange with all that surrounds it. 1: *ns is the mean over the batch. See vv_warmup_exchange_fn. */
static int exchange(void *context, vv_ns *ns, struct vv_error *error) {
  struct pingpong_run *run = context;
  vv_ns elapsed_ns = 0;
  if (vv_series_pause(&run->series, error) != 0) return -1;
  bool counted = run->exchanges++ % CPU_EVERY == 0 || run->cpu_messages == 0;
  enum vv_outcome outcome = (counted ? exchange_counted : exchange_batch)(run, &elapsed_ns, error);
  outcome = vv_series_settle(&run->series, outcome, run->batch > 1, error);
  if (outcome == VV_OUTCOME_ANSWERED) *ns = (elapsed_ns + run->batch / 2) / run->batch;
  return outcome == VV_OUTCOME_FAILED ? -1 : outcome == VV_OUTCOME_ANSWERED;
}

/* Rule: singles, unless the clock's step is above 0.1 % or its reading above 2 % of one. */
static uint32_t batch_size(const struct vv_session *session, vv_ns rtt_ns) {
  vv_ns needed_ns = QUANTA_MIN * (session->clock.resolution_ns > 1 ? session->clock.resolution_ns : 0);
  vv_ns reading_ns = READINGS_MIN * session->clock.cost_ns;
  if (reading_ns > needed_ns) needed_ns = reading_ns;
  int64_t batch = (needed_ns + rtt_ns - 1) / rtt_ns;
  return batch < 1 ? 1 : batch > BATCH_MAX ? BATCH_MAX : (uint32_t)batch;
}

/* the cell ------------------------------------------------------------ */

struct pingpong_cell {
  size_t size_bytes;
  unsigned parts; /* that the stack measures such a message in */
  struct vv_warmup_warmth warmth;
  struct pingpong_run run; /* the measured one */
  vv_ns *rtt_ns;
  size_t count;
};

/* Until there are samples enough or the time is up, and at least one exchange. */
static int measure(struct pingpong_cell *cell, vv_ns deadline_ns, struct vv_error *error) {
  struct vv_session *session = cell->run.series.session;
  int64_t *room;
  do {
    if (cell->count % 4096 == 0) {
      room = realloc(cell->rtt_ns, (cell->count + 4096) * sizeof *room);
      if (!room) return vv_error_set(error, "no-memory", "no memory for %zu samples", cell->count);
      cell->rtt_ns = room;
    }
    int got = exchange(&cell->run, &cell->rtt_ns[cell->count], error);
    if (got < 0) return -1;
    cell->count += (size_t)got;
  } while (vv_probe_config_goes_on(session->config, cell->count, cell->run.series.lost,
                                   vv_session_clock_ns(session) < deadline_ns));
  return 0;
}

static void record_cpu(struct vv_record *record, const char *key, vv_ns cpu_ns, int64_t messages) {
  if (messages > 0)
    vv_record_int(record, key, (cpu_ns > 0 ? cpu_ns : 0) / messages);
  else
    vv_record_null(record, key);
}

/* A message measured in parts takes as long as all of them: the record holds what was measured and what follows. */
static void record_rtt(struct vv_record *record, const struct pingpong_cell *cell) {
  if (cell->parts > 1) {
    vv_record_int(record, "parts", cell->parts);
    vv_record_ints(record, "part_rtt_ns", cell->rtt_ns, cell->count);
    for (size_t i = 0; i < cell->count; i++) cell->rtt_ns[i] *= cell->parts;
  }
  vv_record_ints(record, "rtt_ns", cell->rtt_ns, cell->count);
}

static int print_cell(const struct pingpong_cell *cell, struct vv_error *error) {
  const struct pingpong_run *run = &cell->run;
  const struct vv_series *series = &run->series;
  struct vv_record record;
  vv_record_begin_cell(&record, "pingpong", cell->size_bytes, run->batch);
  record_rtt(&record, cell);
  vv_series_record(&record, series);
  vv_record_int(&record, "warmup", (int64_t)cell->warmth.exchanges + run->batch);
  vv_record_bool(&record, "warm", cell->warmth.warm);
  record_cpu(&record, "cpu_near_ns", run->cpu_ns, run->cpu_messages);
  record_cpu(&record, "cpu_far_ns", series->far_cpu_ns, series->far_messages);
  vv_cell_wire(&record, series->session->config, series->size_bytes, cell->parts, cell->parts);
  return vv_record_end(&record, error);
}

static void warn(const struct pingpong_cell *cell) {
  const struct pingpong_run *run = &cell->run;
  const struct vv_series *series = &run->series;
  if (cell->parts > 1) {
    vv_record_warning("measured-in-parts",
                      "%zu B: the far host does not answer such a message; it is taken as %u times one of %zu B, "
                      "which counts the latency %u times too",
                      cell->size_bytes, cell->parts, series->size_bytes, cell->parts);
  }
  if (run->batch > 1) {
    vv_record_warning("coarse-clock",
                      "%zu B: the clock is too coarse for one exchange; each sample is the mean of %" PRIu32,
                      series->size_bytes, run->batch);
  }
  if (series->corrupt > 0 || series->far_corrupt > 0) {
    vv_record_warning("corrupt", "%zu B: %" PRIu32 " answers were wrong here, %" PRId64 " messages at the far end",
                      series->size_bytes, series->corrupt, series->far_corrupt);
  }
}

/* The first exchange of a run comes after a pause: it belongs to the warm-up. */
static int measured_run(struct pingpong_cell *cell, vv_ns deadline_ns, struct vv_error *error) {
  struct pingpong_run *run = &cell->run;
  vv_ns first_ns;
  if (exchange(run, &first_ns, error) < 0) return -1;
  run->exchanges = 0;
  run->cpu_ns = run->cpu_messages = 0;
  run->series.answered = run->series.lost = run->series.late = run->series.corrupt = 0;
  if (measure(cell, deadline_ns, error) != 0) return -1;
  return vv_series_end(&run->series, error);
}

static int warm_run(struct vv_session *session, size_t size_bytes, struct vv_warmup_warmth *warmth,
                    struct vv_error *error) {
  struct pingpong_run run;
  int result = begin_run(&run, session, size_bytes, 1, 1, error);
  if (result == 0) result = vv_warmup(session, exchange, &run, warmth, error);
  if (result == 0) result = vv_series_end(&run.series, error);
  return result;
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  struct pingpong_cell cell = {.size_bytes = size_bytes, .parts = 1};
  if (session->stack->parts) cell.parts = session->stack->parts(session->end, size_bytes);
  size_t part_bytes = (size_bytes + cell.parts - 1) / cell.parts;
  vv_ns deadline_ns = vv_session_clock_ns(session) + session->config->cell_ns;
  if (warm_run(session, part_bytes, &cell.warmth, error) != 0) return -1;
  uint32_t batch = batch_size(session, cell.warmth.rtt_ns);
  int result = begin_run(&cell.run, session, part_bytes, batch, CHECK_EVERY * batch, error);
  if (result == 0) result = measured_run(&cell, deadline_ns, error);
  if (result == 0) result = print_cell(&cell, error);
  if (result == 0) warn(&cell);
  free(cell.rtt_ns);
  return result;
}

const struct vv_question vv_question_pingpong = {.id = "pingpong", .near = near_cell, .far = vv_answer_series};
