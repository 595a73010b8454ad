/* SPDX-License-Identifier: BSD-3-Clause */
/* Which interface of this host leads to the others of a job. */
#ifndef VV_MPI_BTL_ROUTE_H
#define VV_MPI_BTL_ROUTE_H

#include <stdint.h>

#include "io/os/iface.h"

/*
 * The interface that this host would send IP datagrams by to the first of those
 * hosts (names, commas between) that is not `own`, and whose name it knows. 0, or -1 and
 * *error ("no-iface").
 */
int vv_route_iface(const char *hosts, const char *own, char name[VV_IFACE_NAME_MAX], struct vv_error *error);

/* The IPv4 network of an interface and the length of its prefix in bits; both 0 when it has none. */
void vv_route_network(const char *iface, uint32_t *network, uint8_t *prefix);

#endif
