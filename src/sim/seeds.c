/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/options.h"

int vv_sim_seeds(const char *verb, uint64_t first, uint64_t last, vv_sim_seeds_run *run) {
  uint64_t failed = 0;
  for (uint64_t seed = first; seed <= last; seed++) {
    char wrong[VV_SIM_SEEDS_WRONG_BYTES];
    if (run(seed, wrong)) continue;
    printf("vaiven-sim %s --seeds %" PRIu64 "-%" PRIu64 ": %s\n", verb, seed, seed, wrong);
    fflush(stdout);
    failed++;
  }
  printf("%" PRIu64 " seeds, %" PRIu64 " failed\n", last - first + 1, failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int vv_sim_seeds_verb(const struct vv_sim_seeds_verb *verb, int argc, char **argv) {
  uint64_t first, last, seed = 0;
  char wrong[VV_SIM_SEEDS_WRONG_BYTES];
  if (argc == 2 && strcmp(argv[0], "--seeds") == 0 && vv_sim_options_seeds(argv[1], &first, &last)) {
    return vv_sim_seeds(verb->name, first, last, verb->drawn);
  }
  switch (verb->asked(argc, argv, &seed, wrong)) {
  case VV_SIM_SEEDS_RIGHT:
    return EXIT_SUCCESS;
  case VV_SIM_SEEDS_WRONG:
    printf("seed %" PRIu64 ": %s\n", seed, wrong);
    return EXIT_FAILURE;
  default:
    fputs(verb->usage, stderr);
    return 2;
  }
}
