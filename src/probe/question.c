/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/question.h"

#include <string.h>

const struct vv_question *const vv_questions[] = {
    &vv_question_pingpong, &vv_question_connect, &vv_question_oneway,   &vv_question_prtt,
    &vv_question_fanout,   &vv_question_stream,  &vv_question_exchange, &vv_question_pingpongs,
    &vv_question_overlap,  &vv_question_layers,  &vv_question_steps,    NULL,
};

const struct vv_question *vv_question_find(const char *id) {
  for (const struct vv_question *const *question = vv_questions; *question; question++) {
    if (strcmp((*question)->id, id) == 0) return *question;
  }
  return NULL;
}

bool vv_question_goes_on(const struct vv_options *options, uint64_t samples, uint64_t lost, bool in_time) {
  if (samples >= options->samples) return false;
  return in_time || (samples + lost < options->samples_min && lost <= samples);
}

void vv_question_wire(struct vv_record *record, const struct vv_options *options, size_t size_bytes, uint32_t sends,
                      uint32_t in_a_row) {
  const struct vv_stack *stack = options->stack;
  if (stack->path == VV_PATH_NONE || options->mtu_bytes == 0) {
    vv_record_null(record, "wire");
    return;
  }
  struct vv_message_cost one = vv_message_cost(stack->path, size_bytes + stack->header_bytes, options->mtu_bytes);
  struct vv_message_cost row = one;
  row.frames *= in_a_row;
  row.bytes *= in_a_row;
  vv_record_object(record, "wire");
  vv_record_int(record, "frames", (int64_t)one.frames * sends);
  vv_record_int(record, "bytes", (int64_t)one.bytes * sends);
  if (options->rate_bps > 0 && options->hops > 0) {
    vv_record_int(record, "ns", (int64_t)vv_message_ns(&row, options->rate_bps, options->hops));
  } else {
    vv_record_null(record, "ns");
  }
  vv_record_object_end(record);
}
