/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A round: an operation in which every rank sends one datagram to all others, at once.
 *
 * It takes a position for each rank, and rank i sends its part (PART) at position
 * first + i. That costs the time in which a link brings the parts of all others to
 * one rank, where broadcasts one behind the other cost a way through the network for
 * each. What holds for a message does not hold for it: that a part has come says
 * nothing of those before it, whose ranks may be late. So a rank asks only for what
 * others say was sent (core/group/sight.h), and its question goes first to the owner.
 *
 * Nobody acknowledges: who sends a part has consumed all that is below `first`, and when a
 * rank has the parts of all it knows that of all. With a window of two rounds its next
 * part is then within its credit, whatever it was.
 *
 * A rank that comes late, and was asked meanwhile, says afterwards that it has sent
 * (vv_sender_remind), because those who wait for it ask more and more rarely.
 */
#ifndef VV_CORE_GROUP_ROUND_H
#define VV_CORE_GROUP_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/group/state.h"

/* True when so many ranks can make rounds: 2 to 32, with a window of two rounds. The same at all of them. */
bool vv_group_round_possible(uint32_t ranks, uint32_t window_datagrams);

/* The most that one rank can give, where datagrams have so many bytes (vv_rank_config.datagram_bytes). */
uint32_t vv_group_round_part_bytes(uint32_t datagram_bytes);

/* The present operation, a round, has begun. */
void vv_group_round_start(struct vv_rank *self, vv_ns now_ns);

/* The datagram of this rank's part: see vv_sender_part. The round goes on behind it. */
bool vv_group_round_next(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram);

#endif
