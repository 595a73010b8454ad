/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/rounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/os/watch.h"
#include "probe/kit/warmup.h"
#include "probe/show/cell.h"

#define TRIED        3             /* rounds before the measured ones, if a quarter of the cell's time is enough */
#define SETTLE_NS    (300 * VV_US) /* from the last `got` until all wait again */
#define HUSH_MORE_NS (100 * VV_US)
#define SESSION_NS   (15 * VV_SEC) /* until programs have found each other, where each message has a session */

uint64_t vv_rounds_tag(uint64_t seq, size_t size_bytes) {
  return size_bytes >= VV_PAYLOAD_TAG_BYTES ? seq : seq & ((UINT64_C(1) << (8 * size_bytes)) - 1);
}

/* near: one round ------------------------------------------------------ */

enum vv_outcome vv_rounds_give(struct vv_rounds *rounds, size_t far, struct vv_error *error) {
  struct vv_session *session = rounds->fars->ends[far].session;
  session->stop_at_ns = rounds->session->stop_at_ns;
  enum vv_got got = vv_session_send(session, vv_rounds_message(rounds), rounds->size_bytes, error);
  if (got == VV_GOT_MESSAGE) return VV_OUTCOME_ANSWERED;
  if (got == VV_GOT_STOPPED) return vv_session_why(session, error) == 0 ? VV_OUTCOME_LOST : VV_OUTCOME_FAILED;
  if (got == VV_GOT_CLOSED) vv_session_closed(session, error);
  return VV_OUTCOME_FAILED;
}

/* A round sends all its payload at once; what keeps the average below the cap is the pause after it. */
static void spare(struct vv_rounds *rounds) {
  uint64_t cap_bps = rounds->session->config->cap_bps;
  uint64_t senders = rounds->config->takes_part ? rounds->fars->count + 1 : 1;
  double bits = 8.0 * (double)rounds->size_bytes * (double)rounds->config->sends * (double)senders;
  if (cap_bps > 0) rounds->not_before_ns = vv_clock_ns() + (int64_t)(bits * 1e9 / (double)cap_bps);
}

/* All far ends wait, and so does this one until they surely do. */
static int settle(struct vv_rounds *rounds, struct vv_error *error) {
  struct vv_session *session = rounds->session;
  vv_ns pause_ns = session->config->idle_ns > SETTLE_NS ? session->config->idle_ns : SETTLE_NS;
  vv_payload_fill(&session->payload, session->seq, vv_slots_at(&session->out, session->seq), rounds->size_bytes);
  if (vv_watch_rang() && vv_session_why(session, error) != 0) return -1;
  vv_ns begin_ns = vv_clock_ns() + pause_ns;
  if (begin_ns < rounds->not_before_ns) begin_ns = rounds->not_before_ns;
  if (vv_watch_sleep(begin_ns, error) != 0) return -1;
  spare(rounds);
  if (rounds->clock != VV_ROUNDS_CLOCK_BARRIER) return 0;
  uint64_t tag = vv_rounds_tag(session->seq, rounds->size_bytes);
  for (size_t i = 0; i < rounds->fars->count; i++) {
    rounds->started_ns[i] = vv_clock_real_ns();
    if (vv_control_send(&rounds->fars->ends[i].session->control, error, "start tag=%" PRIu64, tag) != 0) return -1;
  }
  return vv_watch_sleep(vv_clock_ns() + pause_ns + 4 * rounds->clock_error_ns, error);
}

/* What a far end's `got` means: the time that its message took. By clocks that are compared again later it is rough
 * for now, and may be below 0. */
static int64_t time_of(const struct vv_rounds *rounds, size_t far, vv_ns at_ns) {
  vv_ns ns = rounds->clock == VV_ROUNDS_CLOCK_BARRIER ? at_ns - (rounds->begun_ns - rounds->started_ns[far])
                                                      : at_ns - rounds->fars->ends[far].ahead_ns - rounds->begun_ns;
  return ns > 0 || rounds->clock == VV_ROUNDS_CLOCK_BOUNDED ? ns : 0;
}

/* VV_OUTCOME_ANSWERED: it has this round's message; VV_OUTCOME_LOST: it has not, at the deadline; VV_OUTCOME_WRONG;
 * VV_OUTCOME_FAILED and *error. */
static enum vv_outcome hear(const struct vv_rounds *rounds, size_t far, vv_ns deadline_ns, vv_ns *ns,
                            struct vv_error *error) {
  struct vv_control *control = &rounds->fars->ends[far].session->control;
  char line[VV_LINE_BYTES_MAX], wanted[24], tag[24]; /* what a message that was damaged says is no number of ours */
  vv_ns at_ns;
  int64_t missing, late;
  snprintf(wanted, sizeof wanted, "%" PRIu64, vv_rounds_tag(rounds->session->seq, rounds->size_bytes));
  for (;;) {
    if (vv_control_receive(control, line, deadline_ns, error) != 0) {
      return error->kind == VV_CODE_TIMEOUT ? VV_OUTCOME_LOST : VV_OUTCOME_FAILED;
    }
    if (!vv_line_is(line, "got")) {
      vv_error_set(error, "bad-control", "the far end said \"%.80s\" in a round", line);
      return VV_OUTCOME_FAILED;
    }
    if (vv_control_number(line, "at_ns", &at_ns, error) != 0 ||
        vv_control_number(line, "missing", &missing, error) != 0 ||
        vv_control_number(line, "late", &late, error) != 0) {
      return VV_OUTCOME_FAILED;
    }
    bool tagged = vv_line_word(line, "tag", tag, sizeof tag);
    if (!tagged || strcmp(tag, wanted) != 0) continue; /* of a round that was given up */
    *ns = time_of(rounds, far, at_ns);
    return late ? VV_OUTCOME_WRONG : missing > 0 ? VV_OUTCOME_LOST : VV_OUTCOME_ANSWERED;
  }
}

/* Hears all far ends. VV_OUTCOME_LOST when one of them misses something, else VV_OUTCOME_WRONG when one was late. */
static enum vv_outcome hear_all(struct vv_rounds *rounds, vv_ns *each_ns, struct vv_error *error) {
  vv_ns deadline_ns = vv_clock_ns() + rounds->patience_ns;
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  for (size_t i = 0; i < rounds->fars->count; i++) {
    enum vv_outcome heard = hear(rounds, i, deadline_ns, &each_ns[i], error);
    if (heard == VV_OUTCOME_FAILED) return VV_OUTCOME_FAILED;
    if (heard == VV_OUTCOME_WRONG && outcome == VV_OUTCOME_ANSWERED) outcome = VV_OUTCOME_WRONG;
    if (heard != VV_OUTCOME_LOST) continue;
    rounds->missing[i]++;
    outcome = VV_OUTCOME_LOST;
  }
  return outcome;
}

static int no_answer(const struct vv_rounds *rounds, struct vv_error *error) {
  vv_error_set(error, "no-answer", "%s: a message of %zu bytes did not arrive within %" PRId64 " ms",
               rounds->session->stack->id, rounds->size_bytes, rounds->patience_ns / VV_MS);
  return vv_error_remedy(error, "see whether the far hosts still run; give a longer --timeout-ms to a slow network");
}

/*
 * Until all have it, or begin to say so: what was lost is sent again meanwhile, and what is left in a library goes on.
 * How long one waits that spins is no cost of a message.
 */
static int drain(struct vv_rounds *rounds, struct vv_error *error) {
  const struct vv_stack *stack = rounds->session->stack;
  vv_ns cpu_start_ns = vv_clock_cpu_ns();
  for (size_t i = 0; stack->drain && i < rounds->fars->count; i++) {
    struct vv_session *session = rounds->fars->ends[i].session;
    session->stop_at_ns = rounds->session->stop_at_ns;
    enum vv_got got = stack->drain(session->end, error);
    if (got == VV_GOT_CLOSED) vv_session_closed(session, error);
    if (got == VV_GOT_CLOSED || got == VV_GOT_ERROR) return -1;
  }
  if (stack->spins) rounds->cpu_ns -= vv_clock_cpu_ns() - cpu_start_ns;
  return 0;
}

/* 1 and the times, 0 when it was lost or came too late, -1 and *error. */
static int try_round(struct vv_rounds *rounds, vv_ns *each_ns, struct vv_error *error) {
  struct vv_session *session = rounds->session;
  if (settle(rounds, error) != 0) return -1;
  vv_ns cpu_start_ns = vv_clock_cpu_ns();
  session->stop_at_ns = vv_clock_ns() + rounds->patience_ns;
  enum vv_outcome own = rounds->config->give(rounds, error);
  bool sent = own == VV_OUTCOME_ANSWERED || own == VV_OUTCOME_WRONG;
  if (sent && drain(rounds, error) != 0) own = VV_OUTCOME_FAILED;
  enum vv_outcome outcome = own;
  session->stop_at_ns = VV_NEVER;
  rounds->cpu_ns += vv_clock_cpu_ns() - cpu_start_ns;
  vv_tally_messages(session, rounds->size_bytes, rounds->config->sends,
                    rounds->config->takes_part ? rounds->config->sends : 0);
  if (rounds->config->takes_part) *each_ns++ = rounds->own_ns;
  if (own != VV_OUTCOME_FAILED) outcome = hear_all(rounds, each_ns, error);
  if (outcome == VV_OUTCOME_ANSWERED) outcome = own;
  session->seq++;
  if (outcome == VV_OUTCOME_ANSWERED) return 1;
  rounds->late += outcome == VV_OUTCOME_WRONG;
  rounds->lost += outcome == VV_OUTCOME_LOST;
  if (outcome == VV_OUTCOME_WRONG || (outcome == VV_OUTCOME_LOST && session->stack->datagram)) return 0;
  return outcome == VV_OUTCOME_LOST ? no_answer(rounds, error) : -1;
}

static size_t ends_of(const struct vv_rounds *rounds) {
  return rounds->fars->count + rounds->config->takes_part;
}

static int64_t last_of(const vv_ns *each_ns, size_t count) {
  vv_ns last_ns = 0;
  for (size_t i = 0; i < count; i++) last_ns = each_ns[i] > last_ns ? each_ns[i] : last_ns;
  return last_ns;
}

/* near: a series of rounds --------------------------------------------- */

static int begin_series(struct vv_rounds *rounds, const vv_ns *hush_ns, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  for (size_t i = 0; i < rounds->fars->count; i++) {
    struct vv_session *session = rounds->fars->ends[i].session;
    if (vv_control_send(&session->control, error,
                        "%s size_bytes=%zu number=%zu ends=%zu hush_ns=%" PRId64 " barrier=%d", rounds->config->verb,
                        rounds->size_bytes, i + 1, rounds->fars->count + 1, hush_ns[i],
                        rounds->clock == VV_ROUNDS_CLOCK_BARRIER) != 0 ||
        vv_session_expect(session, "go", line, error) != 0) {
      return -1;
    }
  }
  return rounds->config->begin ? rounds->config->begin(rounds, error) : 0;
}

/* What may be added up over all far ends. */
static bool adds_up(int64_t number) {
  return number >= 0 && number <= VV_LINE_NUMBER_MAX / VV_FARS_MAX;
}

static int hear_end(struct vv_rounds *rounds, size_t far, struct vv_error *error) {
  struct vv_session *session = rounds->fars->ends[far].session;
  char line[VV_LINE_BYTES_MAX];
  int64_t corrupt, messages;
  vv_ns cpu_ns;
  do { /* a `got` may still come, of a round that was given up */
    if (vv_control_receive(&session->control, line, vv_clock_ns() + rounds->patience_ns, error) != 0) return -1;
  } while (vv_line_is(line, "got"));
  if (!vv_line_is(line, "done") || vv_control_number(line, "corrupt", &corrupt, error) != 0 ||
      vv_control_number(line, "messages", &messages, error) != 0 ||
      vv_control_number(line, "resent", &rounds->far_resent[far], error) != 0 ||
      vv_control_number(line, "cpu_ns", &cpu_ns, error) != 0 || !adds_up(corrupt) || !adds_up(messages) ||
      !adds_up(cpu_ns)) {
    return vv_error_set(error, "bad-control", "the far end said \"%.80s\" at the end", line);
  }
  rounds->corrupt += corrupt;
  rounds->far_messages += messages;
  rounds->far_cpu_ns += cpu_ns;
  return 0;
}

static int end_series(struct vv_rounds *rounds, struct vv_error *error) {
  const struct vv_stack *stack = rounds->session->stack;
  int result = 0;
  rounds->far_messages = rounds->far_cpu_ns = 0;
  for (size_t i = 0; i < rounds->fars->count && result == 0; i++) {
    result = vv_control_send(&rounds->fars->ends[i].session->control, error, "end");
  }
  if (result == 0 && stack->release) {
    result = stack->release(rounds->session->end, error);
    vv_tally_messages(rounds->session, rounds->size_bytes, rounds->config->sends, 0);
  }
  for (size_t i = 0; i < rounds->fars->count && result == 0; i++) result = hear_end(rounds, i, error);
  return result;
}

/* Rounds that count for nothing; they tell how long each far end is to hush. */
static int try_rounds(struct vv_rounds *rounds, vv_ns *hush_ns, struct vv_error *error) {
  vv_ns until_ns = vv_clock_ns() + rounds->session->config->cell_ns / 4;
  vv_ns each_ns[VV_FARS_MAX + 1] = {0}, last_ns = 0;
  size_t ends = ends_of(rounds);
  if (begin_series(rounds, hush_ns, error) != 0) return -1;
  do {
    int got = try_round(rounds, each_ns, error);
    if (got < 0) return -1;
    if (got > 0 && last_of(each_ns, ends) > last_ns) last_ns = last_of(each_ns, ends);
    rounds->tried++;
  } while (rounds->tried < TRIED && vv_clock_ns() < until_ns);
  for (size_t i = 0; i < rounds->fars->count; i++) {
    vv_ns rest_ns = last_ns + last_ns / 4 - each_ns[i + rounds->config->takes_part];
    hush_ns[i] = (rest_ns > 0 ? rest_ns : 0) + HUSH_MORE_NS;
  }
  return end_series(rounds, error);
}

static int make_room(struct vv_rounds *rounds, struct vv_error *error) {
  size_t ends = ends_of(rounds), more = 256;
  if (rounds->count % more != 0) return 0;
  vv_ns *last_ns = realloc(rounds->last_ns, (rounds->count + more) * sizeof *last_ns);
  if (last_ns) rounds->last_ns = last_ns;
  vv_ns *each_ns = realloc(rounds->each_ns, (rounds->count + more) * ends * sizeof *each_ns);
  if (each_ns) rounds->each_ns = each_ns;
  vv_ns *begins_ns = realloc(rounds->begins_ns, (rounds->count + more) * sizeof *begins_ns);
  if (begins_ns) rounds->begins_ns = begins_ns;
  vv_ns *setups_ns = realloc(rounds->setups_ns, (rounds->count + more) * sizeof *setups_ns);
  if (setups_ns) rounds->setups_ns = setups_ns;
  return last_ns && each_ns && begins_ns && setups_ns
             ? 0
             : vv_error_set(error, "no-memory", "no memory for %zu rounds", rounds->count + more);
}

static int measure(struct vv_rounds *rounds, vv_ns deadline_ns, struct vv_error *error) {
  size_t ends = ends_of(rounds);
  rounds->cpu_ns = rounds->corrupt = 0;
  rounds->lost = rounds->late = 0;
  memset(rounds->missing, 0, sizeof rounds->missing);
  do {
    if (make_room(rounds, error) != 0) return -1;
    vv_ns *each_ns = rounds->each_ns + rounds->count * ends;
    int got = try_round(rounds, each_ns, error);
    if (got < 0) return -1;
    if (got == 0) continue;
    rounds->setups_ns[rounds->count] = rounds->setup_ns;
    rounds->begins_ns[rounds->count] = rounds->begun_ns;
    rounds->last_ns[rounds->count++] = last_of(each_ns, ends);
  } while (vv_probe_config_goes_on(rounds->session->config, rounds->count, rounds->lost, vv_clock_ns() < deadline_ns));
  return end_series(rounds, error);
}

/* near: clocks --------------------------------------------------------- */

/* Reads the far ends' clocks; `first`: before anything else of this cell. */
static int visit(struct vv_rounds *rounds, bool first, struct vv_error *error) {
  if (rounds->clock != VV_ROUNDS_CLOCK_BOUNDED) return 0;
  if (vv_fars_visit(rounds->fars, first, error) != 0) return -1;
  for (size_t i = 0; i < rounds->fars->count && first; i++) {
    vv_ns error_ns = rounds->fars->ends[i].ahead_error_ns;
    if (error_ns > rounds->clock_error_ns) rounds->clock_error_ns = error_ns;
  }
  return 0;
}

/* 0: of no round. */
static int64_t median_of_rounds(const struct vv_rounds *rounds) {
  vv_ns *sorted_ns = rounds->count > 0 ? malloc(rounds->count * sizeof *sorted_ns) : NULL;
  if (!sorted_ns) return 0;
  memcpy(sorted_ns, rounds->last_ns, rounds->count * sizeof *sorted_ns);
  vv_ns median_ns = vv_warmup_median_ns(sorted_ns, rounds->count);
  free(sorted_ns);
  return median_ns;
}

/* Every time anew, by how far the clock was ahead when it ended. None is below 0, however rough the clocks. */
static void correct_times(struct vv_rounds *rounds) {
  size_t ends = ends_of(rounds), own = rounds->config->takes_part;
  for (size_t k = 0; k < rounds->count; k++) {
    vv_ns *each_ns = rounds->each_ns + k * ends;
    for (size_t i = 0; i < rounds->fars->count; i++) {
      const struct vv_far *far = &rounds->fars->ends[i];
      vv_ns *ns = &each_ns[own + i];
      *ns += far->ahead_ns - vv_strip_ahead_ns(&far->strip, rounds->begins_ns[k] + *ns);
      if (*ns < 0) *ns = 0;
    }
    rounds->last_ns[k] = last_of(each_ns, ends);
  }
}

/* Whether the far ends' clocks tell what the rounds took, now that they were read before and after: then they do. */
static bool clocks_tell(struct vv_rounds *rounds) {
  if (rounds->clock != VV_ROUNDS_CLOCK_BOUNDED || rounds->count == 0) return true;
  size_t last = rounds->count - 1;
  rounds->set = vv_fars_bound(rounds->fars, rounds->begins_ns[0], rounds->begins_ns[last] + rounds->last_ns[last]);
  if (rounds->set) return false;
  rounds->clock_error_ns = vv_fars_half_width_ns(rounds->fars);
  if (vv_fars_too_rough(rounds->clock_error_ns, median_of_rounds(rounds))) return false;
  correct_times(rounds);
  return true;
}

/* near: the cell ------------------------------------------------------- */

static int run_series(struct vv_rounds *rounds, struct vv_error *error) {
  vv_ns deadline_ns = vv_clock_ns() + rounds->session->config->cell_ns;
  vv_ns hush_ns[VV_FARS_MAX] = {0};
  rounds->count = rounds->tried = 0;
  if (visit(rounds, true, error) != 0 || try_rounds(rounds, hush_ns, error) != 0) return -1;
  if (visit(rounds, false, error) != 0 || begin_series(rounds, hush_ns, error) != 0) return -1;
  if (measure(rounds, deadline_ns, error) != 0) return -1;
  return visit(rounds, false, error);
}

static void record_ends(struct vv_record *record, const struct vv_rounds *rounds) {
  size_t ends = ends_of(rounds);
  char host[VV_ADDRESS_TEXT_MAX];
  vv_record_array(record, "far");
  for (size_t i = 0; i < rounds->fars->count; i++) {
    vv_address_format_host(&rounds->fars->ends[i].session->peer, host);
    vv_record_text(record, NULL, host);
  }
  vv_record_array_end(record);
  vv_record_ints(record, "last_ns", rounds->last_ns, rounds->count);
  vv_record_array(record, "each_ns");
  for (size_t i = 0; i < ends; i++) {
    vv_record_array(record, NULL);
    for (size_t k = 0; k < rounds->count; k++) vv_record_int(record, NULL, rounds->each_ns[k * ends + i]);
    vv_record_array_end(record);
  }
  vv_record_array_end(record);
  vv_record_array(record, "missing");
  for (size_t i = 0; i < rounds->fars->count; i++) vv_record_int(record, NULL, rounds->missing[i]);
  vv_record_array_end(record);
}

/* By the near end, since the launch began. */
static int64_t count_resent(const struct vv_rounds *rounds) {
  const struct vv_stack *stack = rounds->session->stack;
  int64_t resent = 0;
  for (size_t i = 0; stack->resent && i < rounds->fars->count; i++) {
    resent += stack->resent(rounds->fars->ends[i].session->end);
  }
  return resent;
}

/* By sending end: the near one, and the far ones where they send too. */
static void record_resent(struct vv_record *record, const struct vv_rounds *rounds) {
  if (!rounds->session->stack->resent) {
    vv_record_null(record, "resent");
    return;
  }
  vv_record_array(record, "resent");
  vv_record_int(record, NULL, count_resent(rounds) - rounds->resent);
  for (size_t i = 0; rounds->config->takes_part && i < rounds->fars->count; i++) {
    vv_record_int(record, NULL, rounds->far_resent[i]);
  }
  vv_record_array_end(record);
}

static void record_clock(struct vv_record *record, const struct vv_rounds *rounds) {
  static const char *const kinds[] = {"common", "bounded", "barrier"};
  vv_record_object(record, "clock");
  vv_record_text(record, "kind", kinds[rounds->clock]);
  vv_record_int(record, "error_ns", rounds->clock_error_ns);
  if (rounds->clock == VV_ROUNDS_CLOCK_BOUNDED) {
    vv_record_array(record, "ends");
    for (size_t i = 0; i < rounds->fars->count; i++) vv_fars_record_strip(record, &rounds->fars->ends[i]);
    vv_record_array_end(record);
  }
  vv_record_object_end(record);
}

/* Of one message at either end. */
static void record_cpu(struct vv_record *record, const struct vv_rounds *rounds) {
  int64_t all = (int64_t)rounds->count + rounds->lost + rounds->late;
  if (rounds->session->stack->program) {
    vv_record_null(record, "cpu_near_ns");
    vv_record_null(record, "cpu_far_ns");
    return;
  }
  vv_record_int(record, "cpu_near_ns", all > 0 ? rounds->cpu_ns / all : 0);
  vv_record_int(record, "cpu_far_ns", rounds->far_messages > 0 ? rounds->far_cpu_ns / rounds->far_messages : 0);
}

static int print_cell(const struct vv_rounds *rounds, struct vv_error *error) {
  const struct vv_stack *stack = rounds->session->stack;
  struct vv_record record;
  vv_record_begin_cell(&record, rounds->config->verb, rounds->size_bytes, 1);
  record_ends(&record, rounds);
  if (stack->began) vv_record_ints(&record, "setup_ns", rounds->setups_ns, rounds->count);
  vv_record_int(&record, "lost", rounds->lost);
  record_resent(&record, rounds);
  record_clock(&record, rounds);
  vv_record_int(&record, "late", rounds->late);
  vv_record_int(&record, "warmup", rounds->tried);
  vv_record_bool(&record, "warm", rounds->tried >= TRIED);
  vv_record_int(&record, "corrupt", rounds->corrupt);
  record_cpu(&record, rounds);
  /* What the near end sends, and how long the busiest link is taken. */
  vv_cell_wire(&record, rounds->session->config, rounds->size_bytes, rounds->config->sends, rounds->config->on_medium);
  return vv_record_end(&record, error);
}

static void warn(const struct vv_rounds *rounds) {
  if (rounds->corrupt > 0) {
    vv_record_warning("corrupt", "%zu B: %" PRId64 " messages were wrong at a far end", rounds->size_bytes,
                      rounds->corrupt);
  }
  if (rounds->clock == VV_ROUNDS_CLOCK_BARRIER) {
    struct vv_error why;
    vv_fars_refuse(rounds->set, rounds->clock_error_ns, &why);
    vv_record_warning("barrier-clock", "%zu B: %s: every end counts from when it heard that all are there",
                      rounds->size_bytes, why.text);
  }
}

int vv_rounds_check_sizes(const struct vv_probe_config *config, const char *verb, struct vv_error *error) {
  for (size_t i = 0; i < config->size_count; i++) {
    if (config->sizes[i] > 0) continue;
    vv_error_set(error, "size-limit", "--ask %s: an empty message cannot be told from the one before", verb);
    return vv_error_remedy(error, "leave size 0 out");
  }
  return 0;
}

int vv_rounds_check(const struct vv_probe_config *config, const char *verb, struct vv_error *error) {
  if (!config->stack->flow) {
    vv_error_set(error, "usage", "--ask %s: %s carries one message after the other", verb, config->stack->id);
    return vv_error_remedy(error, "ask tcp, tcp-nagle, udp, openmpi, openmpi-nagle or mpich");
  }
  if (config->write != VV_WRITE_ONE) {
    vv_error_set(error, "usage", "--ask %s: a message is one write", verb);
    return vv_error_remedy(error, "leave --write out");
  }
  return vv_rounds_check_sizes(config, verb, error);
}

/* Where all begin at one instant and count from it, rough clocks only mean that they begin apart: a barrier. */
static int measure_by_barrier(struct vv_rounds *rounds, struct vv_error *error) {
  if (rounds->session->stack->release) return vv_fars_refuse(rounds->set, rounds->clock_error_ns, error);
  rounds->clock = VV_ROUNDS_CLOCK_BARRIER;
  if (!rounds->config->takes_part) return run_series(rounds, error);
  for (size_t i = 0; i < rounds->count * ends_of(rounds); i++) {
    if (rounds->each_ns[i] < 0) rounds->each_ns[i] = 0; /* a clock that was set in that round */
  }
  return 0;
}

int vv_rounds_cell(struct vv_session *session, const struct vv_rounds_config *config, size_t size_bytes,
                   struct vv_error *error) {
  struct vv_rounds rounds = {.session = session,
                             .config = config,
                             .size_bytes = size_bytes,
                             .clock = session->config->one_clock ? VV_ROUNDS_CLOCK_COMMON : VV_ROUNDS_CLOCK_BOUNDED};
  rounds.fars = vv_fars_meet(session, true, error);
  if (!rounds.fars) return -1;
  rounds.resent = count_resent(&rounds);
  rounds.patience_ns = (int64_t)(config->on_medium + 1) * vv_session_patience_ns(session, size_bytes);
  if (session->stack->began) rounds.patience_ns += SESSION_NS;
  int result = vv_slots_cut(&session->out, session->config->buffers, size_bytes, session->seq, error) < 0 ? -1 : 0;
  if (result == 0) result = run_series(&rounds, error);
  if (result == 0 && !clocks_tell(&rounds)) result = measure_by_barrier(&rounds, error);
  if (result == 0) result = print_cell(&rounds, error);
  if (result == 0) warn(&rounds);
  free(rounds.last_ns);
  free(rounds.each_ns);
  free(rounds.setups_ns);
  free(rounds.begins_ns);
  return result;
}

/* far ------------------------------------------------------------------ */

struct rounds_taking {
  struct vv_session *session;
  size_t size_bytes;
  vv_ns hush_ns;
  int64_t barrier;      /* 1: times count from `start` */
  uint64_t started_tag; /* of the round that it began last */
  vv_ns started_ns;     /* when it was heard; 0: by the clock, or none was heard yet */
  int64_t messages;
  int64_t corrupt;
};

/* A control line, if there is one. 1: the rounds are over. */
static int obey(struct rounds_taking *taking, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  if (vv_session_why(taking->session, error) != 0) return -1;
  int got = vv_control_take(&taking->session->control, line, error);
  if (got <= 0) return got;
  if (vv_line_is(line, "end")) return 1;
  char tag[24];
  if (!vv_line_is(line, "start") || !vv_line_word(line, "tag", tag, sizeof tag)) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\" in a round", line);
  }
  taking->started_ns = vv_clock_real_ns();
  taking->started_tag = strtoull(tag, NULL, 10);
  return 0;
}

/* Whether this end was not there yet when the round began: it heard of the barrier after its message had come. */
static bool came_late(const struct rounds_taking *taking, uint64_t tag) {
  return taking->barrier && (taking->started_ns == 0 || taking->started_tag != tag);
}

int vv_rounds_hush(struct vv_session *session, vv_ns hush_ns, struct vv_error *error) {
  if (vv_watch_wait(&session->control.fd, 1, vv_clock_ns() + hush_ns, error) >= 0) return 1;
  return error->kind == VV_CODE_TIMEOUT ? 0 : -1;
}

/* 0: one message was taken; 1: the rounds are over. */
static int take_one(struct rounds_taking *taking, struct vv_error *error) {
  struct vv_session *session = taking->session;
  uint8_t *message = vv_slots_at(&session->in, session->seq);
  enum vv_got got;
  int over;
  while ((got = vv_session_recv(session, message, taking->size_bytes, error)) != VV_GOT_MESSAGE) {
    if (got == VV_GOT_ERROR) return -1;
    if (got == VV_GOT_CLOSED) return vv_session_closed(session, error);
    if ((over = obey(taking, error)) != 0) return over;
  }
  vv_ns at_ns = vv_clock_real_ns() - taking->started_ns;
  uint64_t seq = -vv_payload_age(&session->payload, 0, message, taking->size_bytes);
  uint64_t tag = vv_rounds_tag(seq, taking->size_bytes);
  bool late = came_late(taking, tag);
  bool whole = taking->size_bytes > VV_PAYLOAD_TAG_BYTES;
  taking->corrupt += whole && !vv_payload_check(&session->payload, seq, message, taking->size_bytes);
  taking->messages++;
  session->seq++;
  while ((over = vv_rounds_hush(session, taking->hush_ns, error)) == 1) {
    if ((over = obey(taking, error)) != 0) return over;
  }
  if (over != 0) return over;
  return vv_control_send(&session->control, error, "got tag=%" PRIu64 " at_ns=%" PRId64 " missing=0 late=%d", tag,
                         at_ns, late);
}

static int take_all(struct rounds_taking *taking, struct vv_error *error) {
  struct vv_control *control = &taking->session->control;
  vv_ns cpu_start_ns = vv_clock_cpu_ns();
  int over = vv_control_send(control, error, "go");
  while (over == 0) over = take_one(taking, error);
  if (over < 0) return -1;
  /* What releases the far ends is a message, too. */
  vv_tally_messages(taking->session, taking->size_bytes, 0,
                    (uint64_t)taking->messages + (taking->session->stack->release != NULL));
  return vv_control_send(control, error, "done corrupt=%" PRId64 " messages=%" PRId64 " cpu_ns=%" PRId64 " resent=0",
                         taking->corrupt, taking->messages, vv_clock_cpu_ns() - cpu_start_ns);
}

int vv_rounds_far(struct vv_session *session, const char *line, struct vv_error *error) {
  struct rounds_taking taking = {.session = session};
  int64_t size_bytes;
  if (vv_control_number(line, "size_bytes", &size_bytes, error) != 0 ||
      vv_control_number(line, "hush_ns", &taking.hush_ns, error) != 0 ||
      vv_control_number(line, "barrier", &taking.barrier, error) != 0) {
    return -1;
  }
  if (size_bytes < 1 || (uint64_t)size_bytes > session->size_bytes_max) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
  }
  taking.size_bytes = (size_t)size_bytes;
  if (vv_slots_cut(&session->in, session->config->buffers, taking.size_bytes, session->seq, error) < 0) return -1;
  return take_all(&taking, error);
}
