/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts of an MPI that were begun (MPI_Ibcast), and go on while their program is
 * elsewhere. Their communicator has a group for them that no other has: operations that
 * are only begun need not come in one order on several communicators (MPI 4.1, 6.12), as
 * those that wait do in programs that end.
 *
 * The face of an MPI has one in each request, and is told when it has ended: by whoever
 * moves them on, which is each turn of the MPI's own progress, or a call that waits.
 */
#ifndef VV_MPI_COLL_BEGUN_H
#define VV_MPI_COLL_BEGUN_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/coll/area.h"
#include "vaiven/group.h"

/* A communicator's group for what it begins: lives until the communicator is freed and all that was begun has ended. */
struct vv_begun_group {
  struct vv_group *group;
  bool is_own; /* to be left in the end: it is nothing else's */
  bool is_freed;
  unsigned under_way;
};

struct vv_begun {
  /* Of the face, before it begins: */
  struct vv_area area;
  vv_area_convert *convert;
  uint32_t root, rank;
  void (*ended)(struct vv_begun *begun, bool done); /* told once, inside the gate; may free it */
  intptr_t name;                                    /* by which it is waited for, where it is */
  /* Own: */
  struct vv_begun_group *by;
  struct vv_group_operation *operation;
  struct vv_begun *next;
};

/* NULL: there is no memory, and the group is left, if it is its own. */
struct vv_begun_group *vv_begun_group_new(struct vv_group *group, bool is_own);

/* The communicator is freed. NULL is allowed. */
void vv_begun_group_free(struct vv_begun_group *by);

/* Begins it, and waits for nobody. False: said on stderr, and nothing was begun. */
bool vv_begun_start(struct vv_begun *begun, struct vv_begun_group *by);

/* Moves all on, without waiting. How many have ended. */
unsigned vv_begun_turn(void);

/* Whether any is under way. */
bool vv_begun_any(void);

/* Waits for the end of the one of that name, if it is under way; `progress` moves the MPI's messages on meanwhile. */
void vv_begun_await(intptr_t name, void (*progress)(void));

/* Their groups are no more: a program that is wrong has not waited for them. */
void vv_begun_forget_all(void);

#endif
