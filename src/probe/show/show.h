/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that ask no far end. Each prints its records: 0, or -1 and *error. */
#ifndef VV_PROBE_SHOW_SHOW_H
#define VV_PROBE_SHOW_SHOW_H

#include "probe/base/config.h"

/* stacks.c: the stacks of this build, their limits and needs. */
int vv_show_stacks(const struct vv_probe_config *config, struct vv_error *error);
/* wire.c: what messages of config->sizes become on the wire. */
int vv_show_wire(const struct vv_probe_config *config, struct vv_error *error);
/* inventory.c: this host (requirement S17). */
int vv_show_inventory(const struct vv_probe_config *config, struct vv_error *error);

/* map.c: who answers on the Ethernet of config->iface; and a station that answers until standard input ends. */
int vv_show_map(const struct vv_probe_config *config, struct vv_error *error);
int vv_show_station(const struct vv_probe_config *config, struct vv_error *error);

/* witness.c: whether CPU number config->cpu was there, told for each line of standard input until that ends. */
int vv_show_witness(const struct vv_probe_config *config, struct vv_error *error);

#endif
