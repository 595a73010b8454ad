/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/base/record.h"
#include "probe/show/show.h"

static void record_time(struct vv_record *record, const struct vv_probe_config *config,
                        const struct vv_message_cost *cost) {
  if (config->rate_bps > 0 && config->hops > 0) {
    vv_record_int(record, "ns", (int64_t)vv_message_ns(cost, config->rate_bps, config->hops));
  } else {
    vv_record_null(record, "ns");
  }
  if (config->rate_bps > 0) {
    uint64_t ceiling_bps = vv_message_ceiling_bps(config->stack->path, config->mtu_bytes, config->rate_bps);
    vv_record_int(record, "ceiling_bps", (int64_t)ceiling_bps);
  } else {
    vv_record_null(record, "ceiling_bps");
  }
}

static int print_size(const struct vv_probe_config *config, size_t size_bytes, struct vv_error *error) {
  struct vv_message_cost cost =
      vv_message_cost(config->stack->path, size_bytes + config->stack->header_bytes, config->mtu_bytes);
  struct vv_record record;
  vv_record_begin_stream(&record, "wire");
  vv_record_text(&record, "stack", config->stack->id);
  vv_record_int(&record, "mtu_bytes", config->mtu_bytes);
  vv_record_int(&record, "size_bytes", (int64_t)size_bytes);
  vv_record_int(&record, "frames", cost.frames);
  vv_record_int(&record, "bytes", (int64_t)cost.bytes);
  record_time(&record, config, &cost);
  return vv_record_end(&record, error);
}

int vv_show_wire(const struct vv_probe_config *config, struct vv_error *error) {
  if (config->stack->path == VV_PATH_NONE) {
    return vv_error_set(error, "no-wire", "messages of %s are on no wire", config->stack->id);
  }
  for (size_t i = 0; i < config->size_count; i++) {
    if (print_size(config, config->sizes[i], error) != 0) return -1;
  }
  return 0;
}
