/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/hearing.h"

#define FLOOD_DATAGRAMS 100           /* of strangers, a second: a flood */
#define FLOOD_BEGINS    10            /* so many may be the beginning of one */
#define TELL_NS         (10 * VV_SEC) /* the same is told again after so long at the soonest */

static bool is_recent(vv_ns now_ns, vv_ns then_ns) {
  return then_ns != 0 && now_ns - then_ns < TELL_NS;
}

uint64_t vv_hearing_count(struct vv_hearing *hearing, vv_ns now_ns, uint64_t foreign) {
  hearing->many = foreign - hearing->counted;
  if (hearing->many == 0) return 0;
  const vv_ns spent_ns = now_ns - hearing->since_ns + 1;
  if (hearing->many < FLOOD_DATAGRAMS && spent_ns < VV_SEC) return 0;
  const uint64_t rate = hearing->many * VV_SEC / spent_ns;
  hearing->counted = foreign;
  hearing->since_ns = now_ns;
  if (rate < FLOOD_DATAGRAMS) return 0;
  hearing->flood_ns = now_ns;
  if (is_recent(now_ns, hearing->flood_told_ns)) return 0;
  hearing->flood_told_ns = now_ns;
  return rate;
}

bool vv_hearing_turn(struct vv_hearing *hearing, bool deaf) {
  const bool is_told = !deaf && hearing->deaf_told;
  if (!deaf) hearing->deaf_told = false;
  hearing->deaf = deaf;
  return is_told;
}

bool vv_hearing_is_deaf(struct vv_hearing *hearing, vv_ns now_ns) {
  if (!hearing->deaf || hearing->many >= FLOOD_BEGINS || is_recent(now_ns, hearing->flood_ns) ||
      is_recent(now_ns, hearing->deaf_ns)) {
    return false;
  }
  hearing->deaf = false;
  hearing->deaf_told = true;
  hearing->deaf_ns = now_ns;
  return true;
}
