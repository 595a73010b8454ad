/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How TCP of this host sends to a peer: what it was told for all connections,
 * and what its route to that peer says otherwise. What a host does not say of
 * itself its kernel has decided, so the same program takes another time under
 * another one.
 *
 * Nothing here needs a permission, sends a byte or fails: what the system does
 * not tell is "" or VV_INVENTORY_UNKNOWN.
 */
#ifndef VV_IO_OS_TCP_H
#define VV_IO_OS_TCP_H

#include <stdint.h>

#include "io/os/iface.h"
#include "io/os/inventory.h"
#include "io/os/socket.h"

#define VV_TCP_NAME_MAX 16 /* of a congestion control, with its end */

struct vv_tcp {
  char congestion_control[VV_TCP_NAME_MAX]; /* "reno" */
  int64_t initial_window_segments;          /* of a new connection; VV_INVENTORY_UNKNOWN: the kernel's own, 10 in Linux
                                               since 2.6.39 */
  int quick_acks;                           /* 1: every segment is acknowledged at once; 0: as the kernel likes */
  char iface[VV_IFACE_NAME_MAX];            /* that leads there */
  int64_t batch_segments_max; /* that TCP may hand that interface at once: 1 where nothing below it cuts */
};

/* For connections to that peer, whose port means nothing; NULL: for none, so all is unsaid. */
void vv_tcp_read(const struct vv_address *peer, struct vv_tcp *tcp);

#endif
