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

void vv_question_wire(struct vv_record *record, const struct vv_options *options, size_t size_bytes, uint32_t count) {
  if (options->stack->path == VV_PATH_NONE || options->mtu_bytes == 0) {
    vv_record_null(record, "wire");
    return;
  }
  struct vv_message_cost cost =
      vv_message_cost(options->stack->path, size_bytes + options->stack->header_bytes, options->mtu_bytes);
  cost.frames *= count;
  cost.bytes *= count;
  vv_record_object(record, "wire");
  vv_record_int(record, "frames", cost.frames);
  vv_record_int(record, "bytes", (int64_t)cost.bytes);
  if (options->rate_bps > 0 && options->hops > 0) {
    vv_record_int(record, "ns", (int64_t)vv_message_ns(&cost, options->rate_bps, options->hops));
  } else {
    vv_record_null(record, "ns");
  }
  vv_record_object_end(record);
}
