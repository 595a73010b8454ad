/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs drawn from seeds, for every verb. */
#ifndef VV_SIM_SEEDS_H
#define VV_SIM_SEEDS_H

#include <stdbool.h>
#include <stdint.h>

#define VV_SIM_SEEDS_WRONG_BYTES 200

/* Draws a run from the seed and runs it: false, and what was wrong, when something was. */
typedef bool vv_sim_seeds_run(uint64_t seed, char wrong[VV_SIM_SEEDS_WRONG_BYTES]);

enum vv_sim_seeds_outcome { VV_SIM_SEEDS_RIGHT, VV_SIM_SEEDS_WRONG, VV_SIM_SEEDS_USAGE };

/* A verb of vaiven-sim that runs what is drawn from seeds, or one run as its words say. */
struct vv_sim_seeds_verb {
  const char *name;
  const char *usage;
  vv_sim_seeds_run *drawn;
  /* Tells the seed of that one run, and prints what it cost; VV_SIM_SEEDS_WRONG and what was wrong, or
   * VV_SIM_SEEDS_USAGE. */
  enum vv_sim_seeds_outcome (*asked)(int argc, char **argv, uint64_t *seed, char wrong[VV_SIM_SEEDS_WRONG_BYTES]);
};

/* Runs a verb on what follows its name. The status to exit with. */
int vv_sim_seeds_verb(const struct vv_sim_seeds_verb *verb, int argc, char **argv);

/* Runs first .. last. Prints the line that repeats each failure, then the counts. The status to exit with. */
int vv_sim_seeds(const char *verb, uint64_t first, uint64_t last, vv_sim_seeds_run *run);

#endif
