/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs drawn from seeds, for every verb. */
#ifndef VV_SIM_SEEDS_H
#define VV_SIM_SEEDS_H

#include <stdbool.h>
#include <stdint.h>

#define VV_SEEDS_WRONG_BYTES 200

/* Draws a run from the seed and runs it: false, and what was wrong, when something was. */
typedef bool vv_seeds_run(uint64_t seed, char wrong[VV_SEEDS_WRONG_BYTES]);

/* Runs first .. last. Prints the line that repeats each failure, then the counts. The status to exit with. */
int vv_seeds(const char *verb, uint64_t first, uint64_t last, vv_seeds_run *run);

#endif
