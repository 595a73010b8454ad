/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank minds about the datagrams of its job in general: that strangers send
 * many, and that no multicast comes. The same is told again after ten seconds at the
 * soonest. A flood crowds out what the group sends, and then is the reason: joining
 * again would change nothing. Nothing is told of deafness while strangers'
 * datagrams come that may be the beginning of a flood.
 */
#ifndef VV_IO_JOB_HEARING_H
#define VV_IO_JOB_HEARING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"

struct vv_hearing {
  uint64_t counted; /* datagrams of strangers until this second began */
  vv_ns since_ns;
  uint64_t many;       /* in this second */
  vv_ns flood_ns;      /* when there were very many; 0: never */
  vv_ns flood_told_ns; /* and when that was told; 0: never */
  vv_ns deaf_ns;       /* when it was told that no multicast comes; 0: never */
  bool deaf;           /* a core says so, and it is to be told */
  bool deaf_told;
};

/* True when there is something to count, or was a moment ago. */
static inline bool vv_hearing_minds(const struct vv_hearing *hearing, uint64_t foreign) {
  return foreign != hearing->counted || hearing->many != 0;
}

/* So many datagrams of strangers have come in all. The rate a second, if it is a flood to be told now; else 0. */
uint64_t vv_hearing_count(struct vv_hearing *hearing, vv_ns now_ns, uint64_t foreign);

/* A core says that it is deaf, or hears again. True: it is to be told that it hears again. */
bool vv_hearing_turn(struct vv_hearing *hearing, bool deaf);

/* True when it is to be told that no multicast comes, and to be joined again: that is then taken as done. */
bool vv_hearing_is_deaf(struct vv_hearing *hearing, vv_ns now_ns);

#endif
