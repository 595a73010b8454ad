/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/swaps.h"

#include <inttypes.h>

#include "io/os/watch.h"
#include "probe/kit/lead.h"
#include "probe/kit/mesh.h"
#include "probe/kit/rounds.h"

static struct vv_mesh mesh; /* lasts as long as the launch */
static struct vv_mesh_round own;
static struct vv_lead lead;

static bool time_is_up(void *context) {
  const struct vv_session *session = context;
  return vv_clock_ns() >= session->stop_at_ns || vv_watch_launcher_gone();
}

/* near ----------------------------------------------------------------- */

static int begin(struct vv_rounds *rounds, struct vv_error *error) {
  if (mesh.count > 0) return 0;
  mesh.session = rounds->session;
  mesh.count = rounds->fars->count + 1;
  return vv_mesh_join(&mesh, rounds->fars, error);
}

static int tell_all(const struct vv_rounds *rounds, struct vv_error *error) {
  for (size_t i = 0; i < rounds->fars->count; i++) {
    const struct vv_far *far = &rounds->fars->ends[i];
    if (vv_control_send(&far->session->control, error, "round seq=%" PRIu64 " at_ns=%" PRId64, own.seq,
                        rounds->begun_ns + far->ahead_ns) != 0) {
      return -1;
    }
  }
  return 0;
}

static enum vv_outcome give(struct vv_rounds *rounds, struct vv_error *error) {
  struct vv_session *session = rounds->session;
  struct vv_watch_stop stop = {.ask = time_is_up, .context = session};
  rounds->begun_ns = own.begun_ns = vv_clock_real_ns() + vv_lead_next(&lead, rounds->late);
  own.seq = session->seq;
  if (tell_all(rounds, error) != 0 || vv_mesh_run(&own, &stop, error) != 0) return VV_OUTCOME_FAILED;
  rounds->own_ns = own.ended_ns - own.begun_ns;
  if (own.missing > 0) return vv_session_why(session, error) == 0 ? VV_OUTCOME_LOST : VV_OUTCOME_FAILED;
  vv_mesh_check(&own);
  rounds->corrupt += own.corrupt;
  return own.late ? VV_OUTCOME_WRONG : VV_OUTCOME_ANSWERED;
}

int vv_swaps_cell(struct vv_session *session, const char *verb, bool in_pairs, size_t size_bytes,
                  struct vv_error *error) {
  uint32_t others = (uint32_t)session->config->also_count + 1, sends = in_pairs ? 1 : others;
  struct vv_mesh all = {.session = session, .count = others + 1, .in_pairs = in_pairs};
  if (in_pairs && vv_mesh_check_pairs(all.count, verb, error) != 0) return -1;
  /* On a hub all messages follow each other; on a switch those of one end do. */
  uint32_t on_medium = session->config->hops == 1 ? sends * (others + 1) : sends;
  const struct vv_rounds_config config = {
      .verb = verb, .give = give, .begin = begin, .takes_part = true, .sends = sends, .on_medium = on_medium};
  int result = vv_mesh_round_open(&own, &all, size_bytes, error);
  own.mesh = &mesh;
  mesh.in_pairs = in_pairs;
  if (result == 0) result = vv_rounds_cell(session, &config, size_bytes, error);
  vv_mesh_round_close(&own);
  return result;
}

void vv_swaps_finish(void) {
  if (mesh.count > 0) vv_mesh_part(&mesh);
  vv_fars_part();
}

/* far ------------------------------------------------------------------ */

struct swaps_taking {
  struct vv_session *session;
  vv_ns hush_ns;
  struct vv_mesh_round round;
  int64_t messages;
  int64_t corrupt;
};

static bool near_speaks(void *context) {
  const struct vv_session *session = context;
  return time_is_up(context) || vv_watch_has_input(session->control.fd);
}

/*
 * Of a stack that works only while one of its calls waits: others may lack what this end has sent until the near end
 * says the next thing, which it does not before it has heard `got`. Waits for that, at most until then. 0, or -1.
 */
static int drain(struct vv_session *session, vv_ns until_ns, struct vv_error *error) {
  if (!session->stack->drain) return 0;
  session->stop_at_ns = until_ns;
  enum vv_got got = session->stack->drain(session->end, error);
  session->stop_at_ns = VV_NEVER;
  if (got == VV_GOT_CLOSED) vv_session_closed(session, error);
  return got == VV_GOT_CLOSED || got == VV_GOT_ERROR ? -1 : 0;
}

static int take_round(struct swaps_taking *taking, const char *line, struct vv_error *error) {
  struct vv_session *session = taking->session;
  struct vv_mesh_round *round = &taking->round;
  struct vv_watch_stop stop = {.ask = near_speaks, .context = session};
  int64_t seq;
  if (vv_control_number(line, "seq", &seq, error) != 0 ||
      vv_control_number(line, "at_ns", &round->begun_ns, error) != 0) {
    return -1;
  }
  round->seq = (uint64_t)seq;
  vv_ns patience_ns = (int64_t)mesh.count * (int64_t)mesh.count * vv_session_patience_ns(session, round->size_bytes);
  session->stop_at_ns = vv_clock_ns() + patience_ns;
  int result = vv_mesh_run(round, &stop, error);
  session->stop_at_ns = VV_NEVER;
  if (result != 0) return -1;
  vv_mesh_check(round);
  taking->corrupt += round->corrupt;
  taking->messages += mesh.in_pairs ? 1 : (int64_t)mesh.count - 1;
  vv_ns until_ns = vv_clock_ns() + taking->hush_ns;
  if (drain(session, until_ns, error) != 0 || vv_rounds_hush(session, until_ns - vv_clock_ns(), error) < 0) return -1;
  uint64_t tag = vv_rounds_tag(round->seq, round->size_bytes);
  if (vv_control_send(&session->control, error, "got tag=%" PRIu64 " at_ns=%" PRId64 " missing=%" PRIu32 " late=%d",
                      tag, round->ended_ns, round->missing, round->late) != 0) {
    return -1;
  }
  return drain(session, VV_NEVER, error);
}

/* 1: the near end has said that it is over. */
static int serve_line(struct swaps_taking *taking, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  if (vv_control_receive(&taking->session->control, line, VV_NEVER, error) != 0) return -1;
  if (vv_line_is(line, "end")) return 1;
  if (vv_line_is(line, "round")) return take_round(taking, line, error);
  int served = vv_mesh_serve(&mesh, line, error);
  if (served == 0) return vv_error_set(error, "bad-control", "the near end said \"%.80s\" in a round", line);
  return served < 0 ? -1 : 0;
}

static int take_all(struct swaps_taking *taking, struct vv_error *error) {
  struct vv_control *control = &taking->session->control;
  int64_t resent = vv_mesh_resent(&mesh), cpu_start_ns = vv_clock_cpu_ns();
  int over = vv_control_send(control, error, "go");
  while (over == 0) over = serve_line(taking, error);
  if (over < 0) return -1;
  vv_tally_messages(taking->session, taking->round.size_bytes, (uint64_t)taking->messages, (uint64_t)taking->messages);
  return vv_control_send(
      control, error, "done corrupt=%" PRId64 " messages=%" PRId64 " cpu_ns=%" PRId64 " resent=%" PRId64,
      taking->corrupt, taking->messages, vv_clock_cpu_ns() - cpu_start_ns, vv_mesh_resent(&mesh) - resent);
}

int vv_swaps_far(struct vv_session *session, const char *line, bool in_pairs, struct vv_error *error) {
  struct swaps_taking taking = {.session = session};
  int64_t size_bytes, number, ends;
  if (vv_control_number(line, "size_bytes", &size_bytes, error) != 0 ||
      vv_control_number(line, "number", &number, error) != 0 || vv_control_number(line, "ends", &ends, error) != 0 ||
      vv_control_number(line, "hush_ns", &taking.hush_ns, error) != 0) {
    return -1;
  }
  bool sound = size_bytes >= 1 && (uint64_t)size_bytes <= session->size_bytes_max && ends >= 2 && ends <= VV_MESH_MAX &&
               number >= 1 && number < ends && session->stack->flow;
  if (!sound) return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
  if (mesh.count == 0) {
    mesh = (struct vv_mesh){.session = session, .number = (size_t)number, .count = (size_t)ends, .in_pairs = in_pairs};
  }
  int result = vv_mesh_round_open(&taking.round, &mesh, (size_t)size_bytes, error);
  if (result == 0) result = take_all(&taking, error);
  vv_mesh_round_close(&taking.round);
  return result;
}
