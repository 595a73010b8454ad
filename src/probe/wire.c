/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/commands.h"
#include "probe/record.h"

static void record_time(struct vv_record *record, const struct vv_options *options,
                        const struct vv_message_cost *cost) {
  if (options->rate_bps > 0 && options->hops > 0) {
    vv_record_int(record, "ns", (int64_t)vv_message_ns(cost, options->rate_bps, options->hops));
  } else {
    vv_record_null(record, "ns");
  }
  if (options->rate_bps > 0) {
    uint64_t ceiling_bps = vv_message_ceiling_bps(options->stack->path, options->mtu_bytes, options->rate_bps);
    vv_record_int(record, "ceiling_bps", (int64_t)ceiling_bps);
  } else {
    vv_record_null(record, "ceiling_bps");
  }
}

static int print_size(const struct vv_options *options, size_t size_bytes, struct vv_error *error) {
  struct vv_message_cost cost =
      vv_message_cost(options->stack->path, size_bytes + options->stack->header_bytes, options->mtu_bytes);
  struct vv_record record;
  vv_record_begin_stream(&record, "wire");
  vv_record_text(&record, "stack", options->stack->id);
  vv_record_int(&record, "mtu_bytes", options->mtu_bytes);
  vv_record_int(&record, "size_bytes", (int64_t)size_bytes);
  vv_record_int(&record, "frames", cost.frames);
  vv_record_int(&record, "bytes", (int64_t)cost.bytes);
  record_time(&record, options, &cost);
  return vv_record_end(&record, error);
}

int vv_command_wire(const struct vv_options *options, struct vv_error *error) {
  if (options->stack->path == VV_PATH_NONE) {
    return vv_error_set(error, "no-wire", "messages of %s are on no wire", options->stack->id);
  }
  for (size_t i = 0; i < options->size_count; i++) {
    if (print_size(options, options->sizes[i], error) != 0) return -1;
  }
  return 0;
}
