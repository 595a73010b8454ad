/* SPDX-License-Identifier: BSD-3-Clause */
/* vaiven-sim coll: collective operations, as schedules of casts and messages. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sim/coll_world.h"
#include "sim/options.h"
#include "sim/verbs.h"

static const char usage[] =
    "usage: vaiven-sim coll --seeds FIRST-LAST        operations drawn from seeds: ranks, sizes, types, byte orders\n"
    "       vaiven-sim coll OPERATION [--seed S] ...  one operation, and what it takes\n"
    "  OPERATION barrier broadcast allgather gather scatter reduce allreduce\n"
    "  --ranks N --root R --count N --uneven --lacking --rounds --foreign --aliased --datagram-bytes N --small-bytes "
    "N\n";

static const char *const operations[VV_SIM_COLL_OPERATIONS] = {
    [VV_SIM_COLL_BARRIER] = "barrier",    [VV_SIM_COLL_BROADCAST] = "broadcast", [VV_SIM_COLL_ALLGATHER] = "allgather",
    [VV_SIM_COLL_GATHER] = "gather",      [VV_SIM_COLL_SCATTER] = "scatter",     [VV_SIM_COLL_REDUCE] = "reduce",
    [VV_SIM_COLL_ALLREDUCE] = "allreduce"};

#define AT(member) offsetof(struct vv_sim_coll_config, member)
static const struct vv_sim_option options[] = {
    {"--seed", VV_SIM_OPTION_U64, AT(seed)},
    {"--ranks", VV_SIM_OPTION_U32, AT(ranks)},
    {"--root", VV_SIM_OPTION_U32, AT(root)},
    {"--count", VV_SIM_OPTION_U32, AT(count)},
    {"--uneven", VV_SIM_OPTION_FLAG, AT(uneven)},
    {"--lacking", VV_SIM_OPTION_FLAG, AT(lacking)},
    {"--rounds", VV_SIM_OPTION_FLAG, AT(rounds)},
    {"--foreign", VV_SIM_OPTION_FLAG, AT(foreign)},
    {"--aliased", VV_SIM_OPTION_FLAG, AT(aliased)},
    {"--datagram-bytes", VV_SIM_OPTION_U32, AT(datagram_bytes)},
    {"--small-bytes", VV_SIM_OPTION_U32, AT(small_bytes)},
};

/* More ranks or numbers than these are no simulation but a test of patience. */
enum { RANKS_MAX = 1024, COUNT_MAX = 1 << 24 };

static bool parse(int argc, char **argv, struct vv_sim_coll_config *config) {
  vv_sim_coll_config_init(config, 1);
  bool known = false;
  for (int i = 0; i < VV_SIM_COLL_OPERATIONS && argc > 0 && !known; i++) {
    known = strcmp(argv[0], operations[i]) == 0;
    if (known) config->operation = (enum vv_sim_coll_operation)i;
  }
  if (!known || !vv_sim_options_parse(options, sizeof options / sizeof *options, argc - 1, argv + 1, config))
    return false;
  return vv_sim_coll_config_valid(config) && config->ranks <= RANKS_MAX && config->count <= COUNT_MAX;
}

static enum vv_sim_seeds_outcome run_asked(int argc, char **argv, uint64_t *seed,
                                           char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  struct vv_sim_coll_config config;
  struct vv_sim_coll_world_result result;
  if (!parse(argc, argv, &config)) return VV_SIM_SEEDS_USAGE;
  *seed = config.seed;
  if (!vv_sim_coll_world_run(&config, &result, wrong)) return VV_SIM_SEEDS_WRONG;
  printf("{\"type\":\"coll\",\"operation\":\"%s\",\"seed\":%" PRIu64 ",\"ranks\":%" PRIu32 ",\"steps_max\":%" PRIu32
         ",\"casts\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"sent_bytes_max\":%" PRIu64 ",\"taken_bytes_max\":%" PRIu64
         ",\"scratch_bytes_max\":%" PRIu64 "}\n",
         operations[config.operation], config.seed, config.ranks, result.steps_max, result.casts, result.messages,
         result.sent_bytes_max, result.taken_bytes_max, result.scratch_bytes_max);
  return VV_SIM_SEEDS_RIGHT;
}

static bool run_drawn(uint64_t seed, char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  struct vv_sim_coll_config config;
  struct vv_sim_coll_world_result result;
  vv_sim_coll_config_draw(&config, seed);
  return vv_sim_coll_world_run(&config, &result, wrong);
}

int vv_sim_verb_coll(int argc, char **argv) {
  return vv_sim_seeds_verb(&(struct vv_sim_seeds_verb){"coll", usage, run_drawn, run_asked}, argc, argv);
}
