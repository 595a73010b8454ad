/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven/coll.h: the public calls.
 */
#include "vaiven/coll.h"

#include <stdlib.h>

#include "core/group/round.h"
#include "core/wire/gpdu.h"
#include "io/job/drive.h"
#include "io/job/handle.h"
#include "io/job/service.h"

/* Reductions of at most so many bytes of all ranks together are folded by every rank that wants the result. */
#define SMALL_BYTES 16384

static bool has_root(const struct vv_coll_call *call) {
  return call->kind == VV_COLL_BROADCAST || call->kind == VV_COLL_GATHER || call->kind == VV_COLL_SCATTER ||
         call->kind == VV_COLL_REDUCE;
}

static bool has_parts(const struct vv_coll_call *call) {
  return call->kind == VV_COLL_ALLGATHER || call->kind == VV_COLL_GATHER || call->kind == VV_COLL_SCATTER;
}

static bool folds(const struct vv_coll_call *call) {
  return call->kind == VV_COLL_REDUCE || call->kind == VV_COLL_ALLREDUCE;
}

/* Part i, in bytes. False: it, or its end, is more than there can be. */
static bool part_of(const struct vv_coll_call *call, uint32_t i, struct vv_schedule_part *part) {
  const size_t width = vv_data_type_bytes(call->type);
  size_t first = 0, end;
  const size_t count = call->parts ? call->parts[i].count : call->count;
  if (call->parts)
    first = call->parts[i].first;
  else if (__builtin_mul_overflow(i, call->count, &first))
    return false;
  if (__builtin_add_overflow(first, count, &end) || __builtin_mul_overflow(end, width, &end)) return false;
  *part = (struct vv_schedule_part){first * width, count * width};
  return end <= VV_GPDU_SIZE_BYTES_MAX;
}

static int check_numbers(const struct vv_coll_call *call, uint32_t ranks, struct vv_error *error) {
  const size_t width = vv_data_type_bytes(call->type);
  size_t bytes;
  if (call->kind == VV_COLL_BARRIER) return 0;
  if (width == 0) return vv_error_set(error, "bad-type", "there is no type %d of numbers", (int)call->type);
  if (folds(call) && !vv_fold_defined(call->op, call->type)) {
    return vv_error_set(error, "bad-type", "numbers of type %d have no reduction %d", (int)call->type, (int)call->op);
  }
  bool fits = !__builtin_mul_overflow(call->count, width, &bytes) && bytes <= VV_GPDU_SIZE_BYTES_MAX / ranks;
  struct vv_schedule_part part;
  for (uint32_t i = 0; call->parts && has_parts(call) && i < ranks; i++)
    fits = part_of(call, i, &part) && (i == 0 || fits);
  if (fits) return 0;
  return vv_error_set(error, "bad-size", "more numbers than an operation can have");
}

/* Whether what the rank gives, and gets, is there. */
static int check_buffers(const struct vv_group *group, const struct vv_coll_call *call, struct vv_error *error) {
  const bool is_root = !has_root(call) || call->root == group->rank;
  const bool is_single = call->kind == VV_COLL_BROADCAST || call->kind == VV_COLL_SCATTER;
  const bool is_nothing = call->kind == VV_COLL_BARRIER || (!call->parts && call->count == 0);
  const bool gives = !is_nothing && (!is_single || is_root), gets = !is_nothing && (is_single || is_root);
  const size_t own = call->parts && has_parts(call) ? call->parts[group->rank].count : 1;
  if (gives && !call->given && (own > 0 || is_single)) {
    return vv_error_set(error, "bad-call", "a rank that gives numbers has none");
  }
  if (gets && !call->result && (own > 0 || !is_single)) {
    return vv_error_set(error, "bad-call", "a rank that gets numbers has no room for them");
  }
  return 0;
}

static int check(const struct vv_group *group, const struct vv_coll_call *call, struct vv_error *error) {
  if (vv_handle_check(group, error) != 0) return -1;
  if (!call) return vv_error_set(error, "bad-call", "there is no call");
  if (call->size_bytes != sizeof *call) {
    return vv_error_set(error, "bad-config", "a call of %zu bytes is of another version than this library",
                        call->size_bytes);
  }
  if (call->kind < VV_COLL_BARRIER || call->kind > VV_COLL_ALLREDUCE) {
    return vv_error_set(error, "bad-call", "there is no collective operation %d", (int)call->kind);
  }
  if (has_root(call) && call->root >= group->ranks) {
    return vv_error_set(error, "bad-rank", "there is no rank %u in a group of %u", call->root, group->ranks);
  }
  if (check_numbers(call, group->ranks, error) != 0) return -1;
  return check_buffers(group, call, error);
}

/* Where one sends at a time, all at once would collide. */
static bool has_rounds(const struct vv_group *group) {
  if (!group->stream) return false;
  const struct vv_rank_config *core = &group->stream->core.config;
  return core->shared_bps == 0 && vv_group_round_possible(core->ranks, core->window_datagrams);
}

static void schedule(const struct vv_group *group, const struct vv_coll_call *call,
                     const struct vv_schedule_part *parts, struct vv_schedule *schedule_of) {
  const bool casts = group->route != VV_GROUP_UNICAST;
  const struct vv_schedule_ranks who = {
      .ranks = group->ranks,
      .rank = group->rank,
      .casts = casts,
      .rounds = casts && has_rounds(group),
      .datagram_bytes = group->job ? vv_group_round_part_bytes(group->job->reach.datagram_bytes) : 0,
      .small_bytes = SMALL_BYTES};
  const size_t width = vv_data_type_bytes(call->type);
  switch (call->kind) {
  case VV_COLL_BARRIER:
    return vv_schedule_barrier(schedule_of, &who);
  case VV_COLL_BROADCAST:
    return vv_schedule_broadcast(schedule_of, &who, call->root, call->count * width);
  case VV_COLL_ALLGATHER:
    return vv_schedule_allgather(schedule_of, &who, parts);
  case VV_COLL_GATHER:
    return vv_schedule_gather(schedule_of, &who, call->root, parts);
  case VV_COLL_SCATTER:
    return vv_schedule_scatter(schedule_of, &who, call->root, parts);
  case VV_COLL_REDUCE:
    return vv_schedule_reduce(schedule_of, &who, call->root, call->count, width);
  case VV_COLL_ALLREDUCE:
    return vv_schedule_allreduce(schedule_of, &who, call->count, width);
  }
}

/* NULL: no memory. */
static struct vv_collective *make(const struct vv_group *group, const struct vv_coll_call *call) {
  struct vv_schedule_part *parts = calloc(group->ranks, sizeof *parts);
  struct vv_collective *made = parts ? vv_collective_new(group->ranks) : NULL;
  for (uint32_t i = 0; made && has_parts(call) && i < group->ranks; i++) part_of(call, i, &parts[i]);
  if (made) {
    schedule(group, call, parts, &made->schedule);
    made->areas[VV_SCHEDULE_GIVEN] = (uint8_t *)(uintptr_t)call->given;
    made->areas[VV_SCHEDULE_RESULT] = call->result;
    made->type = call->kind == VV_COLL_BARRIER ? VV_DATA_CHAR : call->type;
    made->op = call->op;
  }
  free(parts);
  if (made && vv_collective_furnish(made)) return made;
  vv_collective_free(made);
  return NULL;
}

/* Begins it, as far as that goes at once; the lock is held afterwards where there is a job. */
static struct vv_group_operation *begin(struct vv_group *group, const struct vv_coll_call *call,
                                        struct vv_group_problem *problem) {
  struct vv_error error;
  struct vv_group_operation *begun = NULL;
  if (check(group, call, &error) == 0) begun = vv_handle_begin(group, VV_HANDLE_COLLECTIVE, &error);
  if (begun && !(begun->collective = make(group, call))) {
    vv_error_set(&error, "no-memory", "no memory for a collective operation");
    vv_handle_end(begun);
    begun = NULL;
  }
  if (!begun) return vv_handle_problem(&error, VV_MEETING_NOBODY, problem), NULL;
  if (!group->job) {
    vv_collective_alone(begun->collective);
    return begun;
  }
  vv_job_lock(group->job);
  vv_collective_begin(group->stream, begun->collective);
  vv_job_turn(group->job);
  return begun;
}

struct vv_group_operation *vv_coll_begin(struct vv_group *group, const struct vv_coll_call *call,
                                         struct vv_group_problem *problem) {
  struct vv_group_operation *begun = begin(group, call, problem);
  if (begun && group->job) vv_service_hand_over(group->job);
  return begun;
}

int vv_coll(struct vv_group *group, const struct vv_coll_call *call, struct vv_group_problem *problem) {
  struct vv_group_operation *begun = begin(group, call, problem);
  if (!begun) return -1;
  if (group->job) vv_job_unlock(group->job); /* the thread of the job need not wake for what is waited for here */
  return vv_handle_await(begun, NULL, problem);
}
