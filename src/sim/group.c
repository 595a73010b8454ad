/* SPDX-License-Identifier: BSD-3-Clause */
/* vaiven-sim group: reliable multicast on a simulated LAN. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/group_world.h"
#include "sim/verbs.h"

static const char usage[] =
    "usage: vaiven-sim group --seeds FIRST-LAST          runs drawn from seeds: everything that can go wrong\n"
    "       vaiven-sim group [--seed S] [--ranks N] ...  one run, as asked, and what it cost\n"
    "  --hub --rate-bps R --operations K --size BYTES --mixed --compute-us T --buffer BYTES\n"
    "  --loss P --correlated P --burst P --bad-host P --reorder P --duplicate P --flip P\n"
    "  --pauses K --pause-ms T --deaf --crash --partition\n";

enum type { FLAG, FABRIC, U32, U64, MICROSECONDS, MILLISECONDS, PROBABILITY };

struct option {
  const char *name;
  enum type type;
  size_t offset;
};

#define AT(member) offsetof(struct vv_group_plan, member)
static const struct option options[] = {
    {"--seed", U64, AT(seed)},
    {"--ranks", U32, AT(ranks)},
    {"--hub", FABRIC, AT(fabric)},
    {"--rate-bps", U64, AT(rate_bps)},
    {"--operations", U32, AT(operations)},
    {"--size", U64, AT(size_bytes)},
    {"--mixed", FLAG, AT(mixed)},
    {"--compute-us", MICROSECONDS, AT(compute_ns)},
    {"--buffer", U64, AT(buffer_bytes)},
    {"--loss", PROBABILITY, AT(loss)},
    {"--correlated", PROBABILITY, AT(correlated)},
    {"--burst", PROBABILITY, AT(burst)},
    {"--bad-host", PROBABILITY, AT(bad_host)},
    {"--reorder", PROBABILITY, AT(reorder)},
    {"--duplicate", PROBABILITY, AT(duplicate)},
    {"--flip", PROBABILITY, AT(flip)},
    {"--pauses", U32, AT(pauses)},
    {"--pause-ms", MILLISECONDS, AT(pause_ns)},
    {"--deaf", FLAG, AT(deaf)},
    {"--crash", FLAG, AT(crash)},
    {"--partition", FLAG, AT(partition)},
};

static bool number(const char *text, uint64_t *value) {
  char *end;
  if (text == NULL || text[0] < '0' || text[0] > '9') return false;
  *value = strtoull(text, &end, 10);
  return *end == '\0';
}

static bool probability(const char *text, double *value) {
  char *end;
  if (text == NULL) return false;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value >= 0 && *value <= 1;
}

/* Sets what the option is about; `text` is its value, if it has one. */
static bool set(const struct option *option, const char *text, struct vv_group_plan *plan) {
  void *at = (char *)plan + option->offset;
  uint64_t value = 0;
  if (option->type == PROBABILITY) return probability(text, at);
  if (option->type > FABRIC && !number(text, &value)) return false;
  switch (option->type) {
  case FLAG:
    *(bool *)at = true;
    break;
  case FABRIC:
    *(enum vv_fabric *)at = VV_FABRIC_HUB;
    break;
  case U32:
    *(uint32_t *)at = (uint32_t)value;
    break;
  case U64:
    *(uint64_t *)at = value;
    break;
  case MICROSECONDS:
    *(uint64_t *)at = value * 1000;
    break;
  default:
    *(uint64_t *)at = value * 1000000;
  }
  return value <= UINT32_MAX || option->type != U32;
}

static const struct option *find(const char *name) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (strcmp(options[i].name, name) == 0) return &options[i];
  }
  return NULL;
}

static bool parse(int argc, char **argv, struct vv_group_plan *plan) {
  vv_group_plan_init(plan, 1);
  for (int i = 0; i < argc; i++) {
    const struct option *option = find(argv[i]);
    if (option == NULL) return false;
    bool has_value = option->type > FABRIC;
    if (!set(option, has_value ? argv[i + 1] : NULL, plan)) return false;
    i += has_value;
  }
  return plan->ranks >= 2 && plan->ranks <= 10000 && plan->operations > 0 && plan->rate_bps >= 1000000;
}

static void print(const struct vv_group_plan *plan, const struct vv_world_result *result) {
  const struct vv_group_counts *counts = &result->counts;
  double payload = (double)result->payload_bytes + (result->payload_bytes == 0);
  double raw_ns = (double)vv_world_raw_ns(plan) * plan->operations;
  printf("{\"type\":\"group\",\"seed\":%llu,\"ranks\":%u,\"operations\":%u,\"payload_bytes\":%llu,",
         (unsigned long long)plan->seed, plan->ranks, plan->operations, (unsigned long long)result->payload_bytes);
  printf("\"elapsed_ns\":%llu,\"raw_ratio\":%.4f,", (unsigned long long)result->elapsed_ns,
         (double)result->elapsed_ns / raw_ns);
  printf("\"goodput_bps\":%.0f,\"busiest_overhead_percent\":%.3f,", payload * 8e9 / (double)result->elapsed_ns,
         100 * (double)result->busiest_bytes / payload);
  printf("\"repairs_one\":%llu,\"repairs_all\":%llu,\"control\":%llu,\"asks\":%llu,\"stall_ns\":%llu}\n",
         (unsigned long long)counts->repairs_one, (unsigned long long)counts->repairs_all,
         (unsigned long long)counts->control, (unsigned long long)counts->asks, (unsigned long long)counts->stall_ns);
}

static int run_one(const struct vv_group_plan *plan) {
  struct vv_world_result result;
  char wrong[160];
  bool right = vv_world_run(plan, &result, wrong);
  if (right) {
    print(plan, &result);
  } else {
    printf("seed %llu: %s\n", (unsigned long long)plan->seed, wrong);
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_seeds(uint64_t first, uint64_t last) {
  uint64_t failed = 0;
  for (uint64_t seed = first; seed <= last; seed++) {
    struct vv_group_plan plan;
    struct vv_world_result result;
    char wrong[160];
    vv_group_plan_draw(&plan, seed);
    if (vv_world_run(&plan, &result, wrong)) continue;
    printf("vaiven-sim group --seeds %llu-%llu: %s\n", (unsigned long long)seed, (unsigned long long)seed, wrong);
    failed++;
  }
  printf("%llu seeds, %llu failed\n", (unsigned long long)(last - first + 1), (unsigned long long)failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int vv_sim_group(int argc, char **argv) {
  struct vv_group_plan plan;
  unsigned long long first, last;
  if (argc == 2 && strcmp(argv[0], "--seeds") == 0 && sscanf(argv[1], "%llu-%llu", &first, &last) == 2) {
    return run_seeds(first, last);
  }
  if (parse(argc, argv, &plan)) return run_one(&plan);
  fputs(usage, stderr);
  return 2;
}
