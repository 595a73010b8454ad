/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/handle.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/job/drive.h"
#include "io/job/service.h"
#include "io/os/code.h"

/* A child of fork has the group's memory and descriptors, but not its thread: nothing of it is the child's. */

static unsigned generation; /* of processes: a child's is one more than its parent's */

static void begin_generation(void) {
  generation++;
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, begin_generation);
}

unsigned vv_handle_generation(void) {
  static pthread_once_t watched = PTHREAD_ONCE_INIT;
  pthread_once(&watched, watch_forks);
  return generation;
}

bool vv_handle_is_own(const struct vv_group *group) {
  return group && group->generation == generation;
}

int vv_handle_check(const struct vv_group *group, struct vv_error *error) {
  if (!group) return vv_error_set(error, "bad-call", "there is no group");
  if (!vv_handle_is_own(group)) {
    return vv_error_set(error, "bad-call", "the group is that of the process which this one was forked from");
  }
  if (group->ranks > 1 && !group->job) {
    return vv_error_set(error, "bad-call", "the first group, of which this one was made, has been left");
  }
  return 0;
}

/* What programs are told */

static_assert((int)VV_GROUP_TIMEOUT == VV_CODE_TIMEOUT && (int)VV_GROUP_GONE == VV_CODE_GONE &&
                  (int)VV_GROUP_REFUSED == VV_CODE_REFUSED && (int)VV_GROUP_WRONG == VV_CODE_WRONG &&
                  (int)VV_GROUP_LACKING == VV_CODE_LACKING && (int)VV_GROUP_BROKEN == VV_CODE_BROKEN,
              "kinds are the same inside and outside");

void vv_handle_problem(const struct vv_error *error, uint32_t rank, struct vv_group_problem *problem) {
  if (!problem) return;
  problem->kind = (enum vv_group_kind)error->kind;
  problem->code = error->code;
  problem->rank = rank == VV_MEETING_NOBODY ? -1 : (int64_t)rank;
  snprintf(problem->text, sizeof problem->text, "%s%s%s", error->text, error->remedy[0] ? "; " : "", error->remedy);
}

/* Operations */

struct vv_group_operation *vv_handle_begin(struct vv_group *group, enum vv_handle_kind kind, struct vv_error *error) {
  struct vv_group_operation *begun = calloc(1, sizeof *begun);
  if (!begun) return vv_error_set(error, "no-memory", "no memory for an operation"), NULL;
  begun->kind = kind;
  begun->group = group;
  begun->next = group->operations;
  group->operations = begun;
  return begun;
}

void vv_handle_end(struct vv_group_operation *operation) {
  struct vv_group_operation **place = &operation->group->operations;
  while (*place != operation) place = &(*place)->next;
  *place = operation->next;
  vv_collective_free(operation->collective);
  free(operation);
}

const bool *vv_handle_end_of(const struct vv_group_operation *operation) {
  switch (operation->kind) {
  case VV_HANDLE_COLLECTIVE:
    return &operation->collective->ended;
  case VV_HANDLE_MESSAGE:
    return &operation->message.ended;
  case VV_HANDLE_BROADCAST:
    break;
  }
  return &operation->own.ended;
}

/* Of a message that has ended. */
static int message_told(const struct vv_group_operation *operation, size_t *size_bytes,
                        struct vv_group_problem *problem) {
  const struct vv_lanes_message *message = &operation->message;
  const struct vv_group *group = operation->group;
  struct vv_error error;
  if (message->failed && group->stream->failed) {
    if (problem) *problem = group->stream->problem;
    return -1;
  }
  if (message->failed) {
    char where[VV_ADDRESS_TEXT_MAX];
    vv_job_stream_where(group->stream, operation->peer, where);
    vv_error_set(&error, "rank-died", "the road to rank %u (%s) has ended", operation->peer, where);
  } else if (!message->sends && message->take.size_bytes > message->take.room_bytes) {
    vv_error_set(&error, "sizes-differ", "rank %u sent %zu bytes, and there is room for %zu: the message is lost",
                 operation->peer, message->take.size_bytes, message->take.room_bytes);
  } else {
    if (size_bytes) *size_bytes = message->sends ? message->send.size_bytes : message->take.size_bytes;
    return 0;
  }
  vv_handle_problem(&error, operation->peer, problem);
  return -1;
}

/* Of one that has ended. */
static int told(const struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem) {
  if (operation->kind == VV_HANDLE_MESSAGE) return message_told(operation, size_bytes, problem);
  const bool whole = operation->kind == VV_HANDLE_COLLECTIVE;
  const int result = (whole ? operation->collective->failed : operation->own.failed) ? -1 : 0;
  if (result == 0 && size_bytes) *size_bytes = whole ? operation->collective->size_bytes : operation->own.size_bytes;
  if (result != 0 && problem) *problem = operation->group->stream->problem;
  return result;
}

int vv_handle_tell(struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem) {
  if (!*vv_handle_end_of(operation)) return VV_GROUP_PENDING;
  const int result = told(operation, size_bytes, problem);
  vv_handle_end(operation);
  return result;
}

int vv_handle_await(struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem) {
  struct vv_job *job = operation->group->job;
  if (!job) return vv_handle_tell(operation, size_bytes, problem);
  vv_job_lock(job);
  if (!*vv_handle_end_of(operation)) vv_drive(job, vv_handle_end_of(operation), VV_NEVER, false);
  const int result = vv_handle_tell(operation, size_bytes, problem);
  vv_service_hand_over(job);
  return result;
}

void vv_handle_abandon(struct vv_group *group) {
  for (struct vv_group_operation *one = group->operations; one; one = one->next) {
    if (one->kind != VV_HANDLE_MESSAGE || one->message.ended) continue;
    vv_lanes_lost(&group->job->lanes, vv_job_stream_member(group->stream, one->peer));
  }
}
