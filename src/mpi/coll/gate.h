/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of this process want one thread at a time, and none that is in a call on them
 * already, as it is while a wait moves the MPI's messages on (`meanwhile` of a group's
 * config). Who calls on one goes in by this gate. A call that waits for other ranks gives
 * way when another thread comes; who makes a further group does not.
 */
#ifndef VV_MPI_COLL_GATE_H
#define VV_MPI_COLL_GATE_H

#include <stdbool.h>

/* Before the first call. `threads`: several may call MPI at once. */
void vv_gate_begin(bool threads);

/* Waits for who is inside. */
void vv_gate_enter(void);

/* Waits for nobody; who is inside hears that somebody wants in. False: this thread, or another one, is inside. For
 * calls that hold a lock which somebody inside may want. */
bool vv_gate_try(void);

void vv_gate_leave(void);

/* Somebody wants in. */
bool vv_gate_is_wanted(void);

#endif
