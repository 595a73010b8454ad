/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/series.h"

#include <inttypes.h>

#include "io/os/watch.h"
#include "probe/show/cell.h"

static bool far_listens(const struct vv_series *series) {
  return !series->told && series->session->control.fd != VV_CONTROL_NONE && !series->session->stack->kernel_echo;
}

int vv_series_begin(struct vv_series *series, struct vv_session *session, const struct vv_series_config *config,
                    struct vv_error *error) {
  enum vv_probe_buffers kind = session->config->buffers;
  char line[VV_LINE_BYTES_MAX];
  *series = (struct vv_series){
      .session = session, .size_bytes = config->size_bytes, .far_check_ns = config->check_ns, .told = config->told};
  series->patience_ns = vv_session_patience_ns(session, config->size_bytes);
  series->idle_ns = session->config->idle_ns;
  if (session->config->idle_wire) series->idle_ns += 2 * vv_cell_wire_ns(session->config, config->size_bytes, 1);
  int cut = vv_slots_cut(&session->out, kind, config->size_bytes, session->seq, error);
  if (cut < 0 || vv_slots_cut(&session->in, kind, config->size_bytes, session->seq, error) < 0) return -1;
  /* A series of the size of the one before finds its messages written. */
  for (uint64_t seq = session->seq; cut && seq < session->seq + session->out.slots; seq++) {
    vv_payload_fill(&session->payload, seq, vv_slots_at(&session->out, seq), config->size_bytes);
  }
  if (!far_listens(series)) return 0;
  if (vv_control_send(&session->control, error, "%s size_bytes=%zu check_every=%" PRIu32 " train=%" PRIu32 "%s",
                      config->verb, config->size_bytes, config->check_every, config->train,
                      config->more ? config->more : "") != 0 ||
      vv_session_expect(session, "go", line, error) != 0) {
    return -1;
  }
  return vv_control_number(line, "check_ns", &series->far_check_ns, error);
}

int vv_series_end(struct vv_series *series, struct vv_error *error) {
  struct vv_session *session = series->session;
  char line[VV_LINE_BYTES_MAX];
  vv_tally_messages(session, series->size_bytes, series->given, series->taken);
  if (!far_listens(series)) return 0;
  if (vv_control_send(&session->control, error, "end") != 0 || vv_session_expect(session, "done", line, error) != 0 ||
      vv_control_number(line, "messages", &series->far_messages, error) != 0 ||
      vv_control_number(line, "corrupt", &series->far_corrupt, error) != 0) {
    return -1;
  }
  return vv_control_number(line, "cpu_ns", &series->far_cpu_ns, error);
}

static int spin_until(struct vv_session *session, vv_ns until_ns, struct vv_error *error) {
  while (vv_clock_ns() < until_ns) {
    if (vv_watch_rang() && vv_session_why(session, error) != 0) return -1;
  }
  return 0;
}

/* In virtual time a pause is nothing. */
int vv_series_pause(const struct vv_series *series, struct vv_error *error) {
  struct vv_session *session = series->session;
  if (vv_watch_rang() && vv_session_why(session, error) != 0) return -1;
  if (session->stack->alone) return 0;
  while (vv_clock_ns() < series->not_before_ns) continue;
  if (series->idle_ns == 0) return 0;
  vv_ns until_ns = vv_clock_ns() + series->idle_ns;
  return session->config->wait == VV_WAIT_SPIN ? spin_until(session, until_ns, error) : vv_watch_sleep(until_ns, error);
}

/* What a call that did not end with a message means. VV_OUTCOME_ANSWERED: make it again. */
static enum vv_outcome judge(struct vv_session *session, enum vv_got got, struct vv_error *error) {
  if (got == VV_GOT_CLOSED) vv_session_closed(session, error);
  if (got != VV_GOT_STOPPED || vv_session_why(session, error) != 0) return VV_OUTCOME_FAILED;
  return vv_session_clock_ns(session) >= session->stop_at_ns ? VV_OUTCOME_LOST : VV_OUTCOME_ANSWERED;
}

enum vv_outcome vv_series_give(struct vv_series *series, struct vv_error *error) {
  struct vv_session *session = series->session;
  const uint8_t *message = vv_series_message(series);
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  while (outcome == VV_OUTCOME_ANSWERED) {
    enum vv_got got = vv_session_send(session, message, series->size_bytes, error);
    series->given += got == VV_GOT_MESSAGE;
    if (got == VV_GOT_MESSAGE) return VV_OUTCOME_ANSWERED;
    outcome = judge(session, got, error);
  }
  return outcome;
}

/* Whether this is an answer to an earlier message, as far as its tag can tell. */
static bool is_stale(const struct vv_series *series, const uint8_t *answer) {
  const struct vv_session *session = series->session;
  size_t size_bytes = series->size_bytes;
  uint64_t age = vv_payload_age(&session->payload, session->seq, answer, size_bytes);
  uint64_t half = size_bytes < VV_PAYLOAD_TAG_BYTES ? UINT64_C(1) << (8 * size_bytes) >> 1 : UINT64_MAX;
  return age > 0 && age <= session->seq && age < half;
}

enum vv_outcome vv_series_take(struct vv_series *series, struct vv_error *error) {
  struct vv_session *session = series->session;
  uint8_t *answer = vv_series_answer(series);
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  while (outcome == VV_OUTCOME_ANSWERED) {
    enum vv_got got = vv_session_recv(session, answer, series->size_bytes, error);
    series->taken += got == VV_GOT_MESSAGE;
    bool stale = got == VV_GOT_MESSAGE && session->stack->datagram && is_stale(series, answer);
    if (got == VV_GOT_MESSAGE && !stale) return VV_OUTCOME_ANSWERED;
    series->late += stale;
    if (!stale) outcome = judge(session, got, error);
  }
  return outcome;
}

enum vv_outcome vv_series_over(struct vv_series *series, enum vv_outcome outcome, vv_ns end_ns) {
  struct vv_session *session = series->session;
  bool late = outcome == VV_OUTCOME_ANSWERED && session->stack->datagram && end_ns > session->stop_at_ns;
  session->stop_at_ns = VV_NEVER;
  series->late += late;
  return late ? VV_OUTCOME_LOST : outcome;
}

int vv_series_elapsed(vv_ns start_ns, vv_ns end_ns, vv_ns *elapsed_ns, struct vv_error *error) {
  *elapsed_ns = end_ns - start_ns;
  if (*elapsed_ns >= 0) return 0;
  vv_error_set(error, "clock-backwards", "the clock went back by %" PRId64 " ns within one exchange", -*elapsed_ns);
  return vv_error_remedy(error,
                         "measure on a host whose monotonic clock is sound: see its clocksource and its hypervisor");
}

/* Takes and drops whatever comes within the time that an answer has. 0, or -1 and *error. */
static int let_pass(struct vv_series *series, struct vv_error *error) {
  struct vv_session *session = series->session;
  enum vv_outcome outcome = VV_OUTCOME_ANSWERED;
  session->stop_at_ns = vv_session_clock_ns(session) + series->patience_ns;
  while (outcome == VV_OUTCOME_ANSWERED) {
    enum vv_got got = vv_session_recv(session, vv_series_answer(series), series->size_bytes, error);
    series->late += got == VV_GOT_MESSAGE;
    if (got != VV_GOT_MESSAGE) outcome = judge(session, got, error);
  }
  session->stop_at_ns = VV_NEVER;
  return outcome == VV_OUTCOME_LOST ? 0 : -1;
}

static int recover(struct vv_series *series, bool alike, struct vv_error *error) {
  struct vv_session *session = series->session;
  if (!session->stack->datagram) {
    vv_error_set(error, "no-answer", "%s: no answer to a message of %zu bytes within %" PRId64 " ms",
                 session->stack->id, series->size_bytes, series->patience_ns / VV_MS);
    return vv_error_remedy(error, "see whether the far host still runs; give a longer --timeout-ms to a slow network");
  }
  bool told_apart = series->size_bytes >= VV_PAYLOAD_TAG_BYTES && !alike;
  if (told_apart) return 0;
  return series->told ? let_pass(series, error) : vv_session_reopen(session, error);
}

enum vv_outcome vv_series_settle(struct vv_series *series, enum vv_outcome outcome, bool alike,
                                 struct vv_error *error) {
  struct vv_session *session = series->session;
  if (outcome == VV_OUTCOME_FAILED) return VV_OUTCOME_FAILED;
  if (series->far_check_ns > 0) series->not_before_ns = vv_clock_ns() + series->far_check_ns;
  if (outcome == VV_OUTCOME_LOST) {
    series->lost++;
    if (recover(series, alike, error) != 0) return VV_OUTCOME_FAILED;
  } else if (!vv_payload_check(&session->payload, session->seq, vv_series_answer(series), series->size_bytes)) {
    series->corrupt++;
    outcome = VV_OUTCOME_WRONG;
  } else {
    series->answered++;
  }
  uint8_t *message = vv_series_message(series);
  vv_payload_fill(&session->payload, session->seq + session->out.slots, message, series->size_bytes);
  session->seq++;
  return outcome;
}

void vv_series_record(struct vv_record *record, const struct vv_series *series) {
  int64_t corrupt = series->corrupt;
  vv_record_int(record, "lost", series->lost);
  vv_record_int(record, "late", series->late);
  vv_record_int(record, "corrupt", corrupt > series->far_corrupt ? corrupt : series->far_corrupt);
}

int vv_series_exchange(struct vv_series *series, vv_ns *ns, struct vv_error *error) {
  struct vv_session *session = series->session;
  if (vv_series_pause(series, error) != 0) return -1;
  vv_ns start_ns = vv_session_clock_ns(session);
  session->stop_at_ns = start_ns + series->patience_ns;
  enum vv_outcome outcome = vv_series_give(series, error);
  if (outcome == VV_OUTCOME_ANSWERED) outcome = vv_series_take(series, error);
  vv_ns end_ns = vv_session_clock_ns(session);
  outcome = vv_series_over(series, outcome, end_ns);
  if (outcome == VV_OUTCOME_FAILED || vv_series_elapsed(start_ns, end_ns, ns, error) != 0) return -1;
  outcome = vv_series_settle(series, outcome, false, error);
  return outcome == VV_OUTCOME_FAILED ? -1 : outcome == VV_OUTCOME_ANSWERED;
}
