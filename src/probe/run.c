/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/os/host.h"
#include "io/os/watch.h"
#include "probe/commands.h"
#include "probe/options.h"
#include "probe/question.h"
#include "probe/record.h"
#include "probe/session.h"

/* How often a blocking call is broken to look round: often enough for the shortest time-out, too seldom to be felt. */
#define TICK_NS_MAX 20000000
#define TICK_NS_MIN 1000000

static int prepare(const struct vv_options *options, struct vv_error *error) {
  int64_t tick_ns = options->timeout_ns / 4;
  if (tick_ns > TICK_NS_MAX) tick_ns = TICK_NS_MAX;
  if (tick_ns < TICK_NS_MIN) tick_ns = TICK_NS_MIN;
  if (options->cpu >= 0 && vv_host_pin(options->cpu, error) != 0) return -1;
  return vv_watch_start(tick_ns, error);
}

static int ask(struct vv_session *session, const struct vv_options *options, struct vv_error *error) {
  size_t cells = options->question->sizeless ? 1 : options->size_count;
  for (size_t i = 0; i < cells; i++) {
    size_t size_bytes = options->question->sizeless ? 0 : options->sizes[i];
    if (options->question->near(session, size_bytes, error) != 0) return -1;
  }
  if (session->control.fd >= 0 && vv_control_send(&session->control, error, "bye") != 0) return -1;
  struct vv_record record;
  vv_record_begin(&record, "bye");
  vv_record_int(&record, "cells", (int64_t)cells);
  return vv_record_end(&record, error);
}

static int run_end(const struct vv_options *options, struct vv_error *error) {
  static struct vv_session session;
  bool far = options->command == VV_COMMAND_FAR;
  if (prepare(options, error) != 0) return -1;
  int result = far ? vv_session_far(&session, options, error) : vv_session_near(&session, options, error);
  if (result == 0 && !far) result = ask(&session, options, error);
  if (!far && options->question->finish) options->question->finish();
  if (result != 0) vv_control_send_error(&session.control, error);
  vv_session_close(&session);
  return result;
}

int vv_command_run(const struct vv_options *options, struct vv_error *error) {
  switch (options->command) {
  case VV_COMMAND_FAR:
  case VV_COMMAND_NEAR:
    return run_end(options, error);
  case VV_COMMAND_WIRE:
    return vv_command_wire(options, error);
  case VV_COMMAND_INVENTORY:
    return vv_command_inventory(options, error);
  case VV_COMMAND_STACKS:
    return vv_command_stacks(options, error);
  case VV_COMMAND_MAP:
    return vv_command_map(options, error);
  case VV_COMMAND_STATION:
    return vv_command_station(options, error);
  case VV_COMMAND_HELP:
    vv_options_help();
    return 0;
  case VV_COMMAND_VERSION:
    puts("vaiven-probe " VV_VERSION);
    return 0;
  }
  return vv_error_set(error, "usage", "an unknown command");
}
