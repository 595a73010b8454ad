/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven/group.h: the public calls, on a job and its streams.
 */
#include "vaiven/group.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/job/drive.h"
#include "io/job/group_config.h"
#include "io/job/handle.h"
#include "io/job/job.h"
#include "io/job/make.h"
#include "io/job/service.h"
#include "io/os/clock.h"
#include "io/os/code.h"

/* Opening */

static struct vv_group *make(uint32_t ranks, uint32_t rank, enum vv_group_route route) {
  struct vv_group *group = calloc(1, sizeof *group);
  if (!group) return NULL;
  group->ranks = ranks;
  group->rank = rank;
  group->route = route;
  group->generation = vv_handle_generation();
  return group;
}

/* The others, if they have met, need not wait for this rank. */
static void give_up(struct vv_job *job) {
  const struct vv_letter_refusal refusal = {VV_LETTER_GAVE_UP, job->meeting.rank, 0};
  const struct vv_letter_note lost = vv_letter_lost(&refusal);
  if (job->meeting.links) vv_meeting_tell(&job->meeting, &lost);
  vv_meeting_send(&job->meeting);
  vv_job_free(job);
}

/* The job of a group of several. NULL, *error and whom it is about. */
static struct vv_job *open_job(const struct vv_group_config *config, struct vv_error *error, uint32_t *lost) {
  struct vv_job *job = vv_job_new(config);
  if (!job) return vv_error_set(error, "no-memory", "no memory for a group of %u ranks", config->ranks), NULL;
  if (vv_job_meet(job, config, error) == 0 && vv_service_start(job, error) == 0) return job;
  *lost = job->meeting.lost;
  give_up(job);
  return NULL;
}

struct vv_group *vv_group_open(const struct vv_group_config *config, struct vv_group_problem *problem) {
  struct vv_error error = {0};
  uint32_t lost = VV_MEETING_NOBODY;
  if (vv_group_config_check(config, &error) != 0) return vv_handle_problem(&error, lost, problem), NULL;
  const enum vv_group_route route = config->route == VV_GROUP_ANY ? VV_GROUP_MULTICAST : config->route;
  struct vv_group *group = make(config->ranks, config->rank, route);
  if (!group) {
    vv_error_set(&error, "no-memory", "no memory for a group of %u ranks", config->ranks);
    return vv_handle_problem(&error, lost, problem), NULL;
  }
  if (config->ranks == 1) return group;
  group->job = open_job(config, &error, &lost);
  if (!group->job) {
    free(group);
    return vv_handle_problem(&error, lost, problem), NULL;
  }
  group->stream = group->job->streams;
  group->route = group->job->reach.route;
  return group;
}

/* What can be asked of it */

static int check_operation(const struct vv_group *group, const struct vv_rank_operation *operation,
                           struct vv_group_problem *problem) {
  struct vv_error error;
  if (vv_handle_check(group, &error) != 0) {
    /* said */
  } else if (!operation->buffer && operation->size_bytes > 0) {
    vv_error_set(&error, "bad-call", "a message of bytes has no buffer");
  } else if (operation->root >= group->ranks) {
    vv_error_set(&error, "bad-rank", "there is no rank %u in a group of %u", operation->root, group->ranks);
  } else if (operation->size_bytes > VV_GPDU_SIZE_BYTES_MAX) {
    vv_error_set(&error, "bad-size", "a message has %" PRIu64 " bytes at most", VV_GPDU_SIZE_BYTES_MAX);
  } else {
    return 0;
  }
  vv_handle_problem(&error, VV_MEETING_NOBODY, problem);
  return -1;
}

/* *own: which of them this rank is. */
static int check_members(const struct vv_group *group, const uint32_t *ranks, uint32_t count, uint32_t *own,
                         struct vv_error *error) {
  bool seen[VV_GROUP_RANKS_MAX] = {false};
  if (vv_handle_check(group, error) != 0) return -1;
  if (!ranks || count == 0) return vv_error_set(error, "bad-call", "a group of nobody cannot be made");
  *own = UINT32_MAX;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t rank = ranks[i];
    if (rank >= group->ranks)
      return vv_error_set(error, "bad-rank", "there is no rank %u in a group of %u", rank, group->ranks);
    if (seen[rank]) return vv_error_set(error, "bad-rank", "rank %u is in the list twice", rank);
    seen[rank] = true;
    if (rank == group->rank) *own = i;
  }
  if (*own != UINT32_MAX) return 0;
  return vv_error_set(error, "bad-rank", "rank %u makes a group that it is not in", group->rank);
}

/* Further groups */

/* Has the stream of a group, whose members are ranks of another one, made. */
static int make_stream(struct vv_group *made, struct vv_group *group, const uint32_t *ranks, struct vv_error *error,
                       uint32_t *about) {
  uint32_t members[VV_GROUP_RANKS_MAX];
  struct vv_job *job = group->job;
  for (uint32_t i = 0; i < made->ranks; i++) members[i] = vv_job_stream_member(group->stream, ranks[i]);
  vv_job_lock(job);
  const struct vv_make_config config = {.members = members,
                                        .ranks = made->ranks,
                                        .rank = made->rank,
                                        .parent = group->stream,
                                        .deadline_ns = vv_job_patience_ns(job)};
  made->stream = vv_make(job, &config, error, about);
  vv_service_hand_over(job);
  if (!made->stream) return -1;
  made->job = job;
  made->first = group->first ? group->first : group;
  made->next = made->first->others;
  made->first->others = made;
  return 0;
}

struct vv_group *vv_group_among(struct vv_group *group, const uint32_t *ranks, uint32_t count,
                                struct vv_group_problem *problem) {
  struct vv_error error = {0};
  uint32_t own = 0, about = VV_MEETING_NOBODY;
  struct vv_group *made = NULL;
  if (check_members(group, ranks, count, &own, &error) == 0) {
    made = make(count, own, group->route);
    if (!made) vv_error_set(&error, "no-memory", "no memory for a group of %u ranks", count);
  }
  if (made && (count == 1 || make_stream(made, group, ranks, &error, &about) == 0)) return made;
  vv_handle_problem(&error, about, problem);
  free(made);
  return NULL;
}

/* A broadcast that is no part of a collective operation: whoever sends a message for it is in another one. */
static void begin_plain(struct vv_group *group, struct vv_job_stream_operation *own) {
  group->stream->calls++;
  group->job->lanes.has_untaken = group->job->lanes.in_use;
  vv_job_stream_begin(group->stream, group->job->at_ns, own);
}

/* Broadcasts that wait */

/* An operation, begun or gone on with. */
static int operate(struct vv_group *group, const struct vv_rank_operation *operation, size_t *size_bytes,
                   struct vv_group_problem *problem) {
  if (check_operation(group, operation, problem) != 0) return -1;
  if (group->ranks == 1) return 0;
  struct vv_job *job = group->job;
  struct vv_job_stream_operation *own = &group->own;
  int result = 0;
  vv_job_lock(job);
  /* Before it has begun it is nowhere, and the call that goes on begins it. */
  const bool waits = !group->stopped && !group->stream->settled;
  const bool is_first = !waits || vv_drive(job, &group->stream->settled, VV_NEVER, true) == VV_DRIVE_REACHED;
  if (is_first && !group->stopped) {
    own->what = *operation;
    begin_plain(group, own);
  }
  group->stopped = is_first && !own->ended && vv_drive(job, &own->ended, VV_NEVER, true) == VV_DRIVE_STOPPED;
  if (group->stopped || !is_first) {
    result = VV_GROUP_STOPPED;
  } else if (own->failed) {
    if (problem) *problem = group->stream->problem;
    result = -1;
  }
  if (size_bytes && result == 0) *size_bytes = own->size_bytes;
  vv_service_hand_over(job);
  return result;
}

static struct vv_rank_operation broadcast_of(uint32_t root, void *buffer, size_t size_bytes) {
  return (struct vv_rank_operation){.root = root, .buffer = buffer, .size_bytes = size_bytes, .size_known = true};
}

static struct vv_rank_operation receive_of(uint32_t root, void *buffer, size_t room_bytes) {
  return (struct vv_rank_operation){.root = root, .buffer = buffer, .size_bytes = room_bytes};
}

int vv_group_broadcast(struct vv_group *group, uint32_t root, void *buffer, size_t size_bytes,
                       struct vv_group_problem *problem) {
  const struct vv_rank_operation operation = broadcast_of(root, buffer, size_bytes);
  return operate(group, &operation, NULL, problem);
}

int vv_group_receive(struct vv_group *group, uint32_t root, void *buffer, size_t room_bytes, size_t *size_bytes,
                     struct vv_group_problem *problem) {
  const struct vv_rank_operation operation = receive_of(root, buffer, room_bytes);
  return operate(group, &operation, size_bytes, problem);
}

void vv_group_move(struct vv_group *group, void *buffer, size_t room_bytes) {
  if (!vv_handle_is_own(group) || !group->job) return;
  vv_job_lock(group->job);
  if (group->stopped) vv_job_stream_redirect(group->stream, group->job->at_ns, &group->own, buffer, room_bytes);
  vv_job_unlock(group->job);
}

/* Broadcasts that are begun */

/* Behind collective operations that have not sent all yet, it is one of them itself. */
static bool begin_behind(struct vv_group_operation *begun, const struct vv_rank_operation *what) {
  struct vv_group *group = begun->group;
  struct vv_collective *collective = vv_collective_new(group->ranks);
  if (!collective) return false;
  begun->kind = VV_HANDLE_COLLECTIVE;
  begun->collective = collective;
  collective->schedule.count = 1;
  collective->schedule.steps[0] = (struct vv_schedule_step){.kind = VV_SCHEDULE_CAST,
                                                            .peer = what->root,
                                                            .from = {.area = VV_SCHEDULE_RESULT},
                                                            .to = {.area = VV_SCHEDULE_RESULT},
                                                            .bytes = what->size_bytes};
  collective->areas[VV_SCHEDULE_RESULT] = what->buffer;
  collective->type = VV_DATA_CHAR;
  collective->receives = !what->size_known;
  if (!vv_collective_furnish(collective)) return false;
  vv_collective_begin(group->stream, collective);
  return true;
}

static struct vv_group_operation *begin(struct vv_group *group, const struct vv_rank_operation *operation,
                                        struct vv_group_problem *problem) {
  struct vv_error error;
  bool has_begun = true;
  if (check_operation(group, operation, problem) != 0) return NULL;
  struct vv_group_operation *begun = vv_handle_begin(group, VV_HANDLE_BROADCAST, &error);
  if (!begun) return vv_handle_problem(&error, VV_MEETING_NOBODY, problem), NULL;
  begun->own = (struct vv_job_stream_operation){.what = *operation, .background = true};
  if (!group->job) {
    begun->own.size_bytes = operation->size_bytes;
    begun->own.ended = true;
    return begun;
  }
  vv_job_lock(group->job);
  if (group->stream->settled) {
    begin_plain(group, &begun->own);
  } else {
    has_begun = begin_behind(begun, operation);
  }
  vv_job_turn(group->job);
  vv_service_hand_over(group->job);
  if (has_begun) return begun;
  vv_error_set(&error, "no-memory", "no memory for an operation");
  vv_handle_problem(&error, VV_MEETING_NOBODY, problem);
  return vv_handle_end(begun), NULL;
}

struct vv_group_operation *vv_group_begin_broadcast(struct vv_group *group, uint32_t root, void *buffer,
                                                    size_t size_bytes, struct vv_group_problem *problem) {
  const struct vv_rank_operation operation = broadcast_of(root, buffer, size_bytes);
  return begin(group, &operation, problem);
}

struct vv_group_operation *vv_group_begin_receive(struct vv_group *group, uint32_t root, void *buffer,
                                                  size_t room_bytes, struct vv_group_problem *problem) {
  const struct vv_rank_operation operation = receive_of(root, buffer, room_bytes);
  return begin(group, &operation, problem);
}

static int check_begun(const struct vv_group_operation *operation, struct vv_group_problem *problem) {
  struct vv_error error;
  if (!operation) {
    vv_error_set(&error, "bad-call", "there is no operation");
  } else if (vv_handle_check(operation->group, &error) == 0) {
    return 0;
  }
  vv_handle_problem(&error, VV_MEETING_NOBODY, problem);
  return -1;
}

int vv_group_test(struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem) {
  if (check_begun(operation, problem) != 0) return -1;
  struct vv_job *job = operation->group->job;
  if (!job) return vv_handle_tell(operation, size_bytes, problem);
  vv_job_lock(job);
  vv_drive_once(job);
  const int result = vv_handle_tell(operation, size_bytes, problem);
  vv_service_hand_over(job);
  return result;
}

int vv_group_wait(struct vv_group_operation *operation, uint32_t timeout_ms, size_t *size_bytes,
                  struct vv_group_problem *problem) {
  if (check_begun(operation, problem) != 0) return -1;
  struct vv_job *job = operation->group->job;
  if (!job) return vv_handle_tell(operation, size_bytes, problem);
  vv_job_lock(job);
  vv_job_hear_news(job);
  const vv_ns deadline_ns = timeout_ms == UINT32_MAX ? VV_NEVER : job->at_ns + timeout_ms * VV_MS;
  const enum vv_drive_end end =
      *vv_handle_end_of(operation) ? VV_DRIVE_REACHED : vv_drive(job, vv_handle_end_of(operation), deadline_ns, true);
  const int result = end == VV_DRIVE_STOPPED ? VV_GROUP_STOPPED : vv_handle_tell(operation, size_bytes, problem);
  vv_service_hand_over(job);
  return result;
}

void vv_group_turn(struct vv_group *group) {
  if (!vv_handle_is_own(group) || !group->job) return;
  vv_job_lock(group->job);
  vv_drive_once(group->job);
  vv_service_hand_over(group->job);
}

int vv_group_descriptor(struct vv_group *group, struct vv_group_problem *problem) {
  struct vv_error error;
  int fd = -1;
  if (vv_handle_check(group, &error) == 0 && !group->job) {
    vv_error_set(&error, "bad-call", "what is begun in a group of one has ended: there is nothing to wait for");
  } else if (group && group->job && vv_handle_is_own(group)) {
    vv_job_lock(group->job);
    fd = vv_job_news(group->job, &error);
    vv_service_hand_over(group->job);
  }
  if (fd < 0) vv_handle_problem(&error, VV_MEETING_NOBODY, problem);
  return fd;
}

/* What is known of it */

uint64_t vv_group_foreign(const struct vv_group *group) {
  if (!vv_handle_is_own(group) || !group->job) return 0;
  vv_job_lock(group->job);
  const uint64_t foreign = vv_job_foreign(group->job);
  vv_job_unlock(group->job);
  return foreign;
}

enum vv_group_route vv_group_route_of(const struct vv_group *group) {
  return group ? group->route : VV_GROUP_ANY;
}

uint64_t vv_group_shared_bps(const struct vv_group *group) {
  return group && group->job ? group->job->reach.shared_bps : 0;
}

void vv_group_repairs(const struct vv_group *group, uint64_t *given, uint64_t *asked) {
  uint64_t own_given = 0, own_asked = 0;
  if (vv_handle_is_own(group) && group->job) {
    vv_job_lock(group->job);
    const struct vv_rank_counts *counts = &group->stream->core.counts;
    own_given = counts->repairs_one + counts->repairs_all;
    own_asked = counts->asks;
    vv_job_unlock(group->job);
  }
  if (given) *given = own_given;
  if (asked) *asked = own_asked;
}

/* Leaving */

/* What was begun in it has ended, and is gone. */
static void forget(struct vv_group *group) {
  while (group->operations) {
    struct vv_group_operation *one = group->operations;
    vv_handle_end(one);
  }
  free(group);
}

/* The others of a first group are no more, for this rank: what is left of them is to be freed by their leave. */
static void end_others(struct vv_group *first, bool is_in_order) {
  for (struct vv_group *one = first->others; one; one = one->next) {
    if (is_in_order) vv_handle_abandon(one);
    if (is_in_order) vv_job_leave(first->job, one->stream);
    one->job = NULL;
    one->stream = NULL;
    one->first = NULL;
  }
}

/*
 * All ranks say bye when they need nobody; rank 0 answers when all have. Until
 * then each answers its peers. A rank that was broken off in an operation needs
 * nobody: its root has not begun it, and leaves too.
 */
static void part(struct vv_job *job, struct vv_job_stream *first) {
  const vv_ns deadline_ns = vv_job_patience_ns(job);
  const struct vv_accord bye = {.what = VV_ACCORD_BYE};
  job->leaving = true;
  job->words_ns = job->at_ns;
  if (!first->first) {
    vv_rank_close(&first->core, job->at_ns);
    if (vv_drive(job, &first->over, deadline_ns, false) != VV_DRIVE_REACHED || first->failed) return;
  }
  if (vv_drive(job, &job->alone, deadline_ns, false) != VV_DRIVE_REACHED) return;
  vv_job_say(job, &bye);
  vv_drive(job, &job->parted, deadline_ns, false);
}

static void leave_first(struct vv_group *group) {
  struct vv_job *job = group->job;
  const bool own = vv_handle_is_own(group);
  if (own) vv_job_lock(job);
  end_others(group, own);
  if (own) vv_handle_abandon(group);
  if (own) {
    vv_job_turn(job);
    if (!group->stream->failed) part(job, group->stream);
    vv_job_unlock(job);
    vv_service_stop(job);
  }
  vv_job_free(job);
}

static void leave_other(struct vv_group *group) {
  struct vv_group **place = &group->first->others;
  while (*place != group) place = &(*place)->next;
  *place = group->next;
  if (!vv_handle_is_own(group)) return;
  vv_job_lock(group->job);
  vv_handle_abandon(group);
  vv_job_leave(group->job, group->stream);
  vv_service_hand_over(group->job);
}

void vv_group_leave(struct vv_group *group) {
  if (!group) return;
  if (group->job && group->first)
    leave_other(group);
  else if (group->job)
    leave_first(group);
  forget(group);
}
