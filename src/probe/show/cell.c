/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/show/cell.h"

static bool is_known(const struct vv_probe_config *config) {
  return config->stack->path != VV_PATH_NONE && config->mtu_bytes > 0;
}

static struct vv_message_cost cost(const struct vv_probe_config *config, size_t size_bytes) {
  return vv_message_cost(config->stack->path, size_bytes + config->stack->header_bytes, config->mtu_bytes);
}

vv_ns vv_cell_wire_ns(const struct vv_probe_config *config, size_t size_bytes, uint32_t in_a_row) {
  if (!is_known(config) || config->rate_bps == 0 || config->hops == 0) return 0;
  struct vv_message_cost row = cost(config, size_bytes);
  row.frames *= in_a_row;
  row.bytes *= in_a_row;
  return vv_message_ns(&row, config->rate_bps, config->hops);
}

void vv_cell_wire(struct vv_record *record, const struct vv_probe_config *config, size_t size_bytes, uint32_t sends,
                  uint32_t in_a_row) {
  if (!is_known(config)) {
    vv_record_null(record, "wire");
    return;
  }
  struct vv_message_cost one = cost(config, size_bytes);
  vv_ns wire_ns = vv_cell_wire_ns(config, size_bytes, in_a_row);
  vv_record_object(record, "wire");
  vv_record_int(record, "frames", (int64_t)one.frames * sends);
  vv_record_int(record, "bytes", (int64_t)one.bytes * sends);
  if (wire_ns > 0) {
    vv_record_int(record, "ns", wire_ns);
  } else {
    vv_record_null(record, "ns");
  }
  vv_record_object_end(record);
}
