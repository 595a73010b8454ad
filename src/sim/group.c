/* SPDX-License-Identifier: BSD-3-Clause */
/* vaiven-sim group: reliable multicast on a simulated LAN. */
#include <stddef.h>
#include <stdio.h>

#include "sim/group_world.h"
#include "sim/options.h"
#include "sim/seeds.h"
#include "sim/verbs.h"

static const char usage[] =
    "usage: vaiven-sim group --seeds FIRST-LAST          runs drawn from seeds: everything that can go wrong\n"
    "       vaiven-sim group [--seed S] [--ranks N] ...  one run, as asked, and what it cost\n"
    "  --hub --untold --rate-bps R --operations K --size BYTES --mixed --rounds --compute-us T --buffer BYTES\n"
    "  --loss P --correlated P --burst P --bad-host P --reorder P --duplicate P --flip P\n"
    "  --pauses K --pause-ms T --deaf --crash --partition\n";

#define AT(member) offsetof(struct vv_sim_group_config, member)
static const struct vv_sim_option options[] = {
    {"--seed", VV_SIM_OPTION_U64, AT(seed)},
    {"--ranks", VV_SIM_OPTION_U32, AT(ranks)},
    {"--hub", VV_SIM_OPTION_HUB, AT(fabric)},
    {"--untold", VV_SIM_OPTION_FLAG, AT(untold)},
    {"--rate-bps", VV_SIM_OPTION_U64, AT(rate_bps)},
    {"--operations", VV_SIM_OPTION_U32, AT(operations)},
    {"--size", VV_SIM_OPTION_U64, AT(size_bytes)},
    {"--mixed", VV_SIM_OPTION_FLAG, AT(mixed)},
    {"--rounds", VV_SIM_OPTION_FLAG, AT(rounds)},
    {"--compute-us", VV_SIM_OPTION_MICROSECONDS, AT(compute_ns)},
    {"--buffer", VV_SIM_OPTION_U64, AT(buffer_bytes)},
    {"--loss", VV_SIM_OPTION_PROBABILITY, AT(loss)},
    {"--correlated", VV_SIM_OPTION_PROBABILITY, AT(correlated)},
    {"--burst", VV_SIM_OPTION_PROBABILITY, AT(burst)},
    {"--bad-host", VV_SIM_OPTION_PROBABILITY, AT(bad_host)},
    {"--reorder", VV_SIM_OPTION_PROBABILITY, AT(reorder)},
    {"--duplicate", VV_SIM_OPTION_PROBABILITY, AT(duplicate)},
    {"--flip", VV_SIM_OPTION_PROBABILITY, AT(flip)},
    {"--pauses", VV_SIM_OPTION_U32, AT(pauses)},
    {"--pause-ms", VV_SIM_OPTION_MILLISECONDS, AT(pause_ns)},
    {"--deaf", VV_SIM_OPTION_FLAG, AT(deaf)},
    {"--crash", VV_SIM_OPTION_FLAG, AT(crash)},
    {"--partition", VV_SIM_OPTION_FLAG, AT(partition)},
};

static bool parse(int argc, char **argv, struct vv_sim_group_config *config) {
  vv_sim_group_config_init(config, 1);
  if (!vv_sim_options_parse(options, sizeof options / sizeof *options, argc, argv, config)) return false;
  return config->ranks >= 2 && config->ranks <= 10000 && config->operations > 0 &&
         config->rate_bps >= VV_SIM_RATE_BPS_MIN && (!config->rounds || vv_sim_group_config_has_rounds(config));
}

static void print(const struct vv_sim_group_config *config, const struct vv_sim_group_world_result *result) {
  const struct vv_rank_counts *counts = &result->counts;
  double payload = (double)result->payload_bytes + (result->payload_bytes == 0);
  double raw_ns = (double)vv_sim_group_world_raw_ns(config) * config->operations;
  printf("{\"type\":\"group\",\"seed\":%llu,\"ranks\":%u,\"operations\":%u,\"payload_bytes\":%llu,",
         (unsigned long long)config->seed, config->ranks, config->operations,
         (unsigned long long)result->payload_bytes);
  printf("\"elapsed_ns\":%llu,\"raw_ratio\":%.4f,", (unsigned long long)result->elapsed_ns,
         (double)result->elapsed_ns / raw_ns);
  printf("\"goodput_bps\":%.0f,\"busiest_overhead_percent\":%.3f,", payload * 8e9 / (double)result->elapsed_ns,
         100 * (double)result->busiest_bytes / payload);
  printf("\"repairs_one\":%llu,\"repairs_all\":%llu,\"control\":%llu,\"asks\":%llu,\"stall_ns\":%llu}\n",
         (unsigned long long)counts->repairs_one, (unsigned long long)counts->repairs_all,
         (unsigned long long)counts->control, (unsigned long long)counts->asks, (unsigned long long)counts->stall_ns);
}

static enum vv_sim_seeds_outcome run_asked(int argc, char **argv, uint64_t *seed,
                                           char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  struct vv_sim_group_config config;
  struct vv_sim_group_world_result result;
  if (!parse(argc, argv, &config)) return VV_SIM_SEEDS_USAGE;
  *seed = config.seed;
  if (!vv_sim_group_world_run(&config, &result, wrong)) return VV_SIM_SEEDS_WRONG;
  print(&config, &result);
  return VV_SIM_SEEDS_RIGHT;
}

static bool run_drawn(uint64_t seed, char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  struct vv_sim_group_config config;
  struct vv_sim_group_world_result result;
  vv_sim_group_config_draw(&config, seed);
  return vv_sim_group_world_run(&config, &result, wrong);
}

int vv_sim_verb_group(int argc, char **argv) {
  return vv_sim_seeds_verb(&(struct vv_sim_seeds_verb){"group", usage, run_drawn, run_asked}, argc, argv);
}
