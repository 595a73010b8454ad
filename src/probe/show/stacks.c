/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/base/record.h"
#include "probe/show/show.h"
#include "stack/registry.h"

int vv_show_stacks(const struct vv_probe_config *config, struct vv_error *error) {
  (void)config;
  for (const struct vv_stack *const *at = vv_stack_registry; *at; at++) {
    struct vv_record record;
    vv_record_begin_stream(&record, "stack");
    vv_record_text(&record, "stack", (*at)->id);
    vv_record_text(&record, "summary", (*at)->summary);
    if ((*at)->needs)
      vv_record_text(&record, "needs", (*at)->needs);
    else
      vv_record_null(&record, "needs");
    if ((*at)->program)
      vv_record_text(&record, "program", (*at)->program);
    else
      vv_record_null(&record, "program");
    vv_record_int(&record, "size_bytes_min", (int64_t)(*at)->size_bytes_min);
    vv_record_int(&record, "size_bytes_max", (int64_t)(*at)->size_bytes_max);
    vv_record_bool(&record, "kernel_echo", (*at)->kernel_echo);
    vv_record_bool(&record, "alone", (*at)->alone);
    vv_record_bool(&record, "datagram", (*at)->datagram);
    vv_record_bool(&record, "to_all", (*at)->to_all);
    vv_record_bool(&record, "at_once", (*at)->flow != NULL);
    vv_record_bool(&record, "starts", (*at)->start != NULL);
    vv_record_bool(&record, "steps", (*at)->steps != NULL);
    vv_record_bool(&record, "joined", (*at)->joined);
    vv_record_bool(&record, "ranked", (*at)->ranked);
    vv_record_bool(&record, "spins", (*at)->spins);
    vv_record_bool(&record, "own_tcp", (*at)->own_tcp);
    vv_record_bool(&record, "marks", (*at)->mark != NULL);
    vv_record_bool(&record, "two_writes", (*at)->two_writes);
    if (vv_record_end(&record, error) != 0) return -1;
  }
  return 0;
}
