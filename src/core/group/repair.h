/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this rank was asked for and still owes.
 *
 * A peer answers each who asks. The root waits half a round trip for others who
 * lack the same, then sends it to the one, or once to all; what it sent to all
 * it does not send again for a round trip. A position goes to all at most once,
 * and no more than a quarter of a window of positions do while the horizon
 * stands still, so a CONTROL socket that nobody reads for a while has room left
 * for what else comes to it; all further goes to each who asks. A rank that hears
 * no multicast is always answered alone.
 */
#ifndef VV_CORE_GROUP_REPAIR_H
#define VV_CORE_GROUP_REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"

#define VV_REPAIR_ALL UINT32_MAX

struct vv_repair_debt {
  uint64_t position;
  vv_ns asked_ns;
  uint32_t rank; /* who asked */
  bool own;      /* this rank was the root */
  bool deaf;
};

/* What happened to a position. */
struct vv_repair_mark {
  uint64_t position;
  vv_ns all_ns;     /* when it went to all; VV_NEVER: it did not */
  vv_ns one_ns;     /* when it last went to one */
  uint32_t one;     /* whom */
  uint32_t waiting; /* debts of ranks that hear */
};

/* What is to be sent again now. */
struct vv_repair_order {
  uint64_t position;
  uint32_t rank;  /* VV_REPAIR_ALL, or one */
  uint32_t ranks; /* that waited for it */
};

struct vv_repair {
  struct vv_repair_debt *debts; /* a ring, the oldest first */
  struct vv_repair_mark *marks; /* by position */
  uint32_t debts_room, debts_first, debts_count;
  uint32_t marks_room;
  uint32_t all_max, all_count; /* positions that may go, and went, to all since the horizon was there */
  uint64_t horizon;
  vv_ns rtt_ns;
};

size_t vv_repair_bytes(uint32_t window_datagrams);
void vv_repair_init(struct vv_repair *repair, void *memory, uint32_t window_datagrams, vv_ns rtt_ns);

/* `rank` asks for a position that this rank has, as its root (`own`) or a peer. Forgotten without room: it asks again.
 */
void vv_repair_owe(struct vv_repair *repair, vv_ns now_ns, uint64_t position, uint32_t rank, bool own, bool deaf);

/* The next repair that is due: false when none is. horizon: what all ranks have consumed (core/group/credit.h). */
bool vv_repair_next(struct vv_repair *repair, vv_ns now_ns, uint64_t horizon, struct vv_repair_order *order);

/* When the next is due; VV_NEVER. */
vv_ns vv_repair_due_ns(const struct vv_repair *repair);

#endif
