/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int vv_seeds(const char *verb, uint64_t first, uint64_t last, vv_seeds_run *run) {
  uint64_t failed = 0;
  for (uint64_t seed = first; seed <= last; seed++) {
    char wrong[VV_SEEDS_WRONG_BYTES];
    if (run(seed, wrong)) continue;
    printf("vaiven-sim %s --seeds %" PRIu64 "-%" PRIu64 ": %s\n", verb, seed, seed, wrong);
    fflush(stdout);
    failed++;
  }
  printf("%" PRIu64 " seeds, %" PRIu64 " failed\n", last - first + 1, failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
