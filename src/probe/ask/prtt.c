/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question prtt, what LogGP is computed from: PRTT(k, d, s), the time from
 * sending the first of k messages of s bytes, d apart, until the answer to the
 * last one is back (Hoefler, Lichei and Rehm 2007). Of each size five parts:
 *
 *   one      PRTT(1, 0, s)
 *   burst    PRTT(k, 0, s)
 *   spaced   PRTT(k, d, s), d = PRTT(1, 0, s) as the warm-up found it
 *   send     o_s: what the sends of a spaced train take by the sender's own clock
 *   receive  o_r: what receiving takes of an answer that has been there for a while
 *
 * Both overheads are those of the near host. The parts take turns in short
 * series, so that drift meets all of them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "probe/ask/question.h"
#include "probe/kit/answer.h"
#include "probe/kit/series.h"
#include "probe/kit/warmup.h"
#include "probe/show/cell.h"

#define TURN_MAX    64 /* rounds of each part in one turn */
#define TURNS       4  /* wanted in a cell */
#define HOLD        2  /* times PRTT(1, 0, s): by then the answer is there */
#define CHECK_EVERY 16 /* answers */

enum prtt_part { ONE, BURST, SPACED, SEND, RECEIVE, PARTS };

static const struct {
  const char *name;
  const char *times; /* how the record calls them */
} parts[PARTS] = {
    {"one", "rtt_ns"}, {"burst", "rtt_ns"}, {"spaced", "rtt_ns"}, {"send", "send_ns"}, {"receive", "receive_ns"}};

struct times {
  vv_ns *ns;
  size_t count;
  uint32_t lost;
  uint32_t late;
  uint32_t corrupt;
};

struct prtt_cell {
  struct vv_session *session;
  size_t size_bytes;
  uint32_t train;
  vv_ns gap_ns;
  vv_ns deadline_ns;
  struct vv_warmup_warmth warmth;
  int64_t far_corrupt;
  struct vv_series series; /* the one under way */
  struct times times[PARTS];
};

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  if (config->stack->kernel_echo) {
    vv_error_set(error, "usage", "%s: the far kernel answers every message, prtt wants one answer to several",
                 config->stack->id);
    return vv_error_remedy(error, "ask a stack that has a far end");
  }
  if (config->train >= 2) return 0;
  vv_error_set(error, "usage", "a train of %" PRIu32 " has no gap", config->train);
  return vv_error_remedy(error, "give --train 2 or more");
}

static bool is_train(enum prtt_part part) {
  return part == BURST || part == SPACED || part == SEND;
}

static int64_t gap_of(const struct prtt_cell *cell, enum prtt_part part) {
  return part == SPACED || part == SEND ? cell->gap_ns : 0;
}

/* Without a gap no clock is read in between. *sends_ns: what the sends of a spaced train took, all together. */
static enum vv_outcome send_train(struct prtt_cell *cell, enum prtt_part part, vv_ns *sends_ns,
                                  struct vv_error *error) {
  const struct vv_session *session = cell->session;
  uint32_t train = is_train(part) ? cell->train : 1;
  for (uint32_t i = 0; i < train; i++) {
    vv_ns start_ns = part == SPACED ? vv_session_clock_ns(session) : 0, send_ns;
    enum vv_outcome outcome = vv_series_give(&cell->series, error);
    if (outcome != VV_OUTCOME_ANSWERED) return outcome;
    if (part != SPACED) continue;
    vv_ns end_ns = vv_session_clock_ns(session);
    if (vv_series_elapsed(start_ns, end_ns, &send_ns, error) != 0) return VV_OUTCOME_FAILED;
    *sends_ns += send_ns;
    if (i + 1 < train) vv_session_spin(session, end_ns + cell->gap_ns);
  }
  return VV_OUTCOME_ANSWERED;
}

struct took {
  vv_ns rtt_ns;
  vv_ns sends_ns;
  vv_ns receive_ns;
};

/* The timed part of one round. */
static enum vv_outcome time_round(struct prtt_cell *cell, enum prtt_part part, struct took *took,
                                  struct vv_error *error) {
  struct vv_session *session = cell->session;
  vv_ns start_ns = vv_session_clock_ns(session);
  int64_t messages = is_train(part) ? cell->train : 1;
  session->stop_at_ns = start_ns + messages * (cell->series.patience_ns + gap_of(cell, part));
  enum vv_outcome outcome = send_train(cell, part, &took->sends_ns, error);
  if (part == RECEIVE) vv_session_spin(session, vv_session_clock_ns(session) + HOLD * cell->warmth.rtt_ns);
  vv_ns taking_ns = part == RECEIVE ? vv_session_clock_ns(session) : start_ns;
  if (outcome == VV_OUTCOME_ANSWERED) outcome = vv_series_take(&cell->series, error);
  vv_ns end_ns = vv_session_clock_ns(session);
  outcome = vv_series_over(&cell->series, outcome, end_ns);
  if (outcome == VV_OUTCOME_FAILED || vv_series_elapsed(start_ns, end_ns, &took->rtt_ns, error) != 0 ||
      vv_series_elapsed(taking_ns, end_ns, &took->receive_ns, error) != 0) {
    return VV_OUTCOME_FAILED;
  }
  return outcome;
}

static enum vv_outcome play_round(struct prtt_cell *cell, enum prtt_part part, struct took *took,
                                  struct vv_error *error) {
  *took = (struct took){0};
  if (vv_series_pause(&cell->series, error) != 0) return VV_OUTCOME_FAILED;
  enum vv_outcome outcome = time_round(cell, part, took, error);
  return vv_series_settle(&cell->series, outcome, false, error);
}

static void keep(struct times *times, enum vv_outcome outcome, vv_ns ns, uint32_t late) {
  if (outcome == VV_OUTCOME_ANSWERED) times->ns[times->count++] = ns;
  times->lost += outcome == VV_OUTCOME_LOST;
  times->corrupt += outcome == VV_OUTCOME_WRONG;
  times->late += late;
}

/* A round that counts; of a spaced train the sends count too. */
static int count_round(struct prtt_cell *cell, enum prtt_part part, struct vv_error *error) {
  struct took took;
  uint32_t late = cell->series.late;
  enum vv_outcome outcome = play_round(cell, part, &took, error);
  if (outcome == VV_OUTCOME_FAILED) return -1;
  late = cell->series.late - late;
  keep(&cell->times[part], outcome, part == RECEIVE ? took.receive_ns : took.rtt_ns, late);
  if (part == SPACED) {
    keep(&cell->times[SEND], outcome, (took.sends_ns + cell->train / 2) / cell->train, late);
  }
  return 0;
}

static int begin_series(struct prtt_cell *cell, uint32_t train, struct vv_error *error) {
  const struct vv_series_config config = {
      .verb = "prtt", .size_bytes = cell->size_bytes, .check_every = CHECK_EVERY, .train = train};
  return vv_series_begin(&cell->series, cell->session, &config, error);
}

static int end_series(struct prtt_cell *cell, int result, struct vv_error *error) {
  if (result == 0) result = vv_series_end(&cell->series, error);
  cell->far_corrupt += cell->series.far_corrupt;
  return result;
}

/* Some rounds of two parts, by turns. The first round of a series comes after a pause: it belongs to nobody. */
static int play_series(struct prtt_cell *cell, enum prtt_part first, enum prtt_part second, uint32_t rounds,
                       struct vv_error *error) {
  struct took took;
  int result = begin_series(cell, is_train(first) ? cell->train : 1, error);
  if (result == 0 && play_round(cell, first, &took, error) == VV_OUTCOME_FAILED) result = -1;
  for (uint32_t i = 0; i < rounds && result == 0; i++) {
    if (i > 0 && vv_session_clock_ns(cell->session) >= cell->deadline_ns) break;
    result = count_round(cell, first, error);
    if (result == 0) result = count_round(cell, second, error);
  }
  return end_series(cell, result, error);
}

static int warm_exchange(void *context, vv_ns *ns, struct vv_error *error) {
  struct took took;
  enum vv_outcome outcome = play_round(context, ONE, &took, error);
  *ns = took.rtt_ns;
  return outcome == VV_OUTCOME_FAILED ? -1 : outcome == VV_OUTCOME_ANSWERED;
}

static int warm(struct prtt_cell *cell, struct vv_error *error) {
  int result = begin_series(cell, 1, error);
  if (result == 0) result = vv_warmup(cell->session, warm_exchange, cell, &cell->warmth, error);
  cell->gap_ns = cell->warmth.rtt_ns;
  return end_series(cell, result, error);
}

/* So many that some turns fit into the time: a round of all parts takes about 4 + 2 k exchanges. */
static uint32_t turn_rounds(const struct prtt_cell *cell) {
  vv_ns left_ns = cell->deadline_ns - vv_session_clock_ns(cell->session);
  int64_t fits = left_ns / TURNS / ((4 + 2 * (int64_t)cell->train) * cell->warmth.rtt_ns);
  return fits < 1 ? 1 : fits > TURN_MAX ? TURN_MAX : (uint32_t)fits;
}

static int measure(struct prtt_cell *cell, struct vv_error *error) {
  const struct vv_probe_config *config = cell->session->config;
  uint32_t done = 0, most = turn_rounds(cell);
  do {
    uint32_t left = config->samples - done, rounds = left < most ? left : most;
    if (play_series(cell, ONE, RECEIVE, rounds, error) != 0 || play_series(cell, BURST, SPACED, rounds, error) != 0) {
      return -1;
    }
    done += rounds;
  } while (done < config->samples &&
           vv_probe_config_goes_on(config, done - cell->times[ONE].lost, cell->times[ONE].lost,
                                   vv_session_clock_ns(cell->session) < cell->deadline_ns));
  return 0;
}

static int print_part(const struct prtt_cell *cell, enum prtt_part part, struct vv_error *error) {
  const struct times *times = &cell->times[part];
  uint32_t train = is_train(part) ? cell->train : 1;
  struct vv_record record;
  vv_record_begin(&record, "cell");
  vv_record_text(&record, "ask", "prtt");
  vv_record_text(&record, "part", parts[part].name);
  vv_record_int(&record, "size_bytes", (int64_t)cell->size_bytes);
  vv_record_int(&record, "train", train);
  vv_record_int(&record, "gap_ns", gap_of(cell, part));
  vv_record_ints(&record, parts[part].times, times->ns, times->count);
  vv_record_int(&record, "lost", times->lost);
  vv_record_int(&record, "late", times->late);
  vv_record_int(&record, "warmup", part == ONE ? cell->warmth.exchanges : 0);
  vv_record_bool(&record, "warm", cell->warmth.warm);
  vv_record_int(&record, "corrupt", times->corrupt);
  vv_cell_wire(&record, cell->session->config, cell->size_bytes, 1, 1);
  return vv_record_end(&record, error);
}

static void warn(const struct prtt_cell *cell) {
  uint32_t corrupt = 0;
  for (int part = 0; part < PARTS; part++) corrupt += part == SEND ? 0 : cell->times[part].corrupt;
  if (corrupt > 0 || cell->far_corrupt > 0) {
    vv_record_warning("corrupt", "%zu B: %" PRIu32 " answers were wrong here, %" PRId64 " messages at the far end",
                      cell->size_bytes, corrupt, cell->far_corrupt);
  }
  if (cell->session->clock.resolution_ns * 100 > cell->warmth.rtt_ns) {
    vv_record_warning("coarse-clock", "%zu B: the clock is too coarse for one send: overheads are known badly",
                      cell->size_bytes);
  }
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  struct prtt_cell cell = {.session = session, .size_bytes = size_bytes, .train = session->config->train};
  cell.deadline_ns = vv_session_clock_ns(session) + session->config->cell_ns;
  int result = 0;
  for (int part = 0; part < PARTS && result == 0; part++) {
    cell.times[part].ns = malloc(session->config->samples * sizeof(int64_t));
    if (!cell.times[part].ns) result = vv_error_set(error, "no-memory", "no memory for the samples");
  }
  if (result == 0) result = warm(&cell, error);
  if (result == 0) result = measure(&cell, error);
  for (int part = 0; part < PARTS && result == 0; part++) result = print_part(&cell, (enum prtt_part)part, error);
  if (result == 0) warn(&cell);
  for (int part = 0; part < PARTS; part++) free(cell.times[part].ns);
  return result;
}

const struct vv_question vv_question_prtt = {
    .id = "prtt", .train = 10, .check = check, .near = near_cell, .far = vv_answer_series};
