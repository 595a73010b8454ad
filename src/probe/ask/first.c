/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question first: what does the first message of a connection cost, and
 * what those after it?
 *
 * Each sample is a connection of its own: connecting, its first message there
 * and back, the second, one when both windows have grown, and one after a pause
 * in which TCP forgets them. Beside each stands how large the congestion window
 * of the near end is behind it. Then one more connection, which counts for
 * nothing, is looked at: both ends tell when which of its segments passed
 * (trace.h). Looking costs each segment a little, so nothing timed is looked at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/os/tcp.h"
#include "io/os/watch.h"
#include "probe/ask/question.h"
#include "probe/kit/answer.h"
#include "probe/kit/series.h"
#include "probe/kit/trace.h"
#include "probe/show/cell.h"

enum { GROWN = 8 }; /* that message is the warm one: until then a window of one segment has doubled often enough */
#define PAUSE_MORE_NS (20 * VV_MS) /* kernels count in ticks */

/* What is timed of a connection, and what comes after. */
enum first_part { CONNECT, FIRST, SECOND, WARM, IDLED, PARTS };
enum first_message { LOOKED_FIRST, LOOKED_SECOND, LOOKED_IDLED, LOOKED };

static const char *const part_names[PARTS] = {"connect", "first", "second", "warm", "idled"};

struct first_run {
  struct vv_session *session;
  struct vv_series series;
  vv_ns *ns[PARTS];
  int64_t *window[PARTS]; /* segments, behind it */
  int64_t *threshold;     /* segments, behind all; VV_INVENTORY_UNKNOWN */
  size_t count;
  int64_t initial_window; /* segments, of the connection that is open */
  vv_ns pause_ns;         /* the longest of all */
  int64_t resent;         /* by the near end */
  int64_t segment_bytes;
  uint32_t lost;          /* connections with a wrong answer */
  vv_ns began_ns[LOOKED]; /* CLOCK_REALTIME */
  struct vv_trace near, far;
};

static void note(struct first_run *run, enum first_part part, vv_ns ns) {
  struct vv_session *session = run->session;
  struct vv_tcp_state state;
  vv_tcp_read_state(session->stack->descriptor(session->end), &state);
  run->ns[part][run->count] = ns;
  run->window[part][run->count] = state.window_segments;
  if (part == IDLED) run->threshold[run->count] = state.threshold_segments;
  if (part == IDLED) run->resent += state.resent;
  run->segment_bytes = state.segment_bytes;
}

/*
 * Until TCP has forgotten its window. By RFC 5681 (4.1) it does so when nothing was sent for as long as it would wait
 * before it sends again; Linux halves it for each such time, down to the initial one.
 */
static int let_forget(struct first_run *run, struct vv_error *error) {
  struct vv_session *session = run->session;
  struct vv_tcp_state state;
  vv_tcp_read_state(session->stack->descriptor(session->end), &state);
  int64_t times = 1;
  for (int64_t window = state.window_segments; window > run->initial_window; window /= 2) times++;
  vv_ns pause_ns = times * state.resend_ns + PAUSE_MORE_NS;
  if (pause_ns > run->pause_ns) run->pause_ns = pause_ns;
  return vv_watch_sleep(vv_clock_ns() + pause_ns, error);
}

/* Both ends have new sockets. 0, or -1 and *error. */
static int connect_anew(struct first_run *run, vv_ns *ns, struct vv_error *error) {
  struct vv_session *session = run->session;
  struct vv_tcp_state state;
  if (vv_session_reopen(session, error) != 0) return -1;
  *ns = session->connect_ns;
  if (!vv_tcp_read_state(session->stack->descriptor(session->end), &state)) {
    vv_error_set(error, "no-tcp-state", "this system does not tell how its TCP connections stand (TCP_INFO)");
    return vv_error_remedy(error, "let a host that is not emulated be the near end");
  }
  run->initial_window = state.window_segments > 0 ? state.window_segments : 1;
  return 0;
}

/* One connection: 1; 0 when an answer was wrong, and it counts for nothing; -1 and *error. */
static int sample(struct first_run *run, struct vv_error *error) {
  vv_ns ns;
  int got = 1;
  if (connect_anew(run, &ns, error) != 0) return -1;
  note(run, CONNECT, ns);
  for (int message = 1; message <= GROWN && got > 0; message++) {
    got = vv_series_exchange(&run->series, &ns, error);
    if (got > 0 && message == 1) note(run, FIRST, ns);
    if (got > 0 && message == 2) note(run, SECOND, ns);
    if (got > 0 && message == GROWN) note(run, WARM, ns);
  }
  if (got > 0 && let_forget(run, error) != 0) return -1;
  if (got > 0) got = vv_series_exchange(&run->series, &ns, error);
  if (got > 0) note(run, IDLED, ns);
  return got;
}

/* A connection of one message, which is not counted: it finds nothing warm at all, not even the code. */
static int warm_up(struct first_run *run, struct vv_error *error) {
  vv_ns ns;
  if (connect_anew(run, &ns, error) != 0) return -1;
  return vv_series_exchange(&run->series, &ns, error) < 0 ? -1 : 0;
}

static int measure(struct first_run *run, struct vv_error *error) {
  const struct vv_probe_config *config = run->session->config;
  int got = warm_up(run, error);
  vv_ns deadline_ns = vv_clock_ns() + config->cell_ns;
  while (got >= 0 && vv_probe_config_goes_on(config, run->count, run->lost, vv_clock_ns() < deadline_ns)) {
    got = sample(run, error);
    run->count += got > 0;
    run->lost += got == 0;
  }
  return got < 0 ? -1 : 0;
}

/* series ---------------------------------------------------------------- */

static int begin(struct first_run *run, size_t size_bytes, bool looked_at, struct vv_error *error) {
  const struct vv_series_config config = {.verb = "first",
                                          .size_bytes = size_bytes,
                                          .check_every = 1,
                                          .train = 1,
                                          .more = looked_at ? " looked_at=1" : NULL};
  return vv_series_begin(&run->series, run->session, &config, error);
}

static int timed(struct first_run *run, size_t size_bytes, struct vv_error *error) {
  int result = begin(run, size_bytes, false, error);
  if (result == 0) result = measure(run, error);
  if (result == 0) result = vv_series_end(&run->series, error);
  return result;
}

/* The messages of a connection that is looked at. A wrong answer is seen by the record's count of them. */
static int look_at(struct first_run *run, struct vv_error *error) {
  vv_ns ns;
  if (connect_anew(run, &ns, error) != 0) return -1;
  for (int message = 0; message < LOOKED; message++) {
    if (message == LOOKED_IDLED && let_forget(run, error) != 0) return -1;
    run->began_ns[message] = vv_clock_real_ns();
    if (vv_series_exchange(&run->series, &ns, error) < 0) return -1;
  }
  return 0;
}

static int looked_at(struct first_run *run, size_t size_bytes, struct vv_error *error) {
  struct vv_session *session = run->session;
  struct vv_series kept = run->series;
  int result = begin(run, size_bytes, true, error);
  vv_trace_open(&run->near, session, 2 * LOOKED * size_bytes);
  if (result == 0) result = look_at(run, error);
  if (result == 0) vv_trace_end(&run->near, session->stack->descriptor(session->end));
  if (result == 0) result = vv_series_end(&run->series, error);
  if (result == 0) result = vv_trace_hear(&run->far, session, error);
  kept.answered += run->series.answered;
  kept.corrupt += run->series.corrupt;
  kept.far_corrupt += run->series.far_corrupt;
  run->series = kept;
  return result;
}

/* records ---------------------------------------------------------------- */

static int print_cell(const struct first_run *run, size_t size_bytes, struct vv_error *error) {
  struct vv_record record;
  vv_record_begin_cell(&record, "first", size_bytes, 1);
  for (int part = 0; part < PARTS; part++) {
    char key[16];
    snprintf(key, sizeof key, "%s_ns", part_names[part]);
    vv_record_ints(&record, key, run->ns[part], run->count);
  }
  vv_record_object(&record, "window_segments");
  for (int part = 0; part < PARTS; part++) {
    vv_record_ints(&record, part_names[part], run->window[part], run->count);
  }
  vv_record_object_end(&record);
  vv_record_array(&record, "threshold_segments");
  for (size_t i = 0; i < run->count; i++) vv_record_known(&record, NULL, run->threshold[i]);
  vv_record_array_end(&record);
  vv_record_int(&record, "pause_ns", run->pause_ns);
  vv_series_record(&record, &run->series);
  vv_record_array(&record, "resent");
  vv_record_int(&record, NULL, run->resent);
  vv_record_array_end(&record);
  vv_record_int(&record, "warmup", run->series.answered - (int64_t)run->count);
  vv_record_bool(&record, "warm", true);
  vv_record_null(&record, "cpu_near_ns");
  vv_record_null(&record, "cpu_far_ns");
  vv_cell_wire(&record, run->session->config, size_bytes, 1, 1);
  return vv_record_end(&record, error);
}

static int print_trace(const struct first_run *run, size_t size_bytes, struct vv_error *error) {
  struct vv_record record;
  vv_record_begin(&record, "trace");
  vv_record_text(&record, "ask", "first");
  vv_record_int(&record, "size_bytes", (int64_t)size_bytes);
  vv_record_int(&record, "segment_bytes", run->segment_bytes);
  vv_record_ints(&record, "began_ns", run->began_ns, LOOKED);
  vv_trace_record(&record, "near", &run->near);
  vv_trace_record(&record, "far", &run->far);
  return vv_record_end(&record, error);
}

static void warn(const struct first_run *run, size_t size_bytes) {
  const struct vv_trace *const traces[] = {&run->near, &run->far};
  static const char *const names[] = {"near", "far"};
  for (int i = 0; i < 2; i++) {
    if (traces[i]->why[0]) {
      vv_record_warning("no-trace", "%zu B: the %s end saw no segments: %s", size_bytes, names[i], traces[i]->why);
    } else if (traces[i]->dropped > 0) {
      vv_record_warning("trace-dropped", "%zu B: the %s end missed %lld segments", size_bytes, names[i],
                        (long long)traces[i]->dropped);
    }
  }
}

/* near ------------------------------------------------------------------- */

static int make_room(struct first_run *run, struct vv_error *error) {
  size_t count = run->session->config->samples;
  bool room = (run->threshold = malloc(count * sizeof *run->threshold)) != NULL;
  for (int part = 0; part < PARTS; part++) {
    run->ns[part] = malloc(count * sizeof *run->ns[part]);
    run->window[part] = malloc(count * sizeof *run->window[part]);
    room = room && run->ns[part] && run->window[part];
  }
  return room ? 0 : vv_error_set(error, "no-memory", "no memory for %zu connections", count);
}

static void free_room(struct first_run *run) {
  for (int part = 0; part < PARTS; part++) {
    free(run->ns[part]);
    free(run->window[part]);
  }
  free(run->threshold);
  vv_trace_free(&run->near);
  vv_trace_free(&run->far);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  struct first_run run = {.session = session};
  session->tally.unknown = true; /* what opens and closes connections is the kernel's affair */
  int result = make_room(&run, error);
  if (result == 0) result = timed(&run, size_bytes, error);
  if (result == 0) result = looked_at(&run, size_bytes, error);
  if (result == 0) result = print_cell(&run, size_bytes, error);
  if (result == 0) result = print_trace(&run, size_bytes, error);
  if (result == 0) warn(&run, size_bytes);
  free_room(&run);
  return result;
}

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  if (config->stack->own_tcp && config->idle_ns == 0) return 0;
  if (config->stack->own_tcp) {
    vv_error_set(error, "usage", "--ask first: its pause is as long as TCP wants it");
    return vv_error_remedy(error, "leave --idle-ms out");
  }
  vv_error_set(error, "usage", "--ask first: %s has no TCP connection of its own", config->stack->id);
  return vv_error_remedy(error, "ask tcp or tcp-nagle");
}

/* far -------------------------------------------------------------------- */

static int far_cell(struct vv_session *session, const char *line, struct vv_error *error) {
  char word[8];
  int64_t size_bytes;
  struct vv_trace trace = {.looks = false};
  session->tally.unknown = true;
  bool looked = vv_line_word(line, "looked_at", word, sizeof word);
  if (!session->stack->own_tcp || vv_control_number(line, "size_bytes", &size_bytes, error) != 0) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
  }
  bool sound = size_bytes >= 0 && (uint64_t)size_bytes <= session->size_bytes_max;
  if (looked && sound) vv_trace_open(&trace, session, 2 * LOOKED * (size_t)size_bytes);
  int result = vv_answer_series(session, line, error);
  if (looked && result == 0) {
    vv_trace_end(&trace, session->stack->descriptor(session->end));
    result = vv_trace_tell(&trace, session, error);
  }
  vv_trace_free(&trace);
  return result;
}

const struct vv_question vv_question_first = {.id = "first", .check = check, .near = near_cell, .far = far_cell};
