/* SPDX-License-Identifier: BSD-3-Clause */
/* The maps and programs of the fabric in this network namespace: found on the interfaces they hang on, or loaded. */
#ifndef VV_BPF_MAPS_H
#define VV_BPF_MAPS_H

#include <stdbool.h>

#include "bpf/fabric.h"

enum vv_map {
  VV_MAP_PORTS,       /* ifindex -> struct vv_port */
  VV_MAP_EXITS,       /* ifindex -> struct vv_exit */
  VV_MAP_EXIT_STATES, /* ifindex -> struct vv_exit_state */
  VV_MAP_TIMERS,      /* 0 -> struct vv_timers */
  VV_MAP_LINKS,       /* vv_link_key() -> struct vv_link */
  VV_MAP_LINK_STATES, /* vv_link_key() -> struct vv_link_state */
  VV_MAPS,
};

struct vv_fabric {
  int maps[VV_MAPS]; /* file descriptors, closed with the process, as is what libbpf holds */
  int enter;         /* programs */
  int leave;
};

/* Finds the fabric of this namespace. False if there is none. */
bool vv_fabric_find(struct vv_fabric *fabric);

/* Loads a new one. 0, or -1 with errno, and the kernel's reasons on standard error. */
int vv_fabric_load(struct vv_fabric *fabric);

/* Hangs both programs on an interface; fine if they hang there. 0, or -1 with errno. */
int vv_fabric_hang(const struct vv_fabric *fabric, int ifindex);

/* An element of a map. 0, or -1 with errno. */
int vv_fabric_get(const struct vv_fabric *fabric, enum vv_map map, __u32 key, void *value);
int vv_fabric_put(const struct vv_fabric *fabric, enum vv_map map, __u32 key, const void *value);

#endif
