/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a command line that set members of a plan, for every verb. */
#ifndef VV_SIM_OPTIONS_H
#define VV_SIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vv_option_type {
  VV_OPTION_FLAG,         /* bool, no value */
  VV_OPTION_HUB,          /* enum vv_fabric, no value */
  VV_OPTION_U32,          /* */
  VV_OPTION_U64,          /* */
  VV_OPTION_MICROSECONDS, /* uint64_t in ns */
  VV_OPTION_MILLISECONDS, /* likewise */
  VV_OPTION_PROBABILITY,  /* double, 0 to 1 */
};

struct vv_option {
  const char *name;
  enum vv_option_type type;
  size_t offset; /* in the plan */
};

/* Sets what the words say. False at the first that is no option, or has no fitting value. */
bool vv_options_parse(const struct vv_option *options, size_t count, int argc, char **argv, void *plan);

/* The seeds of "FIRST-LAST". False when the text is something else. */
bool vv_options_seeds(const char *text, uint64_t *first, uint64_t *last);

#endif
