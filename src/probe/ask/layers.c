/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question layers: where does the time of a message go, layer by layer?
 *
 * Ping-pongs in two kinds of runs, in turn: plain ones, which tell how long the
 * whole takes, and marked ones, in which both ends note when each message passed
 * which layer (io/os/mark.h). That costs time of its own, so the plain runs are
 * what the parts must add up to. Marks of two hosts are compared: they must share
 * a clock, as those of a lab do.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/ask/question.h"
#include "probe/kit/answer.h"
#include "probe/kit/series.h"
#include "probe/kit/warmup.h"
#include "probe/show/cell.h"

enum { RUNS = 8, FIRST = 8, CHECK_EVERY = 16 }; /* the first exchanges of a run come after a pause */
static const vv_ns stamps_ns = 10 * VV_SEC;
enum layers_way { THERE, BACK, WAYS };

/* A layer is named after the mark that ends it. */
static const char *const way_names[WAYS] = {"there_ns", "back_ns"};
static const char *const mark_names[VV_MARKS] = {"given", "queued", "made", "device", "taken", "ready", "got"};

struct layers_run {
  struct vv_series series;
  struct vv_warmup_warmth warmth;
  const struct vv_marks *marks; /* the near end's, in a marked run */
  vv_ns *whole_ns, *marked_ns;
  size_t whole_count, marked_count;
  vv_ns deadline_ns;           /* of what runs now: each run has its share of the cell's time */
  struct vv_marks *near, *far; /* of each marked exchange */
  uint32_t lost, late, corrupt;
};

/* See vv_warmup_exchange_fn. */
static int exchange(void *context, vv_ns *ns, struct vv_error *error) {
  struct layers_run *run = context;
  return vv_series_exchange(&run->series, ns, error);
}

static int begin(struct layers_run *run, struct vv_session *session, size_t size_bytes, bool marked,
                 struct vv_error *error) {
  run->deadline_ns = vv_clock_ns() + session->config->cell_ns / (2 * RUNS);
  const struct vv_series_config config = {.verb = "layers",
                                          .size_bytes = size_bytes,
                                          .check_every = CHECK_EVERY,
                                          .train = 1,
                                          .more = marked ? " marked=1" : NULL};
  return vv_series_begin(&run->series, session, &config, error);
}

static void add_up(struct layers_run *run) {
  run->lost += run->series.lost;
  run->late += run->series.late;
  run->corrupt +=
      run->series.corrupt > run->series.far_corrupt ? run->series.corrupt : (uint32_t)run->series.far_corrupt;
}

/* Whether a run has an i-th exchange. Each has one behind the first ones, however late it is. */
static bool goes_on(const struct layers_run *run, size_t i, size_t count) {
  return i < FIRST + count && (i <= FIRST || vv_clock_ns() < run->deadline_ns);
}

static int warm_run(struct layers_run *run, struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  int result = begin(run, session, size_bytes, false, error);
  if (result == 0) result = vv_warmup(session, exchange, run, &run->warmth, error);
  if (result == 0) result = vv_series_end(&run->series, error);
  return result;
}

/* One plain run: `count` exchanges behind the first ones. */
static int plain_run(struct layers_run *run, struct vv_session *session, size_t size_bytes, size_t count,
                     struct vv_error *error) {
  vv_ns ns;
  int got = 0, result = begin(run, session, size_bytes, false, error);
  for (size_t i = 0; result == 0 && goes_on(run, i, count); i++) {
    got = exchange(run, &ns, error);
    if (got > 0 && i >= FIRST) run->whole_ns[run->whole_count++] = ns;
    if (got < 0) result = -1;
  }
  if (result == 0) result = vv_series_end(&run->series, error);
  add_up(run);
  return result;
}

static int hear_one(struct vv_session *session, struct vv_marks *marks, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  if (vv_session_expect(session, "passed", line, error) != 0) return -1;
  for (int mark = 0; mark < VV_MARKS; mark++) {
    if (vv_control_number(line, mark_names[mark], &marks->at_ns[mark], error) != 0) return -1;
  }
  return 0;
}

/* The far end's marks. Those of both ends belong together by their order: a stream loses no message. */
static int hear_marks(struct layers_run *run, struct vv_session *session, struct vv_marks *far,
                      struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  struct vv_marks unwanted;
  int64_t count;
  if (vv_session_expect(session, "marks", line, error) != 0) return -1;
  if (vv_control_number(line, "count", &count, error) != 0) return -1;
  for (int64_t i = 0; i < count; i++) {
    bool wanted = i >= FIRST && far + i - FIRST < run->far + run->marked_count;
    if (hear_one(session, wanted ? &far[i - FIRST] : &unwanted, error) != 0) return -1;
  }
  return 0;
}

static int marked_run(struct layers_run *run, struct vv_session *session, size_t size_bytes, size_t count,
                      struct vv_error *error) {
  struct vv_marks *near = run->near + run->marked_count, *far = run->far + run->marked_count;
  int result = begin(run, session, size_bytes, true, error);
  const struct vv_marks *marks = session->stack->mark(session->end, true);
  for (size_t i = 0; result == 0 && goes_on(run, i, count); i++) {
    vv_ns ns;
    if (exchange(run, &ns, error) < 0) result = -1;
    if (i < FIRST) continue;
    run->marked_ns[run->marked_count++] = ns;
    near[i - FIRST] = *marks;
  }
  session->stack->mark(session->end, false);
  if (result == 0) result = vv_series_end(&run->series, error);
  if (result == 0) result = hear_marks(run, session, far, error);
  add_up(run);
  return result;
}

/* Marked runs that do not count, until the kernel has begun to stamp frames: it does so when it has time. */
static int await_stamps(struct layers_run *run, struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  vv_ns until_ns = vv_clock_ns() + stamps_ns;
  bool stamped = false;
  int result = 0;
  while (result == 0 && !stamped && vv_clock_ns() < until_ns) {
    run->marked_count = 0;
    result = marked_run(run, session, size_bytes, 1, error);
    stamped = run->near[0].at_ns[VV_MARK_DEVICE] != 0 && run->far[0].at_ns[VV_MARK_DEVICE] != 0;
  }
  run->marked_count = 0;
  if (result != 0 || stamped) return result;
  vv_error_set(error, "no-stamps", "layers: the kernel says of no frame when it came");
  return vv_error_remedy(error, "ask on a kernel that stamps what it receives; qemu's user mode does not pass that on");
}

/*
 * A frame may have no stamp, and the far end has not told of each last message. Only exchanges of
 * which everything is known count: all that has been seen of any.
 */
static void drop_incomplete(struct layers_run *run) {
  bool near_has[VV_MARKS] = {false}, far_has[VV_MARKS] = {false};
  for (size_t i = 0; i < run->marked_count; i++) {
    for (int mark = 0; mark < VV_MARKS; mark++) {
      near_has[mark] |= run->near[i].at_ns[mark] != 0;
      far_has[mark] |= run->far[i].at_ns[mark] != 0;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < run->marked_count; i++) {
    bool whole = true;
    for (int mark = 0; mark < VV_MARKS; mark++) {
      whole &= (run->near[i].at_ns[mark] != 0) == near_has[mark] && (run->far[i].at_ns[mark] != 0) == far_has[mark];
    }
    if (!whole) continue;
    run->near[kept] = run->near[i];
    run->far[kept] = run->far[i];
    run->marked_ns[kept++] = run->marked_ns[i];
  }
  run->marked_count = kept;
}

/* the record ----------------------------------------------------------- */

/* When the message passed that mark, on its way there or back: the first three are noted by its sender. */
static vv_ns at_ns(const struct layers_run *run, size_t i, enum layers_way way, int mark) {
  bool near = (way == THERE) == (mark < VV_MARKS_SENT);
  return (near ? run->near : run->far)[i].at_ns[mark];
}

static void record_way(struct vv_record *record, const struct layers_run *run, enum layers_way way, vv_ns *ns) {
  int before = VV_MARK_GIVEN;
  vv_record_object(record, way_names[way]);
  for (int mark = VV_MARK_QUEUED; mark < VV_MARKS; mark++) {
    if (at_ns(run, 0, way, mark) == 0) continue;
    for (size_t i = 0; i < run->marked_count; i++) ns[i] = at_ns(run, i, way, mark) - at_ns(run, i, way, before);
    vv_record_ints(record, mark_names[mark], ns, run->marked_count);
    before = mark;
  }
  vv_record_object_end(record);
}

static void record_limits(struct vv_record *record, const struct vv_session *session) {
  struct vv_limits limits = session->stack->limits(session->end);
  vv_record_object(record, "limits");
  vv_record_int(record, "sequence", (int64_t)limits.sequence);
  vv_record_int(record, "window", (int64_t)limits.window);
  vv_record_int(record, "services", limits.services);
  vv_record_int(record, "free_services", limits.free);
  vv_record_int(record, "unit_bytes", limits.unit_bytes);
  vv_record_object_end(record);
}

static int print_cell(const struct layers_run *run, vv_ns *ns, struct vv_error *error) {
  const struct vv_session *session = run->series.session;
  struct vv_record record;
  vv_record_begin_cell(&record, "layers", run->series.size_bytes, 1);
  vv_record_ints(&record, "rtt_ns", run->whole_ns, run->whole_count);
  vv_record_ints(&record, "marked_ns", run->marked_ns, run->marked_count);
  record_way(&record, run, THERE, ns);
  for (size_t i = 0; i < run->marked_count; i++) {
    ns[i] = run->far[i].at_ns[VV_MARK_GIVEN] - run->far[i].at_ns[VV_MARK_GOT];
  }
  vv_record_ints(&record, "far_ns", ns, run->marked_count);
  record_way(&record, run, BACK, ns);
  record_limits(&record, session);
  vv_record_int(&record, "lost", run->lost);
  vv_record_int(&record, "late", run->late);
  vv_record_int(&record, "warmup", run->warmth.exchanges);
  vv_record_bool(&record, "warm", run->warmth.warm);
  vv_record_int(&record, "corrupt", run->corrupt);
  vv_record_null(&record, "cpu_near_ns");
  vv_record_null(&record, "cpu_far_ns");
  vv_cell_wire(&record, session->config, run->series.size_bytes, 1, 1);
  return vv_record_end(&record, error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  size_t each = session->config->samples / RUNS;
  if (each + FIRST > VV_ANSWER_MARKED_MAX) each = VV_ANSWER_MARKED_MAX - FIRST;
  if (each == 0) each = 1;
  struct layers_run run = {.series = {.session = session}};
  vv_ns *ns = calloc(3 * RUNS * each, sizeof *ns);
  struct vv_marks *marks = calloc(2 * RUNS * each, sizeof *marks);
  int result = ns && marks ? 0 : vv_error_set(error, "no-memory", "no memory for the samples");
  run.whole_ns = ns;
  run.marked_ns = ns + RUNS * each;
  run.near = marks;
  run.far = marks + RUNS * each;
  if (result == 0) result = warm_run(&run, session, size_bytes, error);
  if (result == 0) result = await_stamps(&run, session, size_bytes, error);
  for (int i = 0; i < RUNS && result == 0; i++) {
    result = plain_run(&run, session, size_bytes, each, error);
    if (result == 0) result = marked_run(&run, session, size_bytes, each, error);
  }
  drop_incomplete(&run);
  if (result == 0) result = print_cell(&run, ns + 2 * RUNS * each, error);
  free(marks);
  free(ns);
  return result;
}

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  if (!config->stack->mark) {
    vv_error_set(error, "usage", "--ask layers: %s cannot tell when a message passes which layer", config->stack->id);
    return vv_error_remedy(error, "ask llc, llc-jumbo or tcp");
  }
  if (config->one_clock) return 0;
  vv_error_set(error, "usage", "--ask layers compares times of two hosts, which must share a clock");
  return vv_error_remedy(error, "if they do, as on a lab: --one-clock");
}

const struct vv_question vv_question_layers = {
    .id = "layers", .check = check, .near = near_cell, .far = vv_answer_series};
