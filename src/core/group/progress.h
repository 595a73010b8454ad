/* SPDX-License-Identifier: BSD-3-Clause */
/* How far this rank is, and how far all are: reports go up the tree, the horizon comes of them. */
#ifndef VV_CORE_GROUP_PROGRESS_H
#define VV_CORE_GROUP_PROGRESS_H

#include <stdint.h>

#include "core/base/time.h"
#include "core/group/state.h"

/* The root of what this rank hears of has changed. */
void vv_progress_turn(struct vv_rank *self, uint32_t root);

/* In a flat group whatever a rank says of itself counts; in a tree only what its parent hears of its subtree. */
void vv_progress_heard(struct vv_rank *self, const struct vv_gpdu *pdu);

/* All ranks are known to have consumed what is below position (0: nothing new): whoever waits for that goes on. */
void vv_progress_horizon(struct vv_rank *self, vv_ns now_ns, uint64_t position);

/* What this rank and its subtree have consumed may have grown: reports it if that is due. */
void vv_progress_report(struct vv_rank *self, vv_ns now_ns);

/* Puts a report in the outbox whose slot on the hub has come. */
void vv_progress_speak(struct vv_rank *self, vv_ns now_ns);

#endif
