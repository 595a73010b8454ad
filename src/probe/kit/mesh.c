/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/mesh.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "io/os/watch.h"

#define PATIENCE_NS (5 * VV_SEC)
#define AWAKE_NS    (60 * VV_US) /* before a round begins: longer than it takes to wake up */

int vv_mesh_check_pairs(size_t count, const char *verb, struct vv_error *error) {
  if (count % 2 == 0) return 0;
  vv_error_set(error, "usage", "--ask %s: %zu ends are no pairs", verb, count);
  return vv_error_remedy(error, "an even number of ends, the near one among them");
}

/* joining -------------------------------------------------------------- */

static int bad_line(const char *line, struct vv_error *error) {
  return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
}

/* Tells a far end something; *contact is the word of its answer. */
static int ask_contact(struct vv_session *far, const char *answer, char contact[VV_STACK_CONTACT_MAX],
                       struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  if (vv_session_expect(far, answer, line, error) != 0) return -1;
  if (vv_line_word(line, "contact", contact, VV_STACK_CONTACT_MAX)) return 0;
  return vv_error_set(error, "bad-control", "the far end did not say how to reach it");
}

static int connect_own(struct vv_mesh *mesh, size_t to, const char *contact, char own[VV_STACK_CONTACT_MAX],
                       struct vv_error *error) {
  struct vv_session *session = mesh->session;
  mesh->ends[to] = vv_session_open_as(session, false, own, error);
  if (!mesh->ends[to]) return -1;
  return session->stack->connect(mesh->ends[to], contact, vv_clock_ns() + PATIENCE_NS, error);
}

static int join_two(struct vv_mesh *mesh, struct vv_fars *fars, size_t low, size_t high, struct vv_error *error) {
  struct vv_session *listener = fars->ends[high - 1].session, *joiner = low > 0 ? fars->ends[low - 1].session : NULL;
  char contact[VV_STACK_CONTACT_MAX], back[VV_STACK_CONTACT_MAX], line[VV_LINE_BYTES_MAX];
  if (vv_control_send(&listener->control, error, "listen from=%zu", low) != 0 ||
      ask_contact(listener, "listening", contact, error) != 0) {
    return -1;
  }
  if (!joiner && connect_own(mesh, high, contact, back, error) != 0) return -1;
  if (joiner && (vv_control_send(&joiner->control, error, "join to=%zu contact=%s", high, contact) != 0 ||
                 ask_contact(joiner, "joining", back, error) != 0)) {
    return -1;
  }
  if (vv_control_send(&listener->control, error, "admit from=%zu contact=%s", low, back) != 0) return -1;
  return vv_session_expect(listener, "admitted", line, error);
}

int vv_mesh_join(struct vv_mesh *mesh, struct vv_fars *fars, struct vv_error *error) {
  for (size_t low = 0; low < mesh->count; low++) {
    for (size_t high = low + 1; high < mesh->count; high++) {
      if (mesh->in_pairs && high != vv_mesh_partner(low)) continue;
      if (join_two(mesh, fars, low, high, error) != 0) return -1;
    }
  }
  return 0;
}

static int serve_listen(struct vv_mesh *mesh, size_t from, struct vv_error *error) {
  char contact[VV_STACK_CONTACT_MAX];
  mesh->ends[from] = vv_session_open_as(mesh->session, true, contact, error);
  if (!mesh->ends[from]) return -1;
  return vv_control_send(&mesh->session->control, error, "listening contact=%s", contact);
}

static int serve_join(struct vv_mesh *mesh, size_t to, const char *contact, struct vv_error *error) {
  char own[VV_STACK_CONTACT_MAX];
  if (connect_own(mesh, to, contact, own, error) != 0) return -1;
  return vv_control_send(&mesh->session->control, error, "joining contact=%s", own);
}

static int serve_admit(struct vv_mesh *mesh, size_t from, const char *contact, struct vv_error *error) {
  struct vv_end *end = mesh->ends[from];
  if (!end) return vv_error_set(error, "bad-control", "nobody listens for end %zu", from);
  if (mesh->session->stack->accept(end, contact, vv_clock_ns() + PATIENCE_NS, error) != 0) return -1;
  return vv_control_send(&mesh->session->control, error, "admitted");
}

int vv_mesh_serve(struct vv_mesh *mesh, const char *line, struct vv_error *error) {
  bool listens = vv_line_is(line, "listen"), joins = vv_line_is(line, "join");
  char contact[VV_STACK_CONTACT_MAX];
  int64_t other;
  if (!listens && !joins && !vv_line_is(line, "admit")) return 0;
  if (vv_control_number(line, joins ? "to" : "from", &other, error) != 0) return -1;
  bool known = other >= 0 && (size_t)other < mesh->count && (size_t)other != mesh->number;
  if (!known || (!listens && !vv_line_word(line, "contact", contact, sizeof contact))) {
    return bad_line(line, error);
  }
  if (listens || joins) {
    mesh->session->stack->close(mesh->ends[other]);
    mesh->ends[other] = NULL;
  }
  int result = listens ? serve_listen(mesh, (size_t)other, error)
               : joins ? serve_join(mesh, (size_t)other, contact, error)
                       : serve_admit(mesh, (size_t)other, contact, error);
  return result == 0 ? 1 : -1;
}

void vv_mesh_part(struct vv_mesh *mesh) {
  for (size_t i = 0; i < mesh->count; i++) mesh->session->stack->close(mesh->ends[i]);
  *mesh = (struct vv_mesh){0};
}

int64_t vv_mesh_resent(const struct vv_mesh *mesh) {
  const struct vv_stack *stack = mesh->session->stack;
  int64_t resent = 0;
  for (size_t i = 0; stack->resent && i < mesh->count; i++) {
    if (mesh->ends[i]) resent += stack->resent(mesh->ends[i]);
  }
  return resent;
}

/* a round -------------------------------------------------------------- */

int vv_mesh_round_open(struct vv_mesh_round *round, struct vv_mesh *mesh, size_t size_bytes, struct vv_error *error) {
  *round = (struct vv_mesh_round){.mesh = mesh, .size_bytes = size_bytes};
  round->out = malloc(size_bytes);
  round->in = calloc(mesh->count, size_bytes);
  if (round->out && round->in) return 0;
  return vv_error_set(error, "no-memory", "no memory for %zu messages of %zu bytes", mesh->count, size_bytes);
}

void vv_mesh_round_close(struct vv_mesh_round *round) {
  free(round->out);
  free(round->in);
}

/* Each sender's message of a round is another one. */
static uint64_t seq_of(const struct vv_mesh_round *round, size_t sender) {
  return round->seq * VV_MESH_MAX + sender;
}

static size_t make_flows(const struct vv_mesh_round *round, struct vv_flow flows[VV_MESH_MAX]) {
  const struct vv_mesh *mesh = round->mesh;
  size_t count = 0, tag_bytes = round->size_bytes < VV_PAYLOAD_TAG_BYTES ? round->size_bytes : VV_PAYLOAD_TAG_BYTES;
  for (size_t i = 0; i < mesh->count; i++) {
    if (!mesh->ends[i]) continue;
    struct vv_flow *flow = &flows[count++];
    *flow = (struct vv_flow){.end = mesh->ends[i],
                             .out = round->out,
                             .out_bytes = round->size_bytes,
                             .in = round->in + i * round->size_bytes,
                             .size_bytes = round->size_bytes,
                             .in_bytes = round->size_bytes};
    vv_payload_fill(&mesh->session->payload, seq_of(round, i), flow->tag, tag_bytes);
  }
  return count;
}

/* All begin together, and awake, so that no wake-up is timed. Ends that share a processor take turns until then. */
static int wait_for_begin(struct vv_mesh_round *round, struct vv_error *error) {
  vv_ns left_ns = round->begun_ns - vv_clock_real_ns(), begin_ns = vv_clock_ns() + left_ns;
  round->late = left_ns < 0;
  if (left_ns > AWAKE_NS && vv_watch_sleep(begin_ns - AWAKE_NS, error) != 0) return -1;
  while (vv_clock_ns() < begin_ns) sched_yield();
  return 0;
}

int vv_mesh_run(struct vv_mesh_round *round, const struct vv_watch_stop *stop, struct vv_error *error) {
  struct vv_flow flows[VV_MESH_MAX];
  struct vv_mesh *mesh = round->mesh;
  vv_payload_fill(&mesh->session->payload, seq_of(round, mesh->number), round->out, round->size_bytes);
  size_t count = make_flows(round, flows);
  if (wait_for_begin(round, error) != 0) return -1;
  enum vv_got got = mesh->session->stack->flow(flows, count, stop, error);
  round->ended_ns = vv_clock_real_ns();
  round->missing = 0;
  for (size_t i = 0; i < count; i++) round->missing += flows[i].in_bytes > 0 || flows[i].out_bytes > 0;
  if (got == VV_GOT_CLOSED) return vv_error_set(error, "peer-gone", "another end has closed its connection");
  return got == VV_GOT_ERROR ? -1 : 0;
}

void vv_mesh_check(struct vv_mesh_round *round) {
  const struct vv_mesh *mesh = round->mesh;
  round->corrupt = 0;
  for (size_t i = 0; i < mesh->count && round->missing == 0; i++) {
    if (!mesh->ends[i]) continue;
    const uint8_t *message = round->in + i * round->size_bytes;
    round->corrupt += !vv_payload_check(&mesh->session->payload, seq_of(round, i), message, round->size_bytes);
  }
}
