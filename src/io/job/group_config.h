/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a caller's config of a group can be one: the first thing that a library asks which strangers link. */
#ifndef VV_IO_JOB_GROUP_CONFIG_H
#define VV_IO_JOB_GROUP_CONFIG_H

#include "io/os/error.h"
#include "vaiven/group.h"

/*
 * 0, or -1 and *error: "bad-call" (there is no config), "bad-config" (its size, a member that is not set or
 * impossible), "bad-rank", "bad-key". What an address says is read where it is used.
 */
int vv_group_config_check(const struct vv_group_config *config, struct vv_error *error);

#endif
