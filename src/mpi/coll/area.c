/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/area.h"

#include <stdlib.h>

bool vv_area_begin(struct vv_area *area, vv_area_convert *convert, bool filled) {
  if (!area->is_copy) return true;
  area->bytes = malloc(area->size_bytes + 1);
  return area->bytes && (!filled || area->size_bytes == 0 || convert(area, true));
}

bool vv_area_end(struct vv_area *area, vv_area_convert *convert, bool changed) {
  if (!area->is_copy) return true;
  const bool done = !changed || area->size_bytes == 0 || convert(area, false);
  free(area->bytes);
  return done;
}
