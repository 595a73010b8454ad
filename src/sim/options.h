/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a command line that set members of a config, for every verb. */
#ifndef VV_SIM_OPTIONS_H
#define VV_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_SIM_RATE_BPS_MIN 1000000 /* of a LAN */

enum vv_sim_option_type {
  VV_SIM_OPTION_FLAG,         /* bool, no value */
  VV_SIM_OPTION_HUB,          /* enum vv_lan_fabric, no value */
  VV_SIM_OPTION_U32,          /* */
  VV_SIM_OPTION_U64,          /* */
  VV_SIM_OPTION_MICROSECONDS, /* vv_ns */
  VV_SIM_OPTION_MILLISECONDS, /* likewise */
  VV_SIM_OPTION_PROBABILITY,  /* double, 0 to 1 */
};

struct vv_sim_option {
  const char *name;
  enum vv_sim_option_type type;
  size_t offset; /* in the config */
};

/* Sets what the words say. False at the first that is no option, or has no fitting value. */
bool vv_sim_options_parse(const struct vv_sim_option *options, size_t count, int argc, char **argv, void *config);

/* The seeds of "FIRST-LAST". False when the text is something else. */
bool vv_sim_options_seeds(const char *text, uint64_t *first, uint64_t *last);

#endif
