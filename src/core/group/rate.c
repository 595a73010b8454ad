/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/rate.h"

enum { PERCENT = 100 };
enum { LOST_SHARE = 8, SLOWER_PERCENT = 85, FASTER_PERCENT = 1, SLOWEST_SHARE = 16 };

static uint64_t time_of(uint64_t bytes, uint64_t rate_bps) {
  return (vv_ns)(bytes * 8 * VV_SEC / rate_bps);
}

void vv_rate_init(struct vv_rate *rate, uint64_t rate_bps, uint64_t burst_bytes, uint32_t window_datagrams) {
  *rate = (struct vv_rate){.rate_bps_max = rate_bps, .rate_bps = rate_bps, .window_datagrams = window_datagrams};
  if (rate_bps > 0) rate->burst_ns = time_of(burst_bytes, rate_bps);
}

vv_ns vv_rate_ready_ns(const struct vv_rate *rate, vv_ns now_ns) {
  vv_ns ready_ns = rate->free_ns > rate->burst_ns ? rate->free_ns - rate->burst_ns : 0;
  return ready_ns > now_ns ? ready_ns : now_ns;
}

/* At the end of a window: slower after much loss, else a little faster. */
static void judge(struct vv_rate *rate) {
  uint64_t slowest = rate->rate_bps_max / SLOWEST_SHARE;
  if (rate->lost > rate->window_datagrams / LOST_SHARE) {
    rate->rate_bps = rate->rate_bps / PERCENT * SLOWER_PERCENT;
  } else {
    rate->rate_bps += rate->rate_bps_max / PERCENT * FASTER_PERCENT;
  }
  if (rate->rate_bps < slowest) rate->rate_bps = slowest;
  if (rate->rate_bps > rate->rate_bps_max) rate->rate_bps = rate->rate_bps_max;
  rate->sent = rate->lost = 0;
}

void vv_rate_sent(struct vv_rate *rate, vv_ns now_ns, uint64_t bytes) {
  if (rate->rate_bps_max == 0) return;
  if (rate->free_ns < now_ns) rate->free_ns = now_ns;
  rate->free_ns += time_of(bytes, rate->rate_bps);
  if (++rate->sent >= rate->window_datagrams) judge(rate);
}

void vv_rate_lost(struct vv_rate *rate) {
  rate->lost++;
}
