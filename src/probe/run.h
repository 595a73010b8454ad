/* SPDX-License-Identifier: BSD-3-Clause */
/* What vaiven-probe does when it has been told what. */
#ifndef VV_PROBE_RUN_H
#define VV_PROBE_RUN_H

#include "probe/base/config.h"

#define VV_RUN_EXIT_ERROR 1
#define VV_RUN_EXIT_USAGE 2

/* Carries out whatever command the config names, and prints its records. 0, or -1 and *error. */
int vv_run(const struct vv_probe_config *config, struct vv_error *error);

#endif
