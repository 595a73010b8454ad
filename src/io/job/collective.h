/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective operation of a group that was begun: its schedule (core/coll/schedule.h),
 * carried out by casts of the group's stream and messages on the job's roads.
 *
 * Those of one group go one behind the other: one begins when all steps of the one
 * before have begun, so that all ranks come to their casts and messages in one order.
 */
#ifndef VV_IO_JOB_COLLECTIVE_H
#define VV_IO_JOB_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/coll/fold.h"
#include "core/coll/schedule.h"
#include "io/job/lanes.h"
#include "io/job/stream.h"

/* What a step is under way as. */
struct vv_collective_step {
  bool done;
  union {
    struct vv_job_stream_operation cast;
    struct vv_lanes_message message;
  } as;
};

struct vv_collective {
  struct vv_schedule schedule;
  struct vv_collective_step *steps;
  uint32_t begun, finished;   /* steps begun; the leading ones that are done */
  uint8_t *areas[3];          /* by enum vv_schedule_area; scratch is its own */
  enum vv_data_type type;     /* of the numbers in it */
  enum vv_coll_op op;         /* of its folds */
  uint64_t label;             /* of its messages: the stream's, for this call */
  struct vv_rank_part *parts; /* of its round, if it has one */
  bool receives;              /* it is one cast, of a size that a rank which is not the root does not know */
  uint64_t size_bytes;        /* of that, when it has ended */
  bool ended, failed;
  struct vv_collective *next; /* begun on the same group after it */
};

/* One with room for the schedule of a rank of so many; NULL: no memory. What is public of it is the caller's to set. */
struct vv_collective *vv_collective_new(uint32_t ranks);

/* Memory for what its schedule needs besides. False: there is none. */
bool vv_collective_furnish(struct vv_collective *collective);

/* After it has ended, or its job has. */
void vv_collective_free(struct vv_collective *collective);

/* Behind what was begun on the stream before. */
void vv_collective_begin(struct vv_job_stream *stream, struct vv_collective *collective);

/* Carries it out in a group of one, where nothing is to be waited for. */
void vv_collective_alone(struct vv_collective *collective);

/* True when it waits for messages, and not for casts alone. */
bool vv_collective_waits_for_messages(const struct vv_collective *collective);

/* Whether a message of that label, which has come from a rank of the group, may be for what was begun, or will be. */
bool vv_collective_awaits(const struct vv_job_stream *stream, uint32_t rank, uint64_t label);

/* Does what can be done now of all that were begun on the stream. True: a step was begun. */
bool vv_collective_turn(struct vv_job_stream *stream, struct vv_lanes *lanes, vv_ns now_ns);

#endif
