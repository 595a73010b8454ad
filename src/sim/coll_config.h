/* SPDX-License-Identifier: BSD-3-Clause */
/* What a simulated collective operation is made of: who takes part, what they give, and what the network can do. */
#ifndef VV_SIM_COLL_CONFIG_H
#define VV_SIM_COLL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/coll/fold.h"
#include "core/coll/schedule.h"

enum vv_sim_coll_operation {
  VV_SIM_COLL_BARRIER,
  VV_SIM_COLL_BROADCAST,
  VV_SIM_COLL_ALLGATHER,
  VV_SIM_COLL_GATHER,
  VV_SIM_COLL_SCATTER,
  VV_SIM_COLL_REDUCE,
  VV_SIM_COLL_ALLREDUCE,
  VV_SIM_COLL_OPERATIONS, /* so many */
};

#define VV_SIM_COLL_ROUND_MAX 64 /* ranks of a round */

struct vv_sim_coll_config {
  uint64_t seed;
  enum vv_sim_coll_operation operation;
  uint32_t ranks;
  uint32_t root;
  uint32_t count; /* numbers that a rank gives, of a broadcast the root; with `uneven` the most */
  enum vv_data_type type;
  enum vv_coll_op op;
  bool uneven;  /* gather, allgather and scatter: each rank has another count, and there are gaps */
  bool lacking; /* no cast reaches all: messages alone */
  bool rounds;  /* all can cast a datagram at once */
  bool foreign; /* every other rank has the other byte order */
  bool aliased; /* what a rank gives and what it gets begin at the same byte, where the operation allows it */
  uint32_t datagram_bytes, small_bytes; /* of struct vv_schedule_ranks */
};

/* An operation of two ranks, eight doubles each, by casts. */
void vv_sim_coll_config_init(struct vv_sim_coll_config *config, uint64_t seed);

/* Everything drawn from the seed: 1 to 64 ranks. */
void vv_sim_coll_config_draw(struct vv_sim_coll_config *config, uint64_t seed);

/* Whether there is such an operation: the root is a rank, and numbers of the type have that reduction. */
bool vv_sim_coll_config_valid(const struct vv_sim_coll_config *config);

/* The numbers of rank i, which begin at that number of the whole. */
struct vv_sim_coll_share {
  uint32_t first, count;
};

struct vv_sim_coll_share vv_sim_coll_config_share(const struct vv_sim_coll_config *config, uint32_t i);

#endif
