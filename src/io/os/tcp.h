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

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
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

/* Where a connection stands now, as its kernel keeps account of it (TCP_INFO). */
struct vv_tcp_state {
  int64_t window_segments;    /* the congestion window: so many may be on their way */
  int64_t threshold_segments; /* slow start ends there; VV_INVENTORY_UNKNOWN: nobody knows where yet */
  int64_t segment_bytes;      /* of data in a full one */
  vv_ns resend_ns;            /* without an acknowledgement for so long it sends again */
  int64_t window_shift;       /* of the windows that the other end tells, RFC 7323 */
  int64_t resent;             /* segments, so far */
};

/* Of a connected socket. True, or false and zeros where the system, or an emulator before it, does not tell. */
bool vv_tcp_read_state(int fd, struct vv_tcp_state *state);

#endif
