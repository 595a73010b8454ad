/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs hold: a group, and what they have begun on it (vaiven/group.h). The
 * public calls stand on it: group.c, coll.c, message.c.
 */
#ifndef VV_IO_JOB_HANDLE_H
#define VV_IO_JOB_HANDLE_H

#include "io/job/collective.h"
#include "io/job/job.h"
#include "io/job/stream.h"
#include "vaiven/group.h"

enum vv_handle_kind { VV_HANDLE_BROADCAST, VV_HANDLE_COLLECTIVE, VV_HANDLE_MESSAGE };

struct vv_group_operation {
  enum vv_handle_kind kind;
  struct vv_job_stream_operation own; /* a broadcast */
  struct vv_collective *collective;
  struct vv_lanes_message message; /* to or from `peer` of the group */
  uint32_t peer;
  struct vv_group *group;
  struct vv_group_operation *next; /* of the group */
};

struct vv_group {
  struct vv_job *job;           /* NULL: a group of one, which needs nobody, or one whose first group was left */
  struct vv_job_stream *stream; /* likewise */
  uint32_t ranks;
  uint32_t rank;
  enum vv_group_route route;
  unsigned generation;                   /* of the process that opened it */
  struct vv_job_stream_operation own;    /* of calls that wait */
  bool stopped;                          /* such a call was broken off: its operation goes on */
  struct vv_group_operation *operations; /* begun, and not told to have ended */
  struct vv_group *first;                /* that it was made of; NULL: it is the first */
  struct vv_group *others;               /* of the first one: those made of it, by `next` */
  struct vv_group *next;
};

/* Whether this process opened it: a child of fork has its memory, and nothing else of it. False for NULL. */
bool vv_handle_is_own(const struct vv_group *group);

/* The number that a group keeps of the process that opens it. */
unsigned vv_handle_generation(void);

/* Whether the group can be used, by this process, now. 0, or -1 and *error: "bad-call". */
int vv_handle_check(const struct vv_group *group, struct vv_error *error);

/* An error as programs see it; `rank` of the group, or VV_MEETING_NOBODY. `problem` may be NULL. */
void vv_handle_problem(const struct vv_error *error, uint32_t rank, struct vv_group_problem *problem);

/* A new operation of the group; NULL and *error: there is no memory. */
struct vv_group_operation *vv_handle_begin(struct vv_group *group, enum vv_handle_kind kind, struct vv_error *error);

/* Forgets an operation that has ended, or was not begun. */
void vv_handle_end(struct vv_group_operation *operation);

/* Whether it has ended. */
const bool *vv_handle_end_of(const struct vv_group_operation *operation);

/* What is told of an operation, as vv_group_test: it is gone if it has ended. */
int vv_handle_tell(struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem);

/*
 * With the lock: messages of a group that is left, and have not ended, fail. The caller has its memory back, and with
 * it the roads to those ranks are given up.
 */
void vv_handle_abandon(struct vv_group *group);

/* Waits for its end, whatever `stop` says: as vv_group_wait. */
int vv_handle_await(struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem);

#endif
