/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of a program as a group sends them: in one piece. Where they do not lie so, they
 * are copied, by the MPI's own packing.
 */
#ifndef VV_MPI_COLL_AREA_H
#define VV_MPI_COLL_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vv_area {
  uint8_t *bytes; /* in one piece: where they lie, or a copy */
  size_t size_bytes;
  bool is_copy;
  void *buffer; /* the program's */
  size_t count; /* of what lies there */
  void *type;   /* of that: the MPI's own name for it */
};

/* The MPI's way to copy the program's numbers to `bytes` (`packs`), or back. False: it has failed. */
typedef bool vv_area_convert(const struct vv_area *area, bool packs);

/* Makes the copy, if it is one; `filled`: with what is there. False: there is no memory, or the MPI has failed. */
bool vv_area_begin(struct vv_area *area, vv_area_convert *convert, bool filled);

/* Ends the copy, if it is one; `changed`: the program gets what is in it. */
bool vv_area_end(struct vv_area *area, vv_area_convert *convert, bool changed);

#endif
