/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/duets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/os/watch.h"
#include "probe/kit/answer.h"
#include "probe/kit/mesh.h"
#include "probe/kit/series.h"
#include "probe/show/cell.h"

#define CHECK_EVERY 16
#define WARM_UP     32    /* exchanges before it is ready, if a quarter of the cell's time is enough */
#define WARM_SHARE  4     /* of that time */
#define LOOK_NS     VV_MS /* how often an end that asks looks for a line */
#define TOOK_BYTES  900   /* of the numbers in a line */
#define PAIRS_MAX   (VV_MESH_MAX / 2)

/* What an end that asks has to say of a size, and what it knows of the one that answers. */
struct duet_report {
  vv_ns *rtt_ns; /* whoever made the report frees them */
  int64_t count;
  int64_t lost;
  int64_t late;
  int64_t corrupt;
  int64_t warmup;
  vv_ns cpu_ns;
  vv_ns far_cpu_ns;
  int64_t far_messages;
  int64_t far_corrupt;
};

/* Looks for what the near end, or the others, have said. 1: they have; 0: not yet; -1 and *error. */
typedef int duet_look_fn(void *context, const char *verb, struct vv_error *error);

struct duet {
  struct vv_session *session;
  const struct vv_probe_config *effort;
  struct vv_series series;
  struct duet_report *report;
  duet_look_fn *look;
  void *context;
};

static struct vv_mesh mesh; /* lasts as long as the launch */

int vv_duets_check(const struct vv_probe_config *config, const char *verb, struct vv_error *error) {
  const struct vv_stack *stack = config->stack;
  if (!stack->alone && !stack->kernel_echo && !stack->to_all) return 0;
  vv_error_set(error, "usage", "--ask %s: %s has no far end of its own for each", verb, stack->id);
  return vv_error_remedy(error, "ask eth, udp, tcp, or openmpi, mpich or pvm-... without a broadcast");
}

/* an end that asks ------------------------------------------------------ */

/* Exchanges that do not count, until that was said. 0, or -1 and *error. */
static int go_on(struct duet *duet, const char *verb, struct vv_error *error) {
  vv_ns look_ns = 0, ns;
  for (;;) {
    vv_ns now_ns = vv_clock_ns();
    if (now_ns >= look_ns) {
      int said = duet->look(duet->context, verb, error);
      if (said != 0) return said < 0 ? -1 : 0;
      look_ns = now_ns + LOOK_NS;
    }
    if (vv_series_exchange(&duet->series, &ns, error) < 0) return -1;
  }
}

static int warm_up(struct duet *duet, struct vv_error *error) {
  struct duet_report *report = duet->report;
  vv_ns until_ns = vv_clock_ns() + duet->effort->cell_ns / WARM_SHARE, ns;
  do {
    if (vv_series_exchange(&duet->series, &ns, error) < 0) return -1;
  } while (++report->warmup < WARM_UP && vv_clock_ns() < until_ns);
  return 0;
}

static int sample(struct duet *duet, struct vv_error *error) {
  struct duet_report *report = duet->report;
  struct vv_series *series = &duet->series;
  vv_ns deadline_ns = vv_clock_ns() + duet->effort->cell_ns, cpu_start_ns = vv_clock_cpu_ns();
  series->lost = series->late = series->corrupt = 0;
  do {
    int got = vv_series_exchange(series, &report->rtt_ns[report->count], error);
    if (got < 0) return -1;
    report->count += got;
  } while (vv_probe_config_goes_on(duet->effort, (uint64_t)report->count, series->lost, vv_clock_ns() < deadline_ns));
  report->cpu_ns = vv_clock_cpu_ns() - cpu_start_ns;
  report->lost = series->lost;
  report->late = series->late;
  report->corrupt = series->corrupt;
  return 0;
}

/* Room for the samples of so many reports, one behind the other. Free it. NULL and *error: there is none. */
static vv_ns *room_for(size_t reports, uint32_t samples, struct vv_error *error) {
  vv_ns *room = calloc(reports * samples, sizeof *room);
  if (!room) vv_error_set(error, "no-memory", "no memory for %" PRIu32 " samples", samples);
  return room;
}

/* The end of the stack that leads to the partner is the session's while it asks or answers. */
static struct vv_end *exchange_end(struct vv_session *session, struct vv_end *end) {
  struct vv_end *before = session->end;
  session->end = end;
  return before;
}

/* far: asks ------------------------------------------------------------- */

static int hear_near(void *context, const char *verb, struct vv_error *error) {
  struct vv_session *session = context;
  char line[VV_LINE_BYTES_MAX];
  int got = vv_control_take(&session->control, line, error);
  if (got <= 0 || vv_line_is(line, verb)) return got;
  return vv_error_set(error, "bad-control", "the near end said \"%.80s\" instead of %s", line, verb);
}

static int tell_times(struct vv_control *control, const struct duet_report *report, struct vv_error *error) {
  char words[VV_LINE_BYTES_MAX];
  size_t used = 0;
  for (int64_t i = 0; i < report->count; i++) {
    used += (size_t)snprintf(words + used, sizeof words - used, "%s%" PRId64, used > 0 ? "," : "", report->rtt_ns[i]);
    if (used < TOOK_BYTES && i + 1 < report->count) continue;
    if (vv_control_send(control, error, "took ns=%s", words) != 0) return -1;
    used = 0;
  }
  return 0;
}

static int tell(struct vv_control *control, const struct duet_report *report, struct vv_error *error) {
  if (vv_control_send(control, error,
                      "told count=%" PRId64 " lost=%" PRId64 " late=%" PRId64 " corrupt=%" PRId64 " warmup=%" PRId64
                      " cpu_ns=%" PRId64,
                      report->count, report->lost, report->late, report->corrupt, report->warmup,
                      report->cpu_ns) != 0) {
    return -1;
  }
  return tell_times(control, report, error);
}

static int ask_until_stopped(struct duet *duet, struct vv_error *error) {
  struct vv_control *control = &duet->session->control;
  if (warm_up(duet, error) != 0 || vv_control_send(control, error, "ready") != 0) return -1;
  if (go_on(duet, "sample", error) != 0 || sample(duet, error) != 0) return -1;
  if (vv_control_send(control, error, "enough") != 0 || go_on(duet, "stop", error) != 0) return -1;
  if (vv_series_end(&duet->series, error) != 0) return -1;
  return tell(control, duet->report, error);
}

/* The effort that the near end has in mind. 0, or -1 and *error. */
static int read_effort(const char *line, struct vv_probe_config *effort, vv_ns *check_ns, struct vv_error *error) {
  int64_t samples, samples_min;
  if (vv_control_number(line, "check_ns", check_ns, error) != 0 ||
      vv_control_number(line, "samples", &samples, error) != 0 ||
      vv_control_number(line, "samples_min", &samples_min, error) != 0 ||
      vv_control_number(line, "cell_ns", &effort->cell_ns, error) != 0) {
    return -1;
  }
  if (samples < 1 || samples > VV_PROBE_SAMPLES_MAX || samples_min < 0 || samples_min > VV_PROBE_SAMPLES_MAX) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
  }
  effort->samples = (uint32_t)samples;
  effort->samples_min = (uint32_t)samples_min;
  return 0;
}

static int far_asks(struct vv_session *session, const char *line, size_t size_bytes, struct vv_error *error) {
  struct vv_series_config config = {.size_bytes = size_bytes, .told = true};
  struct vv_probe_config effort = {0};
  struct duet_report report = {0};
  struct duet duet = {.session = session, .effort = &effort, .report = &report, .look = hear_near, .context = session};
  if (read_effort(line, &effort, &config.check_ns, error) != 0) return -1;
  report.rtt_ns = room_for(1, effort.samples, error);
  if (!report.rtt_ns) return -1;
  int result = vv_series_begin(&duet.series, session, &config, error);
  if (result == 0) result = ask_until_stopped(&duet, error);
  free(report.rtt_ns);
  return result;
}

/* far ------------------------------------------------------------------- */

/* Lines until the cell is over. */
static int serve(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  for (;;) {
    if (vv_control_receive(&session->control, line, VV_NEVER, error) != 0) return -1;
    int served = vv_mesh_serve(&mesh, line, error);
    if (served < 0) return -1;
    if (served == 0) break;
  }
  struct vv_end *end = mesh.ends[vv_mesh_partner(mesh.number)];
  bool asks = vv_line_is(line, "ask");
  if (!end || (!asks && !vv_line_is(line, "answer"))) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\" to one of a pair", line);
  }
  end = exchange_end(session, end);
  int result = asks ? far_asks(session, line, size_bytes, error) : vv_answer_series(session, line, error);
  exchange_end(session, end);
  return result;
}

int vv_duets_far(struct vv_session *session, const char *line, struct vv_error *error) {
  int64_t size_bytes, size_bytes_max, number, ends;
  if (vv_control_number(line, "size_bytes", &size_bytes, error) != 0 ||
      vv_control_number(line, "size_bytes_max", &size_bytes_max, error) != 0 ||
      vv_control_number(line, "number", &number, error) != 0 || vv_control_number(line, "ends", &ends, error) != 0) {
    return -1;
  }
  bool sound = size_bytes >= 0 && size_bytes <= size_bytes_max && size_bytes_max <= VV_PROBE_SIZE_BYTES_MAX &&
               ends >= 2 && ends <= VV_MESH_MAX && ends % 2 == 0 && number >= 1 && number < ends;
  if (!sound) return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
  session->size_bytes_max = (size_t)size_bytes_max;
  if (mesh.count == 0) {
    mesh = (struct vv_mesh){.session = session, .number = (size_t)number, .count = (size_t)ends, .in_pairs = true};
  }
  if (vv_control_send(&session->control, error, "go") != 0) return -1;
  return serve(session, (size_t)size_bytes, error);
}

/* near: the others ------------------------------------------------------ */

/* What the near end knows of a cell. Pair number p is that of ends 2p and 2p + 1. */
struct duets {
  struct vv_session *session;
  struct vv_fars *fars;
  const char *verb;
  size_t size_bytes;
  size_t pairs;
  vv_ns check_ns[PAIRS_MAX];
  bool has_said[PAIRS_MAX]; /* what the near end waits for */
  vv_ns began_ns;           /* all of them run, and are told to take samples */
  vv_ns ended_ns;           /* all of them still run, and are told to stop */
  struct duet_report reports[PAIRS_MAX];
};

static struct vv_session *end_of(const struct duets *duets, size_t number) {
  return duets->fars->ends[number - 1].session;
}

/* What has come from far end `number`, which may say `verb` now; NULL: nothing. 1, 0, or -1 and *error. */
static int hear_one(const struct duets *duets, size_t number, const char *verb, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  int got = vv_control_take(&end_of(duets, number)->control, line, error);
  if (got <= 0 || (verb && vv_line_is(line, verb))) return got;
  return vv_error_set(error, "bad-control", "far end %zu said \"%.80s\" unasked", number, line);
}

static int hear_all(void *context, const char *verb, struct vv_error *error) {
  struct duets *duets = context;
  bool all = true;
  for (size_t pair = 0; pair < duets->pairs; pair++) {
    if (hear_one(duets, 2 * pair + 1, NULL, error) < 0) return -1;
    if (pair == 0 || duets->has_said[pair]) continue;
    int got = hear_one(duets, 2 * pair, verb, error);
    if (got < 0) return -1;
    duets->has_said[pair] = got > 0;
    all = all && got > 0;
  }
  return all;
}

/* Says the same to each that asks. */
static int say(struct duets *duets, const char *verb, struct vv_error *error) {
  for (size_t pair = 1; pair < duets->pairs; pair++) {
    duets->has_said[pair] = false;
    if (vv_control_send(&end_of(duets, 2 * pair)->control, error, "%s", verb) != 0) return -1;
  }
  return 0;
}

static int begin_cell(struct duets *duets, struct vv_error *error) {
  struct vv_session *session = duets->session;
  char line[VV_LINE_BYTES_MAX];
  size_t ends = 2 * duets->pairs;
  for (size_t i = 1; i < ends; i++) {
    if (vv_control_send(&end_of(duets, i)->control, error, "%s size_bytes=%zu size_bytes_max=%zu number=%zu ends=%zu",
                        duets->verb, duets->size_bytes, session->size_bytes_max, i, ends) != 0 ||
        vv_session_expect(end_of(duets, i), "go", line, error) != 0) {
      return -1;
    }
  }
  if (mesh.count > 0) return 0;
  mesh = (struct vv_mesh){.session = session, .count = ends, .in_pairs = true};
  return vv_mesh_join(&mesh, duets->fars, error);
}

/* Those that answer first: then whoever is asked is there. */
static int begin_pairs(struct duets *duets, struct vv_error *error) {
  const struct vv_probe_config *config = duets->session->config;
  char line[VV_LINE_BYTES_MAX];
  for (size_t pair = 0; pair < duets->pairs; pair++) {
    struct vv_session *far = end_of(duets, 2 * pair + 1);
    if (vv_control_send(&far->control, error, "answer size_bytes=%zu check_every=%d train=1", duets->size_bytes,
                        CHECK_EVERY) != 0 ||
        vv_session_expect(far, "go", line, error) != 0 ||
        vv_control_number(line, "check_ns", &duets->check_ns[pair], error) != 0) {
      return -1;
    }
  }
  for (size_t pair = 1; pair < duets->pairs; pair++) {
    if (vv_control_send(&end_of(duets, 2 * pair)->control, error,
                        "ask check_ns=%" PRId64 " samples=%" PRIu32 " samples_min=%" PRIu32 " cell_ns=%" PRId64,
                        duets->check_ns[pair], config->samples, config->samples_min, config->cell_ns) != 0) {
      return -1;
    }
  }
  return 0;
}

/* The times in a line `took`; false: these are none, or more than were told of. */
static bool read_times(const char *line, struct duet_report *report, int64_t count) {
  char words[VV_LINE_BYTES_MAX];
  if (!vv_line_is(line, "took") || !vv_line_word(line, "ns", words, sizeof words)) return false;
  for (char *at = words, *end; *at; at = end + (*end == ',')) {
    vv_ns ns = strtoll(at, &end, 10);
    if (end == at || (*end && *end != ',') || ns < 0 || report->count == count) return false;
    report->rtt_ns[report->count++] = ns;
  }
  return true;
}

static int hear_times(const struct duets *duets, size_t pair, struct duet_report *report, int64_t count,
                      struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  while (report->count < count) {
    if (vv_session_expect(end_of(duets, 2 * pair), "took", line, error) != 0) return -1;
    if (!read_times(line, report, count)) {
      return vv_error_set(error, "bad-control", "far end %zu said \"%.80s\"", 2 * pair, line);
    }
  }
  return 0;
}

/* Numbers of a line that may be added up over all pairs. */
static int read_count(const char *line, const char *name, int64_t *value, struct vv_error *error) {
  if (vv_control_number(line, name, value, error) != 0) return -1;
  if (*value >= 0 && *value <= VV_LINE_NUMBER_MAX / PAIRS_MAX) return 0;
  return vv_error_set(error, "bad-control", "a far end said \"%.80s\"", line);
}

static int hear_report(const struct duets *duets, size_t pair, struct duet_report *report, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  int64_t count;
  if (vv_session_expect(end_of(duets, 2 * pair), "told", line, error) != 0 ||
      read_count(line, "count", &count, error) != 0 || read_count(line, "lost", &report->lost, error) != 0 ||
      read_count(line, "late", &report->late, error) != 0 ||
      read_count(line, "corrupt", &report->corrupt, error) != 0 ||
      read_count(line, "warmup", &report->warmup, error) != 0 ||
      read_count(line, "cpu_ns", &report->cpu_ns, error) != 0) {
    return -1;
  }
  if (count > duets->session->config->samples) {
    return vv_error_set(error, "bad-control", "far end %zu has %" PRId64 " samples", 2 * pair, count);
  }
  return hear_times(duets, pair, report, count, error);
}

static int hear_answerer(const struct duets *duets, size_t pair, struct duet_report *report, struct vv_error *error) {
  struct vv_session *far = end_of(duets, 2 * pair + 1);
  char line[VV_LINE_BYTES_MAX];
  if (vv_control_send(&far->control, error, "end") != 0 || vv_session_expect(far, "done", line, error) != 0 ||
      read_count(line, "messages", &report->far_messages, error) != 0 ||
      read_count(line, "corrupt", &report->far_corrupt, error) != 0) {
    return -1;
  }
  return read_count(line, "cpu_ns", &report->far_cpu_ns, error);
}

/* near: itself ---------------------------------------------------------- */

static int ask_with_the_others(struct duets *duets, struct duet *duet, struct vv_error *error) {
  if (warm_up(duet, error) != 0 || go_on(duet, "ready", error) != 0) return -1;
  duets->began_ns = vv_clock_ns();
  if (say(duets, "sample", error) != 0 || sample(duet, error) != 0 || go_on(duet, "enough", error) != 0) return -1;
  duets->ended_ns = vv_clock_ns();
  return say(duets, "stop", error);
}

static int near_asks(struct duets *duets, struct vv_error *error) {
  struct vv_session *session = duets->session;
  const struct vv_series_config config = {
      .size_bytes = duets->size_bytes, .told = true, .check_ns = duets->check_ns[0]};
  struct duet duet = {
      .session = session, .effort = session->config, .report = &duets->reports[0], .look = hear_all, .context = duets};
  struct vv_end *end = exchange_end(session, mesh.ends[vv_mesh_partner(0)]);
  int result = vv_series_begin(&duet.series, session, &config, error);
  if (result == 0) result = ask_with_the_others(duets, &duet, error);
  if (result == 0) result = vv_series_end(&duet.series, error);
  exchange_end(session, end);
  return result;
}

static int run_cell(struct duets *duets, struct vv_error *error) {
  if (begin_cell(duets, error) != 0 || begin_pairs(duets, error) != 0 || near_asks(duets, error) != 0) return -1;
  for (size_t pair = 1; pair < duets->pairs; pair++) {
    if (hear_report(duets, pair, &duets->reports[pair], error) != 0) return -1;
  }
  for (size_t pair = 0; pair < duets->pairs; pair++) {
    if (hear_answerer(duets, pair, &duets->reports[pair], error) != 0) return -1;
  }
  return 0;
}

/* near: the record ------------------------------------------------------ */

/* The hosts of the ends of pairs, of the first or the second one of each. */
static void record_hosts(struct vv_record *record, const char *key, const struct duets *duets, size_t first) {
  char host[VV_ADDRESS_TEXT_MAX];
  vv_record_array(record, key);
  for (size_t number = first; number < 2 * duets->pairs; number += 2) {
    const struct vv_address *address = number == 0 ? &duets->session->own : &end_of(duets, number)->peer;
    vv_address_format_host(address, host);
    vv_record_text(record, NULL, host);
  }
  vv_record_array_end(record);
}

static void record_times(struct vv_record *record, const struct duets *duets) {
  vv_record_array(record, "each_ns");
  for (size_t pair = 0; pair < duets->pairs; pair++) {
    vv_record_ints(record, NULL, duets->reports[pair].rtt_ns, (size_t)duets->reports[pair].count);
  }
  vv_record_array_end(record);
  vv_record_array(record, "rtt_ns");
  for (size_t pair = 0; pair < duets->pairs; pair++) {
    const struct duet_report *report = &duets->reports[pair];
    for (int64_t i = 0; i < report->count; i++) vv_record_int(record, NULL, report->rtt_ns[i]);
  }
  vv_record_array_end(record);
  vv_record_array(record, "began_ns");
  for (size_t pair = 0; pair < duets->pairs; pair++) vv_record_int(record, NULL, duets->began_ns);
  vv_record_array_end(record);
  vv_record_array(record, "ended_ns");
  for (size_t pair = 0; pair < duets->pairs; pair++) vv_record_int(record, NULL, duets->ended_ns);
  vv_record_array_end(record);
}

/* All pairs together; of the warm-up the shortest. */
static struct duet_report sum_of(const struct duets *duets) {
  struct duet_report all = {.warmup = duets->reports[0].warmup};
  for (size_t pair = 0; pair < duets->pairs; pair++) {
    const struct duet_report *one = &duets->reports[pair];
    all.count += one->count;
    all.lost += one->lost;
    all.late += one->late;
    all.corrupt += one->corrupt > one->far_corrupt ? one->corrupt : one->far_corrupt;
    all.cpu_ns += one->cpu_ns;
    all.far_cpu_ns += one->far_cpu_ns;
    all.far_messages += one->far_messages;
    if (one->warmup < all.warmup) all.warmup = one->warmup;
  }
  return all;
}

static int print_cell(const struct duets *duets, struct vv_error *error) {
  struct duet_report all = sum_of(duets);
  struct vv_record record;
  vv_record_begin_cell(&record, duets->verb, duets->size_bytes, 1);
  record_hosts(&record, "from", duets, 0);
  record_hosts(&record, "far", duets, 1);
  record_times(&record, duets);
  vv_record_int(&record, "lost", all.lost);
  vv_record_int(&record, "late", all.late);
  vv_record_int(&record, "warmup", all.warmup);
  vv_record_bool(&record, "warm", all.warmup == WARM_UP);
  vv_record_int(&record, "corrupt", all.corrupt);
  vv_record_int(&record, "cpu_near_ns", all.count > 0 ? all.cpu_ns / all.count : 0);
  vv_record_int(&record, "cpu_far_ns", all.far_messages > 0 ? all.far_cpu_ns / all.far_messages : 0);
  vv_cell_wire(&record, duets->session->config, duets->size_bytes, 1, 1);
  return vv_record_end(&record, error);
}

int vv_duets_cell(struct vv_session *session, const char *verb, size_t size_bytes, struct vv_error *error) {
  static struct duets duets;
  duets = (struct duets){.session = session, .verb = verb, .size_bytes = size_bytes};
  if (vv_mesh_check_pairs(session->config->also_count + 2, verb, error) != 0) return -1;
  duets.fars = vv_fars_meet(session, false, error);
  if (!duets.fars) return -1;
  duets.pairs = (duets.fars->count + 1) / 2;
  const uint32_t samples = session->config->samples;
  vv_ns *room = room_for(duets.pairs, samples, error);
  if (!room) return -1;
  for (size_t pair = 0; pair < duets.pairs; pair++) duets.reports[pair].rtt_ns = room + pair * samples;
  int result = run_cell(&duets, error);
  if (result == 0) result = print_cell(&duets, error);
  free(room);
  return result;
}

void vv_duets_finish(void) {
  if (mesh.count > 0) vv_mesh_part(&mesh);
  vv_fars_part();
}
