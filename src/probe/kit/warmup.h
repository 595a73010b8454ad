/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Warming up: windows of exchanges until the medians of two in a row differ by
 * at most 2 %, for at most 20 windows and a quarter of the cell's time. Where
 * two windows do not fit in that, one or two exchanges are all.
 */
#ifndef VV_PROBE_KIT_WARMUP_H
#define VV_PROBE_KIT_WARMUP_H

#include "core/base/time.h"
#include "probe/link/session.h"

#define VV_WARMUP_WINDOW_MAX 64 /* exchanges of a window */

struct vv_warmup_warmth {
  uint32_t exchanges;
  bool warm;
  vv_ns rtt_ns; /* what an exchange takes, as far as is known; >= 1 */
};

/* One exchange: 1 and its time, 0 when it had no right answer, -1 and *error. */
typedef int vv_warmup_exchange_fn(void *context, vv_ns *ns, struct vv_error *error);

/* 0, or -1 and *error. */
int vv_warmup(struct vv_session *session, vv_warmup_exchange_fn *exchange, void *context,
              struct vv_warmup_warmth *warmth, struct vv_error *error);

/* The upper median, 0 of none; sorts them. */
vv_ns vv_warmup_median_ns(vv_ns *values_ns, size_t count);

#endif
