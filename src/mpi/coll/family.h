/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that have met as a group: what this process has of sockets and threads for
 * its communicators. The first communicator that is served brings its ranks together;
 * others whose ranks are all among them are further groups of it, and cost no socket. So
 * a program whose MPI_COMM_WORLD was served once has one family.
 *
 * A group stays while its family does, for other communicators of the very same ranks:
 * programs make the same ones again and again.
 */
#ifndef VV_MPI_COLL_FAMILY_H
#define VV_MPI_COLL_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "vaiven/group.h"

/* Of one process: programs that never call MPI by all their ranks have few kinds of communicators. */
enum { VV_FAMILY_COUNT_MAX = 8 };

/* Some of the ranks of a family, in some order. */
struct vv_family_part {
  uint32_t ranks;
  uint32_t *members; /* ranks of the family */
  struct vv_group *group;
};

struct vv_family {
  uint64_t number;        /* the same at all members, never 0 */
  struct vv_group *group; /* of all members, in their order */
  uint32_t ranks;
  uint64_t *who;       /* the process of each rank: a number that is the same at all, and no two have */
  uint32_t *addresses; /* IPv4, of each rank's host */
  bool threads;        /* of one at least several threads may call MPI at once */
  struct vv_family_part parts[VV_GROUP_AMONG_MAX];
  uint32_t part_count;
  struct vv_family *next;
};

/* The family of the lowest number that has all these processes. NULL: there is none. */
struct vv_family *vv_family_of(const uint64_t *who, uint32_t ranks);

/* How many there are. */
uint32_t vv_family_count(void);

/* Adds one, which has the group from now on, and copies of the lists `who` and `addresses`. NULL: there is no memory.
 */
struct vv_family *vv_family_add(const struct vv_family *family);

/* The group of these of its ranks, in this order: its own, or one that is kept. NULL: there is none. */
struct vv_group *vv_family_group_of(const struct vv_family *family, const uint32_t *members, uint32_t ranks);

/* Keeps a further group of it, and the list of its members, which came from malloc(). */
void vv_family_keep(struct vv_family *family, uint32_t *members, uint32_t ranks, struct vv_group *group);

/* The rank of a process; UINT32_MAX: it is none of them. */
uint32_t vv_family_rank(const struct vv_family *family, uint64_t who);

/* Leaves one that has come to nothing, because others could not meet. */
void vv_family_leave(struct vv_family *family);

/* Leaves all of them, in an order that is the same at all their processes, which do so, too. */
void vv_family_leave_all(void);

#endif
