/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does with the data of others: puts it where it belongs, asks for what it lacks, says when it is whole. */
#ifndef VV_CORE_GROUP_RECEIVER_H
#define VV_CORE_GROUP_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/group/state.h"

/* The present operation has begun, and this rank is not its root. What came early is taken now. */
void vv_receiver_start(struct vv_rank *self, vv_ns now_ns);

/* The present operation goes on as far as what it needs is there: it may be done. */
void vv_receiver_advance(struct vv_rank *self, vv_ns now_ns);

/* A HEAD, PART or DATA has come. */
void vv_receiver_data(struct vv_rank *self, vv_ns now_ns, enum vv_rank_socket from, const struct vv_gpdu *pdu);

/* The message goes to another buffer: see vv_rank_redirect. */
void vv_receiver_redirect(struct vv_rank *self, vv_ns now_ns, uint8_t *buffer, uint64_t room_bytes);

/* Somebody knows that what is below edge has been sent; bit i of beyond: edge + i, too. */
void vv_receiver_told(struct vv_rank *self, vv_ns now_ns, uint64_t edge, uint32_t beyond);

/* The DATA socket was found empty, not before then_ns: see vv_rank_dry. */
void vv_receiver_dry(struct vv_rank *self, vv_ns then_ns);

/* Who has what this rank waits for: the root; of a round the owner of the first part that it lacks. */
uint32_t vv_receiver_awaited(const struct vv_rank *self);

/* Puts the question in the outbox that is due. */
void vv_receiver_ask(struct vv_rank *self, vv_ns now_ns);

#endif
