/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The question connect: what does a new connection cost?
 *
 * near: connect                            far: go
 *       (connects) link contact=...             linked
 *       ... again and again ...
 *       end                                     done
 *
 * Only connect() is timed. The far end's kernel answers it; its process takes
 * the connection when told, which is outside the timed part. Where its process
 * answers (llc) it is told first, says "accepting", and then waits.
 */
#include <errno.h>
#include <stdlib.h>

#include "probe/ask/question.h"
#include "probe/kit/series.h"

#define PATIENCE_NS (5 * VV_SEC)

static int check(const struct vv_probe_config *config, struct vv_error *error) {
  if (!config->stack->datagram && !config->stack->joined) return 0;
  vv_error_set(error, "usage", "%s has no connections of its own", config->stack->id);
  return vv_error_remedy(error, "ask a tcp stack");
}

/* Where the far end must be in accept for a connection to come about, it is told beforehand. */
static int call_far(struct vv_session *session, const char *contact, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  if (!session->stack->user_accepts) return 0;
  if (vv_control_send(&session->control, error, "link contact=%s", contact) != 0) return -1;
  return vv_session_expect(session, "accepting", line, error);
}

static int link_far(struct vv_session *session, const char *contact, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  if (!session->stack->user_accepts && vv_control_send(&session->control, error, "link contact=%s", contact) != 0) {
    return -1;
  }
  return vv_session_expect(session, "linked", line, error);
}

static int connect_once(struct vv_session *session, const char *far_contact, vv_ns *ns, struct vv_error *error) {
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_end *end = vv_session_open_end(session, contact, error);
  if (!end) return -1;
  int result = call_far(session, contact, error);
  vv_ns start_ns = vv_clock_ns();
  if (result == 0) result = session->stack->connect(end, far_contact, start_ns + PATIENCE_NS, error);
  if (result == 0) result = vv_series_elapsed(start_ns, vv_clock_ns(), ns, error);
  if (result == 0) result = link_far(session, contact, error);
  session->stack->close(end);
  return result;
}

/* The first one finds nothing warm: it is not counted. */
static int connect_many(struct vv_session *session, vv_ns *connect_ns, size_t *count, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX], far_contact[VV_STACK_CONTACT_MAX];
  vv_ns deadline_ns = vv_clock_ns() + session->config->cell_ns, first_ns;
  if (vv_control_send(&session->control, error, "connect") != 0 || vv_session_expect(session, "go", line, error) != 0) {
    return -1;
  }
  if (!vv_line_word(line, "contact", far_contact, sizeof far_contact)) {
    return vv_error_set(error, "bad-control", "the far end did not say how to reach it");
  }
  if (connect_once(session, far_contact, &first_ns, error) != 0) return -1;
  do {
    if (connect_once(session, far_contact, &connect_ns[*count], error) != 0) return -1;
    ++*count;
  } while (vv_probe_config_goes_on(session->config, *count, 0, vv_clock_ns() < deadline_ns));
  if (vv_control_send(&session->control, error, "end") != 0) return -1;
  return vv_session_expect(session, "done", line, error);
}

static int print_cell(const vv_ns *connect_ns, size_t count, struct vv_error *error) {
  struct vv_record record;
  vv_record_begin_cell(&record, "connect", 0, 1);
  vv_record_ints(&record, "connect_ns", connect_ns, count);
  vv_record_int(&record, "lost", 0);
  vv_record_int(&record, "late", 0);
  vv_record_int(&record, "warmup", 1);
  vv_record_bool(&record, "warm", true);
  vv_record_int(&record, "corrupt", 0);
  vv_record_null(&record, "cpu_near_ns");
  vv_record_null(&record, "cpu_far_ns");
  vv_record_null(&record, "wire");
  return vv_record_end(&record, error);
}

static int near_cell(struct vv_session *session, size_t size_bytes, struct vv_error *error) {
  (void)size_bytes;
  size_t count = 0;
  session->tally.unknown = true; /* what a connection sends is the kernel's affair */
  vv_ns *connect_ns = malloc(session->config->samples * sizeof *connect_ns);
  if (!connect_ns) return vv_error_set(error, "no-memory", "no memory for %u samples", session->config->samples);
  int result = connect_many(session, connect_ns, &count, error);
  if (result == 0) result = print_cell(connect_ns, count, error);
  free(connect_ns);
  return result;
}

/* One line of the near end. 1: it was the last. */
static int serve_line(struct vv_session *session, struct vv_end *end, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX], contact[VV_STACK_CONTACT_MAX];
  if (vv_control_receive(&session->control, line, VV_NEVER, error) != 0) return -1;
  if (vv_line_is(line, "end")) return 1;
  if (!vv_line_is(line, "link") || !vv_line_word(line, "contact", contact, sizeof contact)) {
    return vv_error_set(error, "bad-control", "the near end said \"%.80s\" in the middle of connect", line);
  }
  if (session->stack->user_accepts && vv_control_send(&session->control, error, "accepting") != 0) return -1;
  if (session->stack->accept(end, contact, vv_clock_ns() + PATIENCE_NS, error) != 0) return -1;
  return vv_control_send(&session->control, error, "linked");
}

static int far_cell(struct vv_session *session, const char *line, struct vv_error *error) {
  (void)line;
  session->tally.unknown = true;
  char contact[VV_STACK_CONTACT_MAX];
  struct vv_end *end = vv_session_open_end(session, contact, error);
  if (!end) return -1;
  int result = vv_control_send(&session->control, error, "go contact=%s", contact);
  while (result == 0) result = serve_line(session, end, error);
  session->stack->close(end);
  return result < 0 ? -1 : vv_control_send(&session->control, error, "done");
}

const struct vv_question vv_question_connect = {
    .id = "connect", .sizeless = true, .check = check, .near = near_cell, .far = far_cell};
