/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/time.h"
#include "io/os/watch.h"

struct answering {
  struct vv_session *session;
  size_t size_bytes;
  int64_t check_every;
  int64_t train;    /* messages to one answer */
  int64_t came;     /* of the train that is coming */
  int64_t messages; /* answered */
  uint64_t taken;
  uint8_t tag[VV_PAYLOAD_TAG_BYTES];
  int64_t corrupt;
  vv_ns cpu_start_ns;           /* after the first message: that one bears what a pause costs */
  vv_ns checking_ns;            /* since then; no cost of a message */
  const struct vv_marks *marks; /* of a marked series: the end's; else NULL */
  struct vv_marks *log;
};

/* Its own tag says which message it must be: the near end knows whether it was due. */
static bool is_sound(const struct answering *answering, const uint8_t *message) {
  const struct vv_payload *payload = &answering->session->payload;
  if (answering->size_bytes <= VV_PAYLOAD_TAG_BYTES) return true;
  uint64_t seq = -vv_payload_age(payload, 0, message, answering->size_bytes);
  return vv_payload_check(payload, seq, message, answering->size_bytes);
}

/* How long the check of one message takes; a quarter more, because it is measured but twice. */
static vv_ns check_ns(const struct answering *answering) {
  const struct vv_session *session = answering->session;
  uint8_t *message = vv_slots_at(&session->in, session->seq);
  vv_ns least_ns = INT64_MAX;
  vv_payload_fill(&session->payload, 0, message, answering->size_bytes);
  for (int i = 0; i < 2; i++) {
    vv_ns start_ns = vv_clock_ns();
    if (!is_sound(answering, message)) return 0;
    vv_ns took_ns = vv_clock_ns() - start_ns;
    if (took_ns < least_ns) least_ns = took_ns;
  }
  return least_ns + least_ns / 4;
}

/* A control line, if there is one. 1: the run is over. */
static int obey(struct answering *answering, struct vv_error *error) {
  struct vv_session *session = answering->session;
  char line[VV_LINE_BYTES_MAX];
  if (vv_session_why(session, error) != 0) return -1;
  int got = vv_control_take(&session->control, line, error);
  if (got <= 0) return got;
  if (vv_line_is(line, "end")) return 1;
  answering->came = 0;
  if (vv_line_is(line, "open")) return vv_session_serve_open(session, line, error);
  return vv_error_set(error, "bad-control", "the near end said \"%.80s\" in the middle of a series", line);
}

/* What to do when a call did not end with a message. 0: make it again. */
static int after(struct answering *answering, enum vv_got got, struct vv_error *error) {
  if (got == VV_GOT_STOPPED) return obey(answering, error);
  if (got == VV_GOT_CLOSED) return vv_session_closed(answering->session, error);
  return -1;
}

static void check_answered(struct answering *answering, const uint8_t *message) {
  vv_ns start_ns = vv_clock_ns();
  answering->corrupt += !is_sound(answering, message);
  answering->checking_ns += vv_clock_ns() - start_ns;
}

static void begin_cpu(struct answering *answering) {
  answering->checking_ns = 0;
  answering->cpu_start_ns = vv_clock_cpu_ns();
}

/*
 * Whether the train that `message` belongs to is whole. All messages of a train are alike: another tag is that of a
 * new train, after one of which something was lost or came twice.
 */
static bool ends_train(struct answering *answering, const uint8_t *message) {
  if (answering->train == 1) return true;
  size_t tag_bytes = answering->size_bytes < VV_PAYLOAD_TAG_BYTES ? answering->size_bytes : VV_PAYLOAD_TAG_BYTES;
  if (answering->came > 0 && memcmp(message, answering->tag, tag_bytes) != 0) answering->came = 0;
  memcpy(answering->tag, message, tag_bytes);
  answering->came = answering->came + 1 < answering->train ? answering->came + 1 : 0;
  return answering->came == 0;
}

/* The marks of the message that was answered. */
static void keep_marks(struct answering *answering) {
  bool wanted = answering->marks && answering->messages < VV_ANSWER_MARKED_MAX;
  if (wanted) answering->log[answering->messages] = *answering->marks;
}

static int begin_marks(struct answering *answering, struct vv_error *error) {
  struct vv_session *session = answering->session;
  if (!session->stack->mark) return vv_error_set(error, "bad-control", "%s keeps no marks", session->stack->id);
  answering->log = calloc(VV_ANSWER_MARKED_MAX, sizeof *answering->log);
  if (!answering->log) return vv_error_set(error, "no-memory", "no memory for marks");
  answering->marks = session->stack->mark(session->end, true);
  return 0;
}

static int tell_marks(struct answering *answering, struct vv_error *error) {
  struct vv_control *control = &answering->session->control;
  int64_t count = answering->messages < VV_ANSWER_MARKED_MAX ? answering->messages : VV_ANSWER_MARKED_MAX;
  int result = vv_control_send(control, error, "marks count=%" PRId64, count);
  for (int64_t i = 0; i < count && result == 0; i++) {
    const vv_ns *at_ns = answering->log[i].at_ns;
    result = vv_control_send(control, error,
                             "passed given=%" PRId64 " queued=%" PRId64 " made=%" PRId64 " device=%" PRId64
                             " taken=%" PRId64 " ready=%" PRId64 " got=%" PRId64,
                             at_ns[VV_MARK_GIVEN], at_ns[VV_MARK_QUEUED], at_ns[VV_MARK_MADE], at_ns[VV_MARK_DEVICE],
                             at_ns[VV_MARK_TAKEN], at_ns[VV_MARK_READY], at_ns[VV_MARK_GOT]);
  }
  return result;
}

/* 0: one message was taken, and answered if it was its turn; 1: the series is over. */
static int take_one(struct answering *answering, struct vv_error *error) {
  struct vv_session *session = answering->session;
  uint8_t *message = vv_slots_at(&session->in, session->seq);
  size_t size_bytes = answering->size_bytes;
  enum vv_got got;
  int over;
  while ((got = vv_session_recv(session, message, size_bytes, error)) != VV_GOT_MESSAGE) {
    if ((over = after(answering, got, error)) != 0) return over;
  }
  answering->taken++;
  if (!ends_train(answering, message)) return vv_watch_rang() ? obey(answering, error) : 0;
  while ((got = vv_session_send(session, message, size_bytes, error)) != VV_GOT_MESSAGE) {
    if ((over = after(answering, got, error)) != 0) return over;
  }
  keep_marks(answering);
  session->seq++;
  if (++answering->messages % answering->check_every == 0) check_answered(answering, message);
  if (answering->messages == 1) begin_cpu(answering);
  return vv_watch_rang() ? obey(answering, error) : 0;
}

static int answer_all(struct answering *answering, struct vv_error *error) {
  struct vv_control *control = &answering->session->control;
  if (vv_control_send(control, error, "go check_ns=%" PRId64, check_ns(answering)) != 0) return -1;
  int over = 0;
  while (over == 0) over = take_one(answering, error);
  if (over < 0) return -1;
  vv_tally_messages(answering->session, answering->size_bytes, (uint64_t)answering->messages, answering->taken);
  vv_ns cpu_ns = vv_clock_cpu_ns() - answering->cpu_start_ns - answering->checking_ns;
  int64_t counted = answering->messages > 0 ? answering->messages - 1 : 0;
  if (vv_control_send(control, error, "done messages=%" PRId64 " corrupt=%" PRId64 " cpu_ns=%" PRId64, counted,
                      answering->corrupt, cpu_ns) != 0) {
    return -1;
  }
  return answering->marks ? tell_marks(answering, error) : 0;
}

int vv_answer_series(struct vv_session *session, const char *line, struct vv_error *error) {
  struct answering answering = {.session = session};
  int64_t size_bytes;
  char marked[8];
  if (vv_control_number(line, "size_bytes", &size_bytes, error) != 0 ||
      vv_control_number(line, "check_every", &answering.check_every, error) != 0 ||
      vv_control_number(line, "train", &answering.train, error) != 0) {
    return -1;
  }
  if (size_bytes < 0 || (uint64_t)size_bytes > session->size_bytes_max || answering.check_every < 1 ||
      answering.train < 1) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
  }
  answering.size_bytes = (size_t)size_bytes;
  if (vv_slots_cut(&session->in, session->config->buffers, answering.size_bytes, session->seq, error) < 0) return -1;
  int result = vv_line_word(line, "marked", marked, sizeof marked) ? begin_marks(&answering, error) : 0;
  if (result == 0) result = answer_all(&answering, error);
  if (answering.marks) session->stack->mark(session->end, false);
  free(answering.log);
  return result;
}
