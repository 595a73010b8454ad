/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which collective operations of an MPI are quicker by multicast, on three hosts or more
 * of an Ethernet: `make bench`, case `served`, has what stands behind these numbers, from
 * when the ranks of a group took turns. A barrier and little from each are messages of
 * the MPI as before, until it is measured what rounds gain there (core/group/round.h).
 */
#ifndef VV_MPI_COLL_GAINS_H
#define VV_MPI_COLL_GAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vaiven/coll.h"

#define VV_GAINS_BYTES_MAX       ((size_t)1 << 30)   /* of what every rank gets */
#define VV_GAINS_ALLGATHER_BYTES ((size_t)128 << 10) /* of all ranks together, times their number, at least */
#define VV_GAINS_ALLREDUCE_BYTES 100000              /* of the result, at least */

/* What every rank gets at least for it to be worth it; SIZE_MAX: it never is. */
static inline size_t vv_gains_bytes_min(enum vv_coll_kind kind, uint32_t ranks) {
  switch (kind) {
  case VV_COLL_BROADCAST:
    return 1;
  case VV_COLL_ALLGATHER:
    return VV_GAINS_ALLGATHER_BYTES / ranks;
  case VV_COLL_ALLREDUCE:
    return VV_GAINS_ALLREDUCE_BYTES;
  case VV_COLL_BARRIER:
  case VV_COLL_GATHER:
  case VV_COLL_SCATTER:
  case VV_COLL_REDUCE:
    break;
  }
  return SIZE_MAX; /* each rank gets, or gives, something else: nothing is sent once instead of several times */
}

/* `bytes`: what every rank gets, the same number at all of them. */
static inline bool vv_gains(enum vv_coll_kind kind, uint32_t ranks, size_t bytes) {
  return bytes >= vv_gains_bytes_min(kind, ranks) && bytes <= VV_GAINS_BYTES_MAX;
}

#endif
