/* SPDX-License-Identifier: BSD-3-Clause */
/* vaiven-sim llc: connections of IEEE 802.2 on a simulated LAN. */
#include <stddef.h>
#include <stdio.h>

#include "sim/llc_world.h"
#include "sim/options.h"
#include "sim/seeds.h"
#include "sim/verbs.h"

static const char usage[] =
    "usage: vaiven-sim llc --seeds FIRST-LAST          runs drawn from seeds: everything that can go wrong\n"
    "       vaiven-sim llc [--seed S] [--hosts N] ...  one run, as asked, and what it cost\n"
    "  --hub --rate-bps R --messages K --size BYTES --mtu BYTES --window K --receive-window K --early K --patient\n"
    "  --crossing --loss P --burst P --duplicate P --reorder P --reorder-us T --corrupt P --replay P --replay-ms T\n"
    "  --busy --resets K --pauses K --pause-ms T --slow-ms T --cuts K --crash --restart --beyond\n";

#define AT(member) offsetof(struct vv_sim_llc_config, member)
static const struct vv_sim_option options[] = {
    {"--seed", VV_SIM_OPTION_U64, AT(seed)},
    {"--hosts", VV_SIM_OPTION_U32, AT(hosts)},
    {"--hub", VV_SIM_OPTION_HUB, AT(fabric)},
    {"--rate-bps", VV_SIM_OPTION_U64, AT(rate_bps)},
    {"--messages", VV_SIM_OPTION_U32, AT(messages)},
    {"--size", VV_SIM_OPTION_U64, AT(size_bytes)},
    {"--mtu", VV_SIM_OPTION_U32, AT(mtu_bytes)},
    {"--window", VV_SIM_OPTION_U32, AT(window)},
    {"--receive-window", VV_SIM_OPTION_U32, AT(receive_window)},
    {"--early", VV_SIM_OPTION_U32, AT(early)},
    {"--crossing", VV_SIM_OPTION_FLAG, AT(crossing)},
    {"--patient", VV_SIM_OPTION_FLAG, AT(patient)},
    {"--loss", VV_SIM_OPTION_PROBABILITY, AT(loss)},
    {"--burst", VV_SIM_OPTION_PROBABILITY, AT(burst)},
    {"--duplicate", VV_SIM_OPTION_PROBABILITY, AT(duplicate)},
    {"--reorder", VV_SIM_OPTION_PROBABILITY, AT(reorder)},
    {"--reorder-us", VV_SIM_OPTION_MICROSECONDS, AT(reorder_ns)},
    {"--corrupt", VV_SIM_OPTION_PROBABILITY, AT(corrupt)},
    {"--replay", VV_SIM_OPTION_PROBABILITY, AT(replay)},
    {"--replay-ms", VV_SIM_OPTION_MILLISECONDS, AT(replay_ns)},
    {"--busy", VV_SIM_OPTION_FLAG, AT(busy)},
    {"--resets", VV_SIM_OPTION_U32, AT(resets)},
    {"--pauses", VV_SIM_OPTION_U32, AT(pauses)},
    {"--pause-ms", VV_SIM_OPTION_MILLISECONDS, AT(pause_ns)},
    {"--slow-ms", VV_SIM_OPTION_MILLISECONDS, AT(slow_ns)},
    {"--cuts", VV_SIM_OPTION_U32, AT(cuts)},
    {"--crash", VV_SIM_OPTION_FLAG, AT(crash)},
    {"--restart", VV_SIM_OPTION_FLAG, AT(restart)},
    {"--beyond", VV_SIM_OPTION_FLAG, AT(beyond)},
};

static bool within(uint64_t value, uint64_t least, uint64_t most) {
  return value >= least && value <= most;
}

static bool parse(int argc, char **argv, struct vv_sim_llc_config *config) {
  vv_sim_llc_config_init(config, 1);
  if (!vv_sim_options_parse(options, sizeof options / sizeof *options, argc, argv, config)) return false;
  bool windows = within(config->window, 1, 127) && within(config->receive_window, 1, 127);
  bool mtu = within(config->mtu_bytes, VV_LLC_STATION_PDU_BYTES_MIN, VV_LLC_STATION_PDU_BYTES_MAX);
  bool times = config->reorder_ns > 0 && config->rate_bps >= VV_SIM_RATE_BPS_MIN;
  return windows && mtu && times && within(config->hosts, 2, 16) && within(config->size_bytes, 1, UINT32_MAX - 1) &&
         config->messages > 0 && config->early <= 100000;
}

static void print(const struct vv_sim_llc_config *config, const struct vv_sim_llc_result *result) {
  const struct vv_llc_station_counts *counts = &result->counts;
  double elapsed_ns = (double)result->elapsed_ns + (result->elapsed_ns == 0);
  printf("{\"type\":\"llc\",\"seed\":%llu,\"hosts\":%u,\"messages\":%u,\"payload_bytes\":%llu,\"elapsed_ns\":%llu,",
         (unsigned long long)config->seed, config->hosts, config->messages, (unsigned long long)result->payload_bytes,
         (unsigned long long)result->elapsed_ns);
  printf("\"goodput_bps\":%.0f,\"frames\":%llu,\"resent\":%llu,\"enquiries\":%llu,\"rejects\":%llu,",
         (double)result->payload_bytes * 8e9 / elapsed_ns, (unsigned long long)counts->frames_out,
         (unsigned long long)counts->resent, (unsigned long long)counts->enquiries,
         (unsigned long long)counts->rejects);
  printf("\"resets\":%llu,\"stale\":%llu,\"frmr\":%llu}\n", (unsigned long long)counts->resets,
         (unsigned long long)counts->stale, (unsigned long long)counts->frmr_out);
}

static enum vv_sim_seeds_outcome run_asked(int argc, char **argv, uint64_t *seed,
                                           char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  struct vv_sim_llc_config config;
  struct vv_sim_llc_result result;
  if (!parse(argc, argv, &config)) return VV_SIM_SEEDS_USAGE;
  *seed = config.seed;
  if (!vv_sim_llc_world_run(&config, &result, wrong)) return VV_SIM_SEEDS_WRONG;
  print(&config, &result);
  return VV_SIM_SEEDS_RIGHT;
}

static bool run_drawn(uint64_t seed, char wrong[VV_SIM_SEEDS_WRONG_BYTES]) {
  struct vv_sim_llc_config config;
  struct vv_sim_llc_result result;
  vv_sim_llc_config_draw(&config, seed);
  return vv_sim_llc_world_run(&config, &result, wrong);
}

int vv_sim_verb_llc(int argc, char **argv) {
  return vv_sim_seeds_verb(&(struct vv_sim_seeds_verb){"llc", usage, run_drawn, run_asked}, argc, argv);
}
