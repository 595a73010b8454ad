/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which collective operations of an MPI are quicker by multicast, on three hosts or more
 * of an Ethernet: `make bench`, case `served`, has what stands behind these numbers. A
 * barrier is messages of the MPI as before; little from each of few ranks, too.
 */
#ifndef VV_MPI_COLL_GAINS_H
#define VV_MPI_COLL_GAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/group/tree.h"
#include "vaiven/coll.h"

#define VV_GAINS_BYTES_MAX       ((size_t)1 << 30)   /* of what every rank gets */
#define VV_GAINS_ALLGATHER_BYTES ((size_t)128 << 10) /* of all ranks together, times their number, at least */
#define VV_GAINS_ALLREDUCE_BYTES 100000              /* of the result, at least, */
#define VV_GAINS_SHORT_BYTES_MIN 64                  /* or between these two, where it is a round, */
#define VV_GAINS_SHORT_BYTES_MAX 1400                /* a datagram from each */
#define VV_GAINS_ROUND_RANKS_MIN 8                   /* so many ranks gain by rounds, up to those that make them */

static inline bool vv_gains_by_rounds(uint32_t ranks) {
  return ranks >= VV_GAINS_ROUND_RANKS_MIN && ranks <= VV_TREE_FLAT_MAX;
}

static inline size_t vv_gains_allreduce_from(uint32_t ranks, size_t bytes) {
  if (!vv_gains_by_rounds(ranks) || bytes > VV_GAINS_SHORT_BYTES_MAX) return VV_GAINS_ALLREDUCE_BYTES;
  return VV_GAINS_SHORT_BYTES_MIN;
}

/* From where on it is worth it, what every rank gets, for one that has so many bytes; SIZE_MAX: it never is. */
static inline size_t vv_gains_from(enum vv_coll_kind kind, uint32_t ranks, size_t bytes) {
  switch (kind) {
  case VV_COLL_BROADCAST:
    return 1;
  case VV_COLL_ALLGATHER:
    return vv_gains_by_rounds(ranks) ? 1 : VV_GAINS_ALLGATHER_BYTES / ranks;
  case VV_COLL_ALLREDUCE:
    return vv_gains_allreduce_from(ranks, bytes);
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
  return bytes >= vv_gains_from(kind, ranks, bytes) && bytes <= VV_GAINS_BYTES_MAX;
}

#endif
