/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank sends of its own operations and of those that it has: data within its credit, and repairs. */
#ifndef VV_CORE_GROUP_SENDER_H
#define VV_CORE_GROUP_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/group/state.h"

/* The next datagram of the present operation: false when the rate, the credit or the message has come to an end. */
bool vv_sender_data(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram);

/* This rank's part of the present round: false when it went before, or rate or credit do not let it go. */
bool vv_sender_part(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram);

/* This rank has sent all that it has to, and will say so again: whoever lost the last of it may ask more and more
 * rarely. */
void vv_sender_remind(struct vv_rank *self, vv_ns now_ns);

/* The next repair that is due: false when there is none. */
bool vv_sender_repair(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram);

/* This rank waits for the others to consume, and will poll them. */
void vv_sender_stall(struct vv_rank *self, vv_ns now_ns);

/* Puts in the outbox what a root says when it waits, or has finished: POLL, STATE. */
void vv_sender_speak(struct vv_rank *self, vv_ns now_ns);

/* The horizon may have moved: goes on, publishes it if this rank should. */
void vv_sender_credit(struct vv_rank *self, vv_ns now_ns);

/* When any of these has something to do; VV_NEVER. */
vv_ns vv_sender_deadline_ns(const struct vv_rank *self);

#endif
