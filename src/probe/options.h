/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of vaiven-probe. `vaiven-probe --help` is its manual. */
#ifndef VV_PROBE_OPTIONS_H
#define VV_PROBE_OPTIONS_H

#include "probe/base/config.h"

/*
 * Reads the command line and refuses what cannot be: an unknown stack, a size
 * outside the stack's limits, a missing --peer. 0, or -1 and *error ("usage",
 * "unknown-stack", "size-limit", "bad-address"): exit status 2. Strings are argv's own.
 */
int vv_options_parse(struct vv_probe_config *config, int argc, char **argv, struct vv_error *error);
void vv_options_free(struct vv_probe_config *config);

/* Prints the manual. */
void vv_options_help(void);

#endif
