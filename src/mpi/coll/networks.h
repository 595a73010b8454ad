/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 networks that this host is on, over which a group may go. */
#ifndef VV_MPI_COLL_NETWORKS_H
#define VV_MPI_COLL_NETWORKS_H

#include "mpi/coll/passport.h"

/*
 * Sets the networks of the passport: those of interfaces that are up, carry multicast and
 * are neither loopback nor wireless, where each frame to all goes at the lowest rate;
 * of the interface called `only` alone, unless that is NULL or "".
 */
void vv_networks_own(const char *only, struct vv_passport *passport);

#endif
