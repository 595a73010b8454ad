/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs of vaiven-sim, one file each. Each gets what follows its name and returns the program's exit status. */
#ifndef VV_SIM_VERBS_H
#define VV_SIM_VERBS_H

int vv_sim_verb_coll(int argc, char **argv);
int vv_sim_verb_group(int argc, char **argv);
int vv_sim_verb_llc(int argc, char **argv);
int vv_sim_verb_llc_cost(int argc, char **argv);

#endif
