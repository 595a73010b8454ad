/* SPDX-License-Identifier: BSD-3-Clause */
/* The key of a launch: known, read as the config says, or made. */
#ifndef VV_PROBE_LINK_LAUNCH_KEY_H
#define VV_PROBE_LINK_LAUNCH_KEY_H

#include "probe/base/config.h"

/* 0, or -1 and *error "no-key", "bad-key". */
int vv_launch_key_find(const struct vv_probe_config *config, uint8_t key[VV_KEY_BYTES], struct vv_error *error);

#endif
