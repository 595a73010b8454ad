/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does about the control PDUs of others: answers questions, passes reports up the tree, hears of failures.
 */
#ifndef VV_CORE_GROUP_PEER_H
#define VV_CORE_GROUP_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/group/rank.h"

/* A control PDU has come: its numbers may be any. */
void vv_peer_control(struct vv_rank *self, uint64_t now_ns, const struct vv_gpdu *pdu);

/* What this rank and its subtree have consumed may have grown: reports it if that is due. */
void vv_peer_report(struct vv_rank *self, uint64_t now_ns);

/* Puts a report in the outbox whose slot on the hub has come. */
void vv_peer_speak(struct vv_rank *self, uint64_t now_ns);

/* Says to one rank, or VV_OUTBOX_ALL, where this rank is. */
void vv_peer_state(struct vv_rank *self, uint32_t rank);

/* The group has failed at the present operation. */
void vv_peer_fail(struct vv_rank *self, uint64_t now_ns, uint32_t rank, enum vv_gpdu_why why);

/* Puts in the outbox what all must hear of the failure, if that is due. */
void vv_peer_cry(struct vv_rank *self, uint64_t now_ns);

/* A rank is gone: see vv_rank_lost. */
void vv_peer_lost(struct vv_rank *self, uint64_t now_ns, uint32_t rank, enum vv_gpdu_why why);

/* The root of what this rank hears of has changed. */
void vv_peer_turn(struct vv_rank *self, uint32_t root);

#endif
