/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast a root sends: a bucket of bytes that fills at a rate. The rate is the
 * links' to begin with; it falls by 15 % when more than an eighth of a window
 * was lost by most ranks at once, which is what a full queue does and bad
 * luck does not, and comes back by 1 % a window.
 */
#ifndef VV_CORE_GROUP_RATE_H
#define VV_CORE_GROUP_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"

struct vv_rate {
  uint64_t rate_bps_max; /* 0: no limit */
  uint64_t rate_bps;
  vv_ns burst_ns; /* the bucket, in time */
  vv_ns free_ns;  /* when what was sent will have left */
  uint32_t window_datagrams;
  uint32_t sent; /* in this window */
  uint32_t lost; /* of them, by most ranks */
};

void vv_rate_init(struct vv_rate *rate, uint64_t rate_bps, uint64_t burst_bytes, uint32_t window_datagrams);

/* When the next datagram may go: now_ns or later. */
vv_ns vv_rate_ready_ns(const struct vv_rate *rate, vv_ns now_ns);

/* A datagram went. */
void vv_rate_sent(struct vv_rate *rate, vv_ns now_ns, uint64_t bytes);

/* Most ranks, or many, have lost the same datagram. */
void vv_rate_lost(struct vv_rate *rate);

#endif
