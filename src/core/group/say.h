/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank says by itself: where it is, how far its subtree is, and that the group has failed. All go to the outbox.
 */
#ifndef VV_CORE_GROUP_SAY_H
#define VV_CORE_GROUP_SAY_H

#include <stdint.h>

#include "core/base/time.h"
#include "core/group/state.h"

/* To one rank, or VV_OUTBOX_ALL: where this rank is. */
void vv_say_state(struct vv_rank *self, uint32_t rank);

/* To its parent: what this rank and its subtree have consumed. */
void vv_say_report(struct vv_rank *self);

/* To a root of earlier, which is no parent now, and polls: how far this rank is. In a flat group alone. */
void vv_say_directly(struct vv_rank *self, const struct vv_gpdu *poll);

/* To one rank, or VV_OUTBOX_ALL: that the group has failed, and why. */
void vv_say_failure(struct vv_rank *self, uint32_t rank);

/* The same to all, if that is due. */
void vv_say_cry(struct vv_rank *self, vv_ns now_ns);

/* The group has failed, here and for the application. cry_ns: when to tell all; VV_NEVER for a rank that was told. */
void vv_say_failed(struct vv_rank *self, const struct vv_member_failure *failure, vv_ns cry_ns);

/* The same, found here: at the present operation, because of that rank. All are told at once. */
void vv_say_fail(struct vv_rank *self, vv_ns now_ns, uint32_t rank, enum vv_gpdu_why why);

#endif
