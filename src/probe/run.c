/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/os/host.h"
#include "io/os/watch.h"
#include "probe/base/record.h"
#include "probe/link/fars.h"
#include "probe/link/session.h"
#include "probe/link/tally.h"
#include "probe/options.h"
#include "probe/registry.h"
#include "probe/show/show.h"

/* How often a blocking call is broken to look round: often enough for the shortest time-out, too seldom to be felt. */
#define TICK_NS_MAX (20 * VV_MS)
#define TICK_NS_MIN VV_MS

static int prepare(const struct vv_probe_config *config, struct vv_error *error) {
  vv_ns tick_ns = config->timeout_ns / 4;
  if (tick_ns > TICK_NS_MAX) tick_ns = TICK_NS_MAX;
  if (tick_ns < TICK_NS_MIN) tick_ns = TICK_NS_MIN;
  if (config->cpu >= 0 && vv_host_pin(config->cpu, error) != 0) return -1;
  return vv_watch_start(tick_ns, error);
}

static int ask(struct vv_session *session, const struct vv_probe_config *config, struct vv_error *error) {
  const struct vv_question *question = config->question;
  const struct vv_fars *fars = NULL;
  size_t cells = question->sizeless ? 1 : config->size_count;
  if (question->meets != VV_QUESTION_ALONE) {
    fars = vv_fars_meet(session, question->meets == VV_QUESTION_LINKED, error);
    if (!fars) return -1;
  }
  vv_tally_begin(session, fars);
  for (size_t i = 0; i < cells; i++) {
    size_t size_bytes = question->sizeless ? 0 : config->sizes[i];
    if (question->near(session, size_bytes, error) != 0) return -1;
  }
  if (vv_tally_record(session, fars, error) != 0) return -1;
  if (session->control.fd >= 0 && vv_control_send(&session->control, error, "bye") != 0) return -1;
  struct vv_record record;
  vv_record_begin(&record, "bye");
  vv_record_int(&record, "cells", (int64_t)cells);
  return vv_record_end(&record, error);
}

/* One line of the near end. 1: it has said good-bye. */
static int serve_line(struct vv_session *session, const char *line, struct vv_error *error) {
  char verb[32];
  snprintf(verb, sizeof verb, "%.*s", (int)strcspn(line, " "), line);
  if (strcmp(verb, "bye") == 0) return 1;
  if (strcmp(verb, "clock") == 0) return vv_fars_serve_clock(session, error);
  if (strcmp(verb, "open") == 0) return vv_session_serve_open(session, line, error);
  const struct vv_question *question = vv_probe_registry_find(verb);
  bool ready = question && (session->end || session->stack->kernel_echo || question->own_ends);
  if (ready) {
    vv_tally_begin(session, NULL);
    return question->far(session, line, error);
  }
  return vv_error_set(error, "bad-control", "the near end said \"%.80s\"", line);
}

static int serve(struct vv_session *session, struct vv_error *error) {
  char line[VV_LINE_BYTES_MAX];
  int result = 0;
  while (result == 0) {
    result = vv_control_receive(&session->control, line, VV_NEVER, error);
    if (result == 0) result = serve_line(session, line, error);
  }
  return result < 0 ? -1 : vv_tally_record(session, NULL, error);
}

static int run_end(const struct vv_probe_config *config, struct vv_error *error) {
  static struct vv_session session;
  bool far = config->command == VV_COMMAND_FAR;
  if (prepare(config, error) != 0) return -1;
  int result = far ? vv_session_far(&session, config, error) : vv_session_near(&session, config, error);
  if (result == 0) result = far ? serve(&session, error) : ask(&session, config, error);
  if (!far && config->question->finish) config->question->finish();
  if (result != 0) vv_control_send_error(&session.control, error);
  vv_session_close(&session);
  return result;
}

int vv_run(const struct vv_probe_config *config, struct vv_error *error) {
  switch (config->command) {
  case VV_COMMAND_FAR:
  case VV_COMMAND_NEAR:
    return run_end(config, error);
  case VV_COMMAND_WIRE:
    return vv_show_wire(config, error);
  case VV_COMMAND_INVENTORY:
    return vv_show_inventory(config, error);
  case VV_COMMAND_STACKS:
    return vv_show_stacks(config, error);
  case VV_COMMAND_MAP:
    return vv_show_map(config, error);
  case VV_COMMAND_STATION:
    return vv_show_station(config, error);
  case VV_COMMAND_WITNESS:
    return vv_show_witness(config, error);
  case VV_COMMAND_HELP:
    vv_options_help();
    return 0;
  case VV_COMMAND_VERSION:
    puts("vaiven-probe " VV_VERSION);
    return 0;
  }
  return vv_error_set(error, "usage", "an unknown command");
}
