/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of vaiven-probe. Each prints its records: 0, or -1 and *error. */
#ifndef VV_PROBE_COMMANDS_H
#define VV_PROBE_COMMANDS_H

#include "io/os/error.h"
#include "probe/options.h"

#define VV_EXIT_ERROR 1
#define VV_EXIT_USAGE 2

/* run.c: whatever command the options name. */
int vv_command_run(const struct vv_options *options, struct vv_error *error);
/* stacks.c: the stacks of this build, their limits and needs. */
int vv_command_stacks(const struct vv_options *options, struct vv_error *error);
/* wire.c: what messages of options->sizes become on the wire. */
int vv_command_wire(const struct vv_options *options, struct vv_error *error);
/* inventory.c: this host (requirement S17). */
int vv_command_inventory(const struct vv_options *options, struct vv_error *error);

/* map.c: who answers on the Ethernet of options->iface; and a station that answers until standard input ends. */
int vv_command_map(const struct vv_options *options, struct vv_error *error);
int vv_command_station(const struct vv_options *options, struct vv_error *error);

#endif
