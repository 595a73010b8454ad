/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which collective operations of an MPI are quicker by multicast, on three hosts or more
 * of a 100 Mb/s Ethernet; measured by `make bench`, case `served`.
 */
#ifndef VV_MPI_COLL_GAINS_H
#define VV_MPI_COLL_GAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vaiven/coll.h"

#define VV_GAINS_BYTES_MAX ((size_t)1 << 30) /* of what all get together */

/* `bytes`: what every rank gets; of a barrier 0. The same at all ranks. */
static inline bool vv_gains(enum vv_coll_kind kind, size_t bytes) {
  switch (kind) {
  case VV_COLL_BARRIER:
    return true;
  case VV_COLL_BROADCAST:
  case VV_COLL_ALLGATHER:
  case VV_COLL_ALLREDUCE:
    return bytes > 0 && bytes <= VV_GAINS_BYTES_MAX;
  case VV_COLL_GATHER:
  case VV_COLL_SCATTER:
  case VV_COLL_REDUCE:
    break;
  }
  return false; /* each rank gets, or gives, something else: nothing is sent once instead of several times */
}

#endif
