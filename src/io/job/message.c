/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven/group.h: messages from one rank to one, on the job's roads.
 */
#include "io/job/handle.h"
#include "io/job/service.h"

/* Messages of a program have another label than those of collective operations of the same group. */
static uint64_t label_of(const struct vv_group *group) {
  return vv_job_stream_label(group->stream, 0) | 1;
}

static int check(const struct vv_group *group, uint32_t peer, const void *buffer, size_t size_bytes,
                 struct vv_error *error) {
  if (vv_handle_check(group, error) != 0) return -1;
  if (!buffer && size_bytes > 0) return vv_error_set(error, "bad-call", "a message of bytes has no buffer");
  if (peer >= group->ranks) {
    return vv_error_set(error, "bad-rank", "there is no rank %u in a group of %u", peer, group->ranks);
  }
  if (peer == group->rank) return vv_error_set(error, "bad-rank", "rank %u has no road to itself", peer);
  return 0;
}

static struct vv_group_operation *begin(struct vv_group *group, uint32_t peer, const struct vv_lanes_message *message,
                                        struct vv_group_problem *problem) {
  struct vv_error error;
  const void *buffer = message->sends ? message->send.data : message->take.buffer;
  const size_t bytes = message->sends ? message->send.size_bytes : message->take.room_bytes;
  struct vv_group_operation *begun = NULL;
  if (check(group, peer, buffer, bytes, &error) == 0) begun = vv_handle_begin(group, VV_HANDLE_MESSAGE, &error);
  if (!begun) return vv_handle_problem(&error, VV_MEETING_NOBODY, problem), NULL;
  begun->message = *message;
  begun->message.send.label = begun->message.take.label = label_of(group);
  begun->peer = peer;
  vv_job_lock(group->job);
  vv_lanes_begin(&group->job->lanes, vv_job_stream_member(group->stream, peer), &begun->message);
  vv_service_hand_over(group->job);
  return begun;
}

struct vv_group_operation *vv_group_begin_send(struct vv_group *group, uint32_t to, const void *data, size_t size_bytes,
                                               struct vv_group_problem *problem) {
  const struct vv_lanes_message message = {.sends = true, .send = {.data = data, .size_bytes = size_bytes}};
  return begin(group, to, &message, problem);
}

struct vv_group_operation *vv_group_begin_take(struct vv_group *group, uint32_t from, void *buffer, size_t room_bytes,
                                               struct vv_group_problem *problem) {
  const struct vv_lanes_message message = {.take = {.buffer = buffer, .room_bytes = room_bytes}};
  return begin(group, from, &message, problem);
}

int vv_group_send(struct vv_group *group, uint32_t to, const void *data, size_t size_bytes,
                  struct vv_group_problem *problem) {
  struct vv_group_operation *begun = vv_group_begin_send(group, to, data, size_bytes, problem);
  return begun ? vv_handle_await(begun, NULL, problem) : -1;
}

int vv_group_take(struct vv_group *group, uint32_t from, void *buffer, size_t room_bytes, size_t *size_bytes,
                  struct vv_group_problem *problem) {
  struct vv_group_operation *begun = vv_group_begin_take(group, from, buffer, room_bytes, problem);
  return begun ? vv_handle_await(begun, size_bytes, problem) : -1;
}
