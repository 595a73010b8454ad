/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/coll_config.h"

#include "core/base/rng.h"

/* Drawn runs are small: what goes wrong goes wrong with a few numbers, and thousands of runs take seconds. */
enum { RANKS_MAX = 64, COUNT_MAX = 200, DATAGRAM_BYTES = 1408, SMALL_BYTES = 16384, GAP_MAX = 3 };

void vv_sim_coll_config_init(struct vv_sim_coll_config *config, uint64_t seed) {
  *config = (struct vv_sim_coll_config){.seed = seed,
                                        .operation = VV_SIM_COLL_ALLREDUCE,
                                        .ranks = 2,
                                        .count = 8,
                                        .type = VV_DATA_DOUBLE,
                                        .op = VV_COLL_SUM,
                                        .datagram_bytes = DATAGRAM_BYTES,
                                        .small_bytes = SMALL_BYTES};
}

static uint32_t below(struct vv_rng *rng, uint32_t end) {
  return (uint32_t)(vv_rng_next(rng) % end);
}

void vv_sim_coll_config_draw(struct vv_sim_coll_config *config, uint64_t seed) {
  struct vv_rng rng = {seed};
  vv_sim_coll_config_init(config, seed);
  config->operation = (enum vv_sim_coll_operation)below(&rng, VV_SIM_COLL_OPERATIONS);
  config->ranks = 1 + below(&rng, below(&rng, 4) == 0 ? RANKS_MAX : 9);
  config->root = below(&rng, config->ranks);
  config->count = below(&rng, below(&rng, 2) == 0 ? COUNT_MAX : 5);
  config->uneven = below(&rng, 2) == 0;
  config->lacking = below(&rng, 3) == 0;
  config->foreign = below(&rng, 3) == 0;
  config->aliased = below(&rng, 3) == 0;
  config->datagram_bytes = 64 + below(&rng, DATAGRAM_BYTES);
  config->small_bytes = below(&rng, SMALL_BYTES);
  config->rounds = below(&rng, 2) == 0 && config->ranks <= VV_SIM_COLL_ROUND_MAX;
  do {
    config->type = (enum vv_data_type)(VV_DATA_INT8 + below(&rng, VV_DATA_COMPLEX_DOUBLE));
    config->op = (enum vv_coll_op)(VV_COLL_SUM + below(&rng, VV_COLL_XOR));
  } while (!vv_sim_coll_config_valid(config));
}

bool vv_sim_coll_config_valid(const struct vv_sim_coll_config *config) {
  return config->ranks >= 1 && config->root < config->ranks &&
         (!config->rounds || config->ranks <= VV_SIM_COLL_ROUND_MAX) && vv_fold_defined(config->op, config->type);
}

struct vv_sim_coll_share vv_sim_coll_config_share(const struct vv_sim_coll_config *config, uint32_t i) {
  if (!config->uneven) return (struct vv_sim_coll_share){i * config->count, config->count};
  struct vv_rng rng = {config->seed ^ UINT64_C(0x5eed)};
  struct vv_sim_coll_share share = {0, 0};
  for (uint32_t at = 0; at <= i; at++) {
    share.first += share.count + below(&rng, GAP_MAX);
    share.count = below(&rng, config->count + 1);
  }
  return share;
}
