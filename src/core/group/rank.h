/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliable multicast among ranks that know each other: a broadcast costs about
 * the same for one receiver as for a hundred, and nothing is lost, whoever
 * sleeps. Pure: whoever drives it owns clock and sockets (io/engine, or the
 * simulator).
 *
 * Operations. All ranks start the same operations in the same order, one at a
 * time. Operation n takes the positions behind operation n-1; its root sends
 * them to everybody's DATA socket, once. Nobody answers: a small message is one
 * datagram and no acknowledgement. A receiver that lacks something asks for it.
 *
 * Two sockets. DATA gets what roots send by multicast; CONTROL gets all else, by
 * multicast or to one rank: questions, answers, repairs. CONTROL must be read
 * whenever the process lives, because a rank owes its peers repairs while its
 * application computes. DATA is read only while vv_rank_wants_data says so:
 * outside an operation data stays in the kernel's buffer, and is not lost
 * there, because of
 *
 * Rounds. An operation in which every rank sends one datagram, all at once: core/group/round.h.
 *
 * Credit. No root sends position p before all ranks have consumed position
 * p - window_datagrams, so a DATA socket never holds more than that, whatever
 * roots are active and however long a rank sleeps (core/group/credit.h). A
 * slow rank so stops the root; it is never dropped.
 *
 * Repair. A rank that sees a gap, and has read its DATA socket past it, asks a peer, then the root (core/group/gap.h);
 * who is asked and has it sends it again, to one or, being the root, to all
 * (core/group/repair.h). Data stay available for that in the user's buffer
 * during an operation, and in the store behind it (core/group/store.h).
 *
 * Failure. Being late is no failure: no timer ends an operation. The driver says
 * when a rank has died (a kernel says it: reset, keepalive); the group then
 * fails, at every rank, with the name of that rank (core/group/member.h).
 *
 * A driver's turn, in this order, whenever something has come, a deadline has
 * passed, or the application has called:
 *
 *   1. vv_rank_take     every datagram of CONTROL, then of DATA if it is wanted; vv_rank_dry when DATA has no more
 *   2. vv_rank_next     until it gives none; send each where it says. When the
 *                        socket has no room, wait until it has, then go on
 *   3. vv_rank_event    until it gives none
 *   4. wait for CONTROL, for DATA if vv_rank_wants_data, until vv_rank_deadline_ns
 *
 * Time is any clock in ns that never goes back. One thread at a time.
 */
#ifndef VV_CORE_GROUP_RANK_H
#define VV_CORE_GROUP_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/group/state.h"

/* The memory that such a group needs, and the group in it: the caller's, aligned as malloc's, there as long as it. */
size_t vv_rank_bytes(const struct vv_rank_config *config);
void vv_rank_init(struct vv_rank *self, void *memory, const struct vv_rank_config *config);

/*
 * Starts the next operation (a round: if vv_group_round_possible): VV_RANK_DONE or VV_RANK_FAILED ends it. The buffer
 * belongs to the group until then. No operation is going on, and the group is not closing.
 */
void vv_rank_start(struct vv_rank *self, vv_ns now_ns, const struct vv_rank_operation *operation);

/*
 * The message of the present operation, which has another root, goes to that
 * buffer from now on, and what has come of it, if all, is copied there: the buffer
 * before is the caller's again. If it is known to be longer than room_bytes, the
 * group fails.
 */
void vv_rank_redirect(struct vv_rank *self, vv_ns now_ns, uint8_t *buffer, uint64_t room_bytes);

/* A datagram has come to that socket. Bytes of strangers are counted and dropped. */
void vv_rank_take(struct vv_rank *self, vv_ns now_ns, enum vv_rank_socket from, const uint8_t *bytes, size_t count);

/* The same of one that has been parsed: for a process that holds many ranks of a group. */
void vv_rank_take_pdu(struct vv_rank *self, vv_ns now_ns, enum vv_rank_socket from, const struct vv_gpdu *pdu);

/*
 * The DATA socket was found empty, not before then_ns, when all that had been taken from CONTROL was there, and all
 * that it had given is taken. A driver need not make sure of it for each datagram: a question waits for it, and then
 * vv_rank_deadline_ns has passed.
 */
void vv_rank_dry(struct vv_rank *self, vv_ns then_ns);

/* The next datagram to send now: false when there is none. */
bool vv_rank_next(struct vv_rank *self, vv_ns now_ns, struct vv_rank_datagram *datagram);

/* What has happened: false when nothing has that was not told. A root flushes its sockets before it believes DONE. */
bool vv_rank_event(struct vv_rank *self, struct vv_rank_event *event);

/* When to look at DATA and call vv_rank_next again even if nothing comes; VV_NEVER: then only. */
vv_ns vv_rank_deadline_ns(const struct vv_rank *self);

/* The same of all but questions: for who answers peers while somebody else reads DATA, or nobody. */
vv_ns vv_rank_duty_ns(const struct vv_rank *self);

/* True when the DATA socket should be read. */
bool vv_rank_wants_data(const struct vv_rank *self);

/* True when nothing else need be read: this rank lacks nothing that was sent, and has asked for nothing. */
bool vv_rank_wants_data_alone(const struct vv_rank *self);

/* A rank is gone, says a kernel: the group fails, unless that rank left in order and is needed no more. */
void vv_rank_lost(struct vv_rank *self, vv_ns now_ns, uint32_t rank, enum vv_gpdu_why why);

/*
 * No more operations here. The group stays a peer of the others until VV_RANK_CLOSED
 * says that all of them have consumed everything; then it may be forgotten.
 */
void vv_rank_close(struct vv_rank *self, vv_ns now_ns);

#endif
