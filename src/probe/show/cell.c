/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/show/cell.h"

void vv_cell_wire(struct vv_record *record, const struct vv_probe_config *config, size_t size_bytes, uint32_t sends,
                  uint32_t in_a_row) {
  const struct vv_stack *stack = config->stack;
  if (stack->path == VV_PATH_NONE || config->mtu_bytes == 0) {
    vv_record_null(record, "wire");
    return;
  }
  struct vv_message_cost one = vv_message_cost(stack->path, size_bytes + stack->header_bytes, config->mtu_bytes);
  struct vv_message_cost row = one;
  row.frames *= in_a_row;
  row.bytes *= in_a_row;
  vv_record_object(record, "wire");
  vv_record_int(record, "frames", (int64_t)one.frames * sends);
  vv_record_int(record, "bytes", (int64_t)one.bytes * sends);
  if (config->rate_bps > 0 && config->hops > 0) {
    vv_record_int(record, "ns", (int64_t)vv_message_ns(&row, config->rate_bps, config->hops));
  } else {
    vv_record_null(record, "ns");
  }
  vv_record_object_end(record);
}
