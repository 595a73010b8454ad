/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question pingpongs: a ping-pong with each far end, all at once. What does
 * one take when others share hosts and wire with it?
 *
 * Each is a process of its own, as they would be in a program: the near end
 * forks one for every far end, which asks its sizes one after the other. They
 * begin every size together, go on until all have samples enough, and say when
 * they began and ended: that they overlapped is shown, not hoped for.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/os/watch.h"
#include "probe/ask/question.h"
#include "probe/kit/answer.h"
#include "probe/kit/series.h"
#include "probe/link/fars.h"
#include "probe/show/cell.h"

#define CHECK_EVERY 16
#define WARM_UP     32           /* exchanges before the begin */
#define LOOK_NS     (50 * VV_US) /* how often those that wait look whether the others are there */
#define TICK_NS     (5 * VV_MS)  /* of a process's own signals: forks do not inherit the timer */

/* What one of them has to say of a size. */
struct report {
  vv_ns began_ns;
  vv_ns ended_ns;
  uint32_t count;
  uint32_t lost;
  uint32_t late;
  uint32_t corrupt;
  vv_ns cpu_ns;
  vv_ns far_cpu_ns;
  int64_t far_messages;
  uint64_t given; /* and what it took, warm-up and all */
  uint64_t taken;
};

/* Shared by the near end and its processes. Meeting number n is over when all of them have come n times. */
struct shared {
  atomic_uint arrived;
  atomic_uint begun;     /* are at this size */
  atomic_uint satisfied; /* have samples enough of it */
  atomic_bool failing;   /* somebody writes the first error, */
  atomic_bool failed;    /* which all may read now */
  char code[32];
  char text[256];
  struct report reports[VV_FARS_MAX];
  vv_ns rtt_ns[]; /* samples of each, one after the other */
};

static struct {
  struct shared *shared;
  size_t bytes;
  pid_t pids[VV_FARS_MAX];
  size_t count;
  unsigned met;
  size_t size; /* of config->sizes */
} party;

static void fail(struct shared *shared, const struct vv_error *error) {
  if (atomic_exchange(&shared->failing, true)) return;
  snprintf(shared->code, sizeof shared->code, "%s", error->code);
  snprintf(shared->text, sizeof shared->text, "%s", error->text);
  atomic_store(&shared->failed, true);
}

/* A process that has ended in the middle never comes to a meeting. */
static bool somebody_died(void) {
  for (size_t i = 0; i < party.count; i++) {
    int status;
    if (party.pids[i] <= 0 || waitpid(party.pids[i], &status, WNOHANG) != party.pids[i]) continue;
    party.pids[i] = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return true;
  }
  return false;
}

/* Waits for all others. 0, or -1 and *error. */
static int meet(struct vv_error *error) {
  struct shared *shared = party.shared;
  unsigned everybody = ++party.met * (unsigned)(party.count + 1);
  atomic_fetch_add(&shared->arrived, 1);
  while (atomic_load(&shared->arrived) < everybody) {
    if (vv_watch_sleep(vv_clock_ns() + LOOK_NS, error) != 0) return -1;
    if (somebody_died() && !atomic_load(&shared->failed)) {
      struct vv_error gone;
      vv_error_set(&gone, "probe-gone", "one of the processes has ended");
      fail(shared, &gone);
    }
    if (atomic_load(&shared->failed)) return vv_error_set(error, "peer-gone", "another ping-pong has failed");
  }
  return 0;
}

/* one ping-pong -------------------------------------------------------- */

struct pingpong {
  struct vv_session *session;
  struct vv_series series;
  struct report *report;
  vv_ns *rtt_ns;
};

/* Exchanges that do not count, until so many have come as far. */
static int go_on(struct pingpong *own, atomic_uint *others, struct vv_error *error) {
  vv_ns ns;
  while (atomic_load(others) < party.count && !atomic_load(&party.shared->failed)) {
    if (vv_series_exchange(&own->series, &ns, error) < 0) return -1;
  }
  return 0;
}

static int sample(struct pingpong *own, struct vv_error *error) {
  struct report *report = own->report;
  const struct vv_probe_config *config = own->session->config;
  vv_ns deadline_ns = vv_clock_ns() + config->cell_ns, cpu_start_ns = vv_clock_cpu_ns();
  own->series.lost = own->series.late = own->series.corrupt = 0;
  do {
    int got = vv_series_exchange(&own->series, &own->rtt_ns[report->count], error);
    if (got < 0) return -1;
    report->count += (uint32_t)got;
  } while (vv_probe_config_goes_on(config, report->count, own->series.lost, vv_clock_ns() < deadline_ns));
  report->cpu_ns = vv_clock_cpu_ns() - cpu_start_ns;
  report->lost = own->series.lost;
  report->late = own->series.late;
  report->corrupt = own->series.corrupt;
  return 0;
}

/* Samples only while all are at it: from when the last has begun, and nobody stops before the last has enough. */
static int measure(struct pingpong *own, struct vv_error *error) {
  struct shared *shared = party.shared;
  *own->report = (struct report){.began_ns = vv_clock_ns()};
  atomic_fetch_add(&shared->begun, 1);
  if (go_on(own, &shared->begun, error) != 0 || sample(own, error) != 0) return -1;
  atomic_fetch_add(&shared->satisfied, 1);
  int result = go_on(own, &shared->satisfied, error);
  own->report->ended_ns = vv_clock_ns();
  return result;
}

static int one_size(struct pingpong *own, size_t size_bytes, struct vv_error *error) {
  const struct vv_series_config config = {
      .verb = "pingpongs", .size_bytes = size_bytes, .check_every = CHECK_EVERY, .train = 1};
  vv_ns ns;
  int result = vv_series_begin(&own->series, own->session, &config, error);
  for (int i = 0; i < WARM_UP && result == 0; i++) result = vv_series_exchange(&own->series, &ns, error) < 0 ? -1 : 0;
  if (result == 0) result = meet(error); /* to begin */
  if (result == 0) result = measure(own, error);
  if (result == 0) result = vv_series_end(&own->series, error);
  own->report->far_cpu_ns = own->series.far_cpu_ns;
  own->report->far_messages = own->series.far_messages;
  own->report->given = own->series.given;
  own->report->taken = own->series.taken;
  if (own->series.far_corrupt > own->report->corrupt) own->report->corrupt = (uint32_t)own->series.far_corrupt;
  vv_series_free(&own->series);
  if (result == 0) result = meet(error); /* all reports are written */
  return result == 0 ? meet(error) : -1; /* and read */
}

/* The life of one process. */
static void be_pingpong(struct vv_session *session, size_t number) {
  const struct vv_probe_config *config = session->config;
  struct pingpong own = {.session = session,
                         .report = &party.shared->reports[number],
                         .rtt_ns = party.shared->rtt_ns + number * config->samples};
  struct vv_error error = {0};
  party.met = 0;
  memset(party.pids, 0, sizeof party.pids); /* they are its siblings, not its children */
  int result = vv_watch_start(TICK_NS, &error);
  for (size_t i = 0; i < config->size_count && result == 0; i++) result = one_size(&own, config->sizes[i], &error);
  if (result != 0) fail(party.shared, &error);
  _exit(result == 0 ? 0 : 1);
}

/* the near end --------------------------------------------------------- */

static int begin_party(struct vv_session *session, struct vv_error *error) {
  struct vv_fars *fars = vv_fars_meet(session, true, error);
  if (!fars) return -1;
  party.bytes = sizeof *party.shared + fars->count * session->config->samples * sizeof(int64_t);
  void *memory = mmap(NULL, party.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return vv_error_errno(error, "no-memory", "no memory for the ping-pongs' samples");
  party.shared = memory;
  party.count = fars->count;
  for (size_t i = 0; i < fars->count; i++) {
    party.pids[i] = fork();
    if (party.pids[i] < 0) return vv_error_errno(error, "no-process", "cannot start another process");
    if (party.pids[i] == 0) be_pingpong(fars->ends[i].session, i);
  }
  return 0;
}

static void record_each(struct vv_record *record, const struct vv_fars *fars, uint32_t room) {
  char host[VV_ADDRESS_TEXT_MAX];
  vv_record_array(record, "far");
  for (size_t i = 0; i < party.count; i++) {
    vv_address_format_host(&fars->ends[i].session->peer, host);
    vv_record_text(record, NULL, host);
  }
  vv_record_array_end(record);
  vv_record_array(record, "each_ns");
  for (size_t i = 0; i < party.count; i++) {
    vv_record_ints(record, NULL, party.shared->rtt_ns + i * room, party.shared->reports[i].count);
  }
  vv_record_array_end(record);
  vv_record_array(record, "rtt_ns");
  for (size_t i = 0; i < party.count; i++) {
    const vv_ns *rtt_ns = party.shared->rtt_ns + i * room;
    for (uint32_t k = 0; k < party.shared->reports[i].count; k++) vv_record_int(record, NULL, rtt_ns[k]);
  }
  vv_record_array_end(record);
}

static void record_span(struct vv_record *record) {
  vv_record_array(record, "began_ns");
  for (size_t i = 0; i < party.count; i++) vv_record_int(record, NULL, party.shared->reports[i].began_ns);
  vv_record_array_end(record);
  vv_record_array(record, "ended_ns");
  for (size_t i = 0; i < party.count; i++) vv_record_int(record, NULL, party.shared->reports[i].ended_ns);
  vv_record_array_end(record);
}

static struct report sum_reports(void) {
  struct report all = {0};
  for (size_t i = 0; i < party.count; i++) {
    const struct report *one = &party.shared->reports[i];
    all.count += one->count;
    all.lost += one->lost;
    all.late += one->late;
    all.corrupt += one->corrupt;
    all.cpu_ns += one->cpu_ns;
    all.far_cpu_ns += one->far_cpu_ns;
    all.far_messages += one->far_messages;
    all.given += one->given;
    all.taken += one->taken;
  }
  return all;
}

static int print_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  struct report all = sum_reports();
  struct vv_record record;
  vv_tally_messages(session, size_bytes, all.given, all.taken);
  vv_record_begin_cell(&record, "pingpongs", size_bytes, 1);
  record_each(&record, vv_fars_meet(session, true, error), session->config->samples);
  record_span(&record);
  vv_record_int(&record, "lost", all.lost);
  vv_record_int(&record, "late", all.late);
  vv_record_int(&record, "warmup", WARM_UP);
  vv_record_bool(&record, "warm", true);
  vv_record_int(&record, "corrupt", all.corrupt);
  vv_record_int(&record, "cpu_near_ns", all.count > 0 ? all.cpu_ns / all.count : 0);
  vv_record_int(&record, "cpu_far_ns", all.far_messages > 0 ? all.far_cpu_ns / all.far_messages : 0);
  vv_cell_wire(&record, session->config, size_bytes, 1, 1);
  return vv_record_end(&record, error);
}

/* The first error of any of them is that of the launch. */
static int failed(struct vv_error *error) {
  struct shared *shared = party.shared;
  if (!shared || !atomic_load(&shared->failed)) return -1;
  return vv_error_set(error, shared->code, "%s", shared->text);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  if (party.count == 0 && begin_party(session, error) != 0) return -1;
  atomic_store(&party.shared->begun, 0);
  atomic_store(&party.shared->satisfied, 0);
  int result = meet(error);              /* to begin */
  if (result == 0) result = meet(error); /* all reports are written */
  if (result == 0) result = print_cell(session, size_bytes, error);
  if (result == 0) result = meet(error);
  return result == 0 ? 0 : failed(error);
}

/* Whoever is left after a failure waits for nobody any more. */
static void near_finish(void) {
  for (size_t i = 0; i < party.count; i++) {
    if (party.pids[i] <= 0) continue;
    if (atomic_load(&party.shared->failed)) kill(party.pids[i], SIGKILL);
    while (waitpid(party.pids[i], NULL, 0) < 0 && errno == EINTR) continue;
  }
  if (party.shared) munmap(party.shared, party.bytes);
  party.shared = NULL;
  party.count = 0;
  vv_fars_part();
}

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  const struct vv_stack *stack = config->stack;
  if (!stack->alone && !stack->kernel_echo && !stack->joined) return 0;
  const char *why = stack->joined ? "a process for each is forked, which its library does not allow"
                                  : "it has no far end of its own for each";
  vv_error_set(error, "usage", "--ask pingpongs: %s: %s", stack->id, why);
  return vv_error_remedy(error, "ask eth, udp or tcp");
}

const struct vv_question vv_question_pingpongs = {.id = "pingpongs",
                                                  .meets = VV_QUESTION_LINKED,
                                                  .check = check,
                                                  .near = near_cell,
                                                  .finish = near_finish,
                                                  .far = vv_answer_series};
