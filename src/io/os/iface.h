/* SPDX-License-Identifier: BSD-3-Clause */
/* The network interfaces of this host. Nothing here needs a permission. */
#ifndef VV_IO_OS_IFACE_H
#define VV_IO_OS_IFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/os/error.h"

#define VV_IFACE_NAME_MAX 16 /* with its end */

struct vv_iface {
  char name[VV_IFACE_NAME_MAX];
  int index; /* stays when the name changes */
  bool up;
  bool ethernet; /* carries Ethernet frames; loopback does */
  uint8_t mac[6];
  size_t mtu_bytes;
};

/* The name of the interface that has this numeric address. 0, or -1 and *error ("bad-address", "no-iface"). */
int vv_iface_of(const char *address, char name[VV_IFACE_NAME_MAX], struct vv_error *error);

/* What the interface of that name is now. 0, or -1 and *error "no-iface". */
int vv_iface_read(const char *name, struct vv_iface *iface, struct vv_error *error);

/*
 * The rate of the medium that the interface shares with others, on which one
 * sends at a time: its card speaks half duplex, because it is on a hub
 * (/sys/class/net). 0: it has a link of its own, or nobody tells.
 */
uint32_t vv_iface_shared_mbps(const char *name);

/* The rate of which the card behind the interface tells. 0: it tells none, or there is no card, only a virtual one that
 * has no wire. */
uint32_t vv_iface_mbps(const char *name);

#endif
