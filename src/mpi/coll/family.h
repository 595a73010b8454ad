/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that have met as a group: what this process has of sockets and threads for
 * its communicators. The first communicator that is served brings its ranks together;
 * others whose ranks are all among them are further groups of it, and cost no socket;
 * those of the very same ranks share its group. So a program whose MPI_COMM_WORLD was
 * served once has one family.
 */
#ifndef VV_MPI_COLL_FAMILY_H
#define VV_MPI_COLL_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "vaiven/group.h"

/* Of one process: programs that never call MPI by all their ranks have few kinds of communicators. */
enum { VV_FAMILY_COUNT_MAX = 8 };

struct vv_family {
  uint64_t number;        /* the same at all members, never 0 */
  struct vv_group *group; /* of all members, in their order */
  uint32_t ranks;
  uint64_t *who;       /* the process of each rank: a number that is the same at all, and no two have */
  uint32_t *addresses; /* IPv4, of each rank's host */
  bool threads;        /* of one at least several threads may call MPI at once */
  struct vv_family *next;
};

/* The family of the lowest number that has all these processes. NULL: there is none. */
struct vv_family *vv_family_of(const uint64_t *who, uint32_t ranks);

/* How many there are. */
uint32_t vv_family_count(void);

/* Adds one, which has the group from now on, and copies of the lists `who` and `addresses`. NULL: there is no memory.
 */
struct vv_family *vv_family_add(const struct vv_family *family);

/* Whether these are all its processes, in its order. */
bool vv_family_is(const struct vv_family *family, const uint64_t *who, uint32_t ranks);

/* The rank of a process; UINT32_MAX: it is none of them. */
uint32_t vv_family_rank(const struct vv_family *family, uint64_t who);

/* Leaves one that has come to nothing, because others could not meet. */
void vv_family_leave(struct vv_family *family);

/* Leaves all of them, in an order that is the same at all their processes, which do so, too. */
void vv_family_leave_all(void);

#endif
