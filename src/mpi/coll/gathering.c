/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/gathering.h"

#include <stdlib.h>

/* Whether the parts lie one behind the other, as they come. */
static bool is_in_place(const struct vv_area *parts, uint32_t ranks) {
  bool in_place = !parts[0].is_copy;
  for (uint32_t i = 1; i < ranks; i++) {
    in_place = in_place && !parts[i].is_copy && parts[i].bytes == parts[i - 1].bytes + parts[i - 1].size_bytes;
  }
  return in_place;
}

static int carry_out(struct vv_served *served, const uint8_t *given, uint8_t *result, struct vv_coll_part *places) {
  const struct vv_coll_part *last = &places[served->ranks - 1];
  const struct vv_coll_call call = {VV_COLL_CALL,     .kind = VV_COLL_ALLGATHER, .given = given,
                                    .result = result, .type = VV_DATA_CHAR,      .parts = places};
  return vv_served_call(served, &call, last->first + last->count);
}

/* By way of memory of ours, in which the parts lie one behind the other. */
static int carry_out_apart(struct vv_served *served, vv_area_convert *convert, const struct vv_area *from,
                           struct vv_area *parts, struct vv_coll_part *places, size_t size_bytes) {
  const uint32_t own = served->rank;
  uint8_t *bytes = malloc(size_bytes + 1);
  bool done = bytes != NULL;
  for (uint32_t i = 0; i < served->ranks; i++) parts[i].bytes = bytes ? bytes + places[i].first : NULL;
  if (!from) done = done && (parts[own].size_bytes == 0 || convert(&parts[own], true));
  done = done && carry_out(served, from ? from->bytes : parts[own].bytes, bytes, places) == 0;
  for (uint32_t i = 0; done && i < served->ranks; i++) done = parts[i].size_bytes == 0 || convert(&parts[i], false);
  free(bytes);
  return done ? 0 : -1;
}

int vv_gathering(struct vv_served *served, vv_area_convert *convert, struct vv_area *from, struct vv_area *parts) {
  struct vv_coll_part *places = calloc(served->ranks, sizeof *places);
  size_t size_bytes = 0;
  int result = -1;
  for (uint32_t i = 0; places && i < served->ranks; i++) {
    places[i] = (struct vv_coll_part){size_bytes, parts[i].size_bytes};
    size_bytes += parts[i].size_bytes;
  }
  if (places && (!from || vv_area_begin(from, convert, true))) {
    const uint8_t *given = from ? from->bytes : parts[served->rank].bytes;
    result = is_in_place(parts, served->ranks) ? carry_out(served, given, parts[0].bytes, places)
                                               : carry_out_apart(served, convert, from, parts, places, size_bytes);
  }
  if (from) vv_area_end(from, convert, false);
  free(places);
  return result;
}
