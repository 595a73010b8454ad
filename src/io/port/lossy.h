/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port in front of another that loses units, so that a protocol can be seen
 * repairing what a real network loses too rarely: at random with a seed, or
 * exactly the next so many.
 */
#ifndef VV_IO_PORT_LOSSY_H
#define VV_IO_PORT_LOSSY_H

#include <stdint.h>

#include "core/base/rng.h"
#include "io/port/port.h"

struct vv_lossy {
  struct vv_port inner; /* the caller's */
  struct vv_rng rng;
  uint32_t loss_ppm;      /* of the units in each direction, in millionths */
  uint32_t drop_sent;     /* the next so many that are sent are lost in any case */
  uint32_t drop_received; /* and the next so many that come */
  uint64_t lost;          /* so far, both directions */
  bool kept;              /* the unit that is next was judged, and stays */
};

void vv_lossy_init(struct vv_lossy *lossy, struct vv_port inner, uint32_t loss_ppm, uint64_t seed);

/* The port to give to an engine; it lives as long as `lossy`. */
struct vv_port vv_lossy_port(struct vv_lossy *lossy);

#endif
