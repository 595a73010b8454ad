/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/pace.h"

/* RFC 6298: what one measurement counts in the mean and in the deviation, and how many deviations T1 is above it. */
enum { MEAN_PART = 8, DEVIATION_PART = 4, DEVIATIONS = 4 };
enum { FORGOTTEN_PART = 256 };     /* the least round trip grows by one part in so many at each measurement */
enum { QUEUEING = 3, SLEEPS = 2 }; /* a queue: above so many least round trips and shortest T1 */
enum { FIRST = 8 }; /* T1 in shortest ones before anything was measured: too long costs once, too short asks in vain */

void vv_llc_pace_init(struct vv_llc_pace *pace, vv_ns ns_min, vv_ns ns_max, vv_ns slack_ns) {
  *pace = (struct vv_llc_pace){.ns_min = ns_min, .ns_max = ns_max, .slack_ns = slack_ns};
}

void vv_llc_pace_measured(struct vv_llc_pace *pace, vv_ns round_trip_ns) {
  pace->last_ns = round_trip_ns;
  pace->least_ns += pace->least_ns / FORGOTTEN_PART + 1;
  if (pace->mean_ns == 0 || round_trip_ns < pace->least_ns) pace->least_ns = round_trip_ns;
  if (pace->mean_ns == 0) {
    pace->mean_ns = round_trip_ns;
    pace->deviation_ns = round_trip_ns / 2;
    return;
  }
  vv_ns mean = pace->mean_ns;
  vv_ns off = round_trip_ns > mean ? round_trip_ns - mean : mean - round_trip_ns;
  pace->deviation_ns += off / DEVIATION_PART;
  pace->deviation_ns -= pace->deviation_ns / DEVIATION_PART;
  pace->mean_ns = mean - mean / MEAN_PART + round_trip_ns / MEAN_PART;
}

vv_ns vv_llc_pace_t1_ns(const struct vv_llc_pace *pace, uint32_t tries) {
  vv_ns t1 = pace->mean_ns + DEVIATIONS * pace->deviation_ns + pace->slack_ns;
  vv_ns doubled = 2 * pace->last_ns + pace->slack_ns;
  if (t1 < doubled) t1 = doubled;
  if (pace->mean_ns == 0) t1 = FIRST * pace->ns_min;
  if (t1 < pace->ns_min) t1 = pace->ns_min;
  for (; tries > 0 && t1 < pace->ns_max; tries--) t1 *= 2;
  return t1 < pace->ns_max ? t1 : pace->ns_max;
}

bool vv_llc_pace_is_queueing(const struct vv_llc_pace *pace) {
  return pace->last_ns > QUEUEING * pace->least_ns + SLEEPS * pace->ns_min;
}
