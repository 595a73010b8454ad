/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does about the control PDUs of others: answers questions, passes reports on, hears of failures. */
#ifndef VV_CORE_GROUP_PEER_H
#define VV_CORE_GROUP_PEER_H

#include <stdint.h>

#include "core/base/time.h"
#include "core/group/state.h"

/* A control PDU has come: its numbers may be any. */
void vv_peer_control(struct vv_rank *self, vv_ns now_ns, const struct vv_gpdu *pdu);

/* A rank is gone: see vv_rank_lost. */
void vv_peer_lost(struct vv_rank *self, vv_ns now_ns, uint32_t rank, enum vv_gpdu_why why);

#endif
