/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far another host's clock is ahead of ours: bounds that hold however long messages wait in queues.
 *
 * We ask for the other clock, and have the answer: it was read no earlier than our question can have been there, and no
 * later than our answer can have left, each way taking what the wire takes at the least. So by how much it is ahead
 * lies below a point at the earliest instant, and above one at the latest. While both clocks go evenly, one of them a
 * little faster, that is a straight line in time, below all points of the one kind and above all of the other. Between
 * two instants all such lines together fill a strip, which contains the truth. How narrow it is depends on the quickest
 * messages of each way; a way whose messages all waited makes it wide, never wrong.
 */
#ifndef VV_PROBE_LINK_STRIP_H
#define VV_PROBE_LINK_STRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"

#define VV_STRIP_READINGS_MAX  48
#define VV_STRIP_DRIFT_PPB_MAX 500000 /* what NTP's corrections reach; a crystal is ten times better */

/* The other clock showed theirs_ns when ours was between earliest_ns and latest_ns (CLOCK_REALTIME of each). */
struct vv_strip_reading {
  vv_ns earliest_ns;
  vv_ns theirs_ns;
  vv_ns latest_ns;
};

/* By how much it is ahead at two instants of our clock, [0] and [1], at least and at most. */
struct vv_strip {
  vv_ns at_ns[2];
  vv_ns low_ns[2];
  vv_ns high_ns[2];
};

/*
 * Fits low_ns and high_ns to `count` readings (1 to VV_STRIP_READINGS_MAX), at_ns being given, in order. Readings may
 * come from any time; the strip is narrow between the first and the last. False: no line with a drift within
 * VV_STRIP_DRIFT_PPB_MAX fits them. Then one of the clocks was set meanwhile, or does not go evenly.
 */
bool vv_strip_fit(struct vv_strip *strip, const struct vv_strip_reading *readings, size_t count);

/* Its middle at an instant between the two (or beyond, on the same lines). */
vv_ns vv_strip_ahead_ns(const struct vv_strip *strip, vv_ns at_ns);

/* What the middle may be wrong by, at most: half of the strip where it is wider. */
vv_ns vv_strip_half_width_ns(const struct vv_strip *strip);

/* How much faster the other clock goes than ours, in parts of 10^9, at least and at most. */
void vv_strip_drift_ppb(const struct vv_strip *strip, int64_t drift_ppb[2]);

#endif
