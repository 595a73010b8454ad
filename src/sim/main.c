/* SPDX-License-Identifier: BSD-3-Clause */
/* vaiven-sim: the protocol cores under a virtual clock, with everything that can go wrong, from one seed. */
#include <stdio.h>
#include <string.h>

#include "sim/verbs.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} verbs[] = {
    {"coll", vv_sim_verb_coll},
    {"group", vv_sim_verb_group},
    {"llc", vv_sim_verb_llc},
    {"llc-cost", vv_sim_verb_llc_cost},
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++) {
    if (strcmp(argv[1], verbs[i].name) == 0) return verbs[i].run(argc - 2, argv + 2);
  }
  fputs("usage: vaiven-sim VERB ...; the verbs are", stderr);
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) fprintf(stderr, " %s", verbs[i].name);
  fputs("\n", stderr);
  return 2;
}
