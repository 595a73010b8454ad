/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations on groups (vaiven/group.h): what all get goes once over the
 * network, by multicast; what one gets from each goes by messages.
 *
 *   double sum;
 *   vv_coll(group, &(struct vv_coll_call){ VV_COLL_CALL, .kind = VV_COLL_ALLREDUCE, .given = &own, .result = &sum,
 *                                          .count = 1, .type = VV_DATA_DOUBLE, .op = VV_COLL_SUM }, &problem);
 *
 * All ranks of the group call it, in the same order among themselves and with the
 * broadcasts of vaiven/group.h, with the same kind, root, counts, type and reduction.
 *
 * Numbers of a machine with the other byte order are converted by who receives them.
 * A reduction is folded in the order of the ranks, ((x0 + x1) + x2) + ..., whichever
 * way it takes: it is the same, bit for bit, at all ranks and for every root.
 */
#ifndef VAIVEN_COLL_H
#define VAIVEN_COLL_H

#include <stddef.h>
#include <stdint.h>

#include "vaiven/data.h"
#include "vaiven/group.h"

#ifdef __cplusplus
extern "C" {
#endif

enum vv_coll_kind {
  VV_COLL_BARRIER = 1, /* ends nowhere before it was begun everywhere */
  VV_COLL_BROADCAST,   /* what the root gives is everybody's result */
  VV_COLL_ALLGATHER,   /* what rank i gives is part i of everybody's result */
  VV_COLL_GATHER,      /* what rank i gives is part i of the root's result */
  VV_COLL_SCATTER,     /* part i of what the root gives is the result of rank i */
  VV_COLL_REDUCE,      /* the fold of what all give is the root's result */
  VV_COLL_ALLREDUCE,   /* the fold of what all give is everybody's result */
};

enum vv_coll_op {
  VV_COLL_SUM = 1, /* integers wrap */
  VV_COLL_PRODUCT, /* likewise */
  VV_COLL_MIN,     /* of floating-point numbers a NaN of either side stays, the left one before the right one */
  VV_COLL_MAX,     /* likewise */
  VV_COLL_AND,     /* bit by bit */
  VV_COLL_OR,
  VV_COLL_XOR,
};

/* A part of several, in numbers. */
struct vv_coll_part {
  size_t first, count;
};

/* Begins the initializer of a call; in C++ say call.size_bytes = sizeof call. */
#define VV_COLL_CALL .size_bytes = sizeof(struct vv_coll_call)

/*
 * What `given` and `result` point to may be the same bytes: of a broadcast, reduce and
 * allreduce as a whole, of a gather and allgather what a rank gives is its part of the
 * result, of a scatter the root's result its part of what it gives. Where a rank gives
 * or gets nothing they may be NULL.
 */
struct vv_coll_call {
  size_t size_bytes; /* of this struct, when the program was compiled */
  enum vv_coll_kind kind;
  uint32_t root; /* of broadcast, gather, scatter, reduce */
  const void *given;
  void *result;
  size_t count;           /* numbers that each rank gives; of a scatter, that each gets; unless there are parts */
  enum vv_data_type type; /* of the numbers; VV_DATA_CHAR are bytes that nobody converts. A barrier needs none */
  enum vv_coll_op op;     /* of reduce, allreduce; complex numbers have sums and products, floating-point no bits */
  /* Of allgather, gather and scatter: by rank, the same list at all; NULL: `count` each, one behind the other. Read
   * during the call alone. */
  const struct vv_coll_part *parts;
};

/*
 * Carries it out. 0, or -1 and *problem ("bad-call", "bad-rank", "bad-type", "bad-size",
 * and why a group fails); VV_GROUP_STOPPED never: `stop` of the config is not asked.
 */
int vv_coll(struct vv_group *group, const struct vv_coll_call *call, struct vv_group_problem *problem);

/*
 * Begins it, and returns at once; vv_group_test and vv_group_wait tell of its end, and
 * until then given and result belong to the group. NULL and *problem: nothing was begun.
 */
struct vv_group_operation *vv_coll_begin(struct vv_group *group, const struct vv_coll_call *call,
                                         struct vv_group_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
