/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one rank does in a collective operation, as a list of steps: pure, so that
 * simulator and library carry out the same list. Steps begin in the order of the list;
 * one may begin when the first `after` steps are done, and several may be under way.
 * Copies and folds are done as they begin. All ranks come to the same casts in the same
 * order.
 *
 * One multicast reaches everybody at the price of one message (a cast), so whatever all
 * ranks get is cast, and where each gives no more than a datagram all cast at once (a
 * round, core/group/round.h); what one rank gets from each, or gives to each, is messages. A
 * result is folded in the order of the ranks whichever way it goes: the same bits at
 * every rank, for every root, with casts and without. Where casts reach not all ranks
 * (S36) everything is messages.
 *
 *   operation   with casts                                  messages alone
 *   barrier     a round of nothing, or a cast by each       messages at distances 1, 2, 4 ...
 *   broadcast   a cast                                      a binomial tree
 *   allgather   a round, or a cast by each rank             along a ring
 *   gather      a message from each to the root             likewise
 *   scatter     one cast where that is a datagram, else     messages
 *               a message to each from the root
 *   reduce      small: a message from each to the root; large: each rank folds a slice
 *   allreduce   small: a round, or a cast by each, all      small: reduced at rank 0, broadcast;
 *               fold; large: each folds a slice, all        large: slices along a ring
 *               get the slices as by allgather
 */
#ifndef VV_CORE_COLL_SCHEDULE_H
#define VV_CORE_COLL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vv_schedule_kind {
  VV_SCHEDULE_ROUND, /* `peer`, this rank, gives bytes at `from`, its part; those of the others come to `to`, each where
                        the list of parts says */
  VV_SCHEDULE_CAST,  /* `peer` sends bytes at `from` to all; the others have them at `to` */
  VV_SCHEDULE_SEND,  /* bytes at `from` go to `peer`: messages of two ranks arrive in the order of their steps */
  VV_SCHEDULE_TAKE,  /* bytes from `peer` come to `to` */
  VV_SCHEDULE_COPY,  /* bytes at `from` are those at `to`; nothing where both are the same bytes */
  VV_SCHEDULE_FOLD,  /* numbers at `to` are left, those at `from` right, the result is at `to` (core/coll/fold.h) */
};

/* Where bytes lie: what the caller gives and what it gets, which may be the same bytes, and memory of the operation. */
enum vv_schedule_area { VV_SCHEDULE_GIVEN, VV_SCHEDULE_RESULT, VV_SCHEDULE_SCRATCH };

struct vv_schedule_place {
  enum vv_schedule_area area;
  size_t offset_bytes;
};

struct vv_schedule_step {
  enum vv_schedule_kind kind;
  uint32_t peer;
  struct vv_schedule_place from, to;
  size_t bytes;
  uint32_t after; /* at most the number of steps before it */
};

/* Who are there, and what a network can do. The same at all ranks but for `rank`. */
struct vv_schedule_ranks {
  uint32_t ranks; /* >= 1 */
  uint32_t rank;
  bool casts;            /* a cast reaches all */
  bool rounds;           /* and all can cast a datagram at once */
  size_t datagram_bytes; /* what one datagram carries */
  size_t small_bytes;    /* reductions of at most so many bytes of all ranks together are small */
};

/* Part i of something in parts: `bytes` at `offset_bytes`. */
struct vv_schedule_part {
  size_t offset_bytes, bytes;
};

struct vv_schedule {
  struct vv_schedule_step *steps; /* the caller's, room for VV_SCHEDULE_STEPS_MAX */
  uint32_t count;
  struct vv_schedule_part *parts; /* the caller's, room for one a rank: of its round, of which there is one at most */
  size_t scratch_bytes;           /* that it needs */
};

/* The most steps that a rank of so many has. */
#define VV_SCHEDULE_STEPS_MAX(ranks) (5 * (size_t)(ranks) + 4)

/* Each fills `schedule`, whose `steps` and `parts` are set. Sizes, parts and root are the same at all ranks. */

void vv_schedule_barrier(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks);

/* What the root gives is everybody's result. */
void vv_schedule_broadcast(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                           size_t bytes);

/* What rank i gives is part i of everybody's result. */
void vv_schedule_allgather(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks,
                           const struct vv_schedule_part *parts);

/* What rank i gives is part i of the root's result. */
void vv_schedule_gather(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                        const struct vv_schedule_part *parts);

/* Part i of what the root gives is the result of rank i. */
void vv_schedule_scatter(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                         const struct vv_schedule_part *parts);

/* `count` numbers of `number_bytes` that each gives, folded: the root's result. Scratch at others. */
void vv_schedule_reduce(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, uint32_t root,
                        size_t count, size_t number_bytes);

/* The same, everybody's result. */
void vv_schedule_allreduce(struct vv_schedule *schedule, const struct vv_schedule_ranks *ranks, size_t count,
                           size_t number_bytes);

#endif
