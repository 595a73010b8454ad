/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/make.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/siphash.h"
#include "core/wire/bytes.h"
#include "io/job/drive.h"
#include "io/os/clock.h"

#define WINDOW_SHARE 4      /* of the job's credit a further group borrows one part in so many, */
#define WINDOW_MIN   8      /* and no less than so many datagrams, or two rounds (core/group/round.h) */
#define PATIENCE_NS  VV_SEC /* beyond the deadline, for rank 0 to say who is missing */

static_assert(VV_GROUP_RANKS_MAX == VV_ACCORD_RANKS_MAX && VV_ACCORD_STREAMS == VV_DATAGRAM_STREAMS,
              "a word of accord names every rank, and every stream that a socket can let in");

/* What the members are, in their order. */
static uint32_t list_of(const struct vv_job *job, const struct vv_make_config *config) {
  uint8_t text[4 + 4 * VV_ACCORD_RANKS_MAX] = "list";
  for (uint32_t i = 0; i < config->ranks; i++) vv_put32(text + 4 + (size_t)4 * i, config->members[i]);
  return (uint32_t)vv_siphash(job->meeting.key, text, 4 + (size_t)4 * config->ranks);
}

static void say_members(struct vv_job *job, const struct vv_make_config *config, uint32_t list) {
  uint64_t parts[VV_ACCORD_PARTS(VV_ACCORD_RANKS_MAX)] = {0};
  for (uint32_t i = 0; i < config->ranks; i++) {
    const uint32_t member = config->members[i];
    parts[member / VV_ACCORD_PART] |= UINT64_C(1) << member % VV_ACCORD_PART;
  }
  for (uint32_t part = 0; part < VV_ACCORD_PARTS(job->meeting.ranks); part++) {
    const struct vv_accord make = {.what = VV_ACCORD_MAKE, .list = list, .part = part, .members = parts[part]};
    vv_job_say(job, &make);
  }
}

/* As many as this rank may be in; those that it has left cost it little, and are gone when all have. */
static bool has_room(const struct vv_job *job) {
  uint32_t count = 0;
  for (const struct vv_job_stream *one = job->streams->next; one; one = one->next) count += !one->leaving;
  return count < VV_GROUP_AMONG_MAX;
}

static uint32_t window(const struct vv_job *job, uint32_t ranks) {
  const uint32_t share = job->reach.window_datagrams / WINDOW_SHARE;
  const uint32_t rounds = vv_tree_flat(ranks) && 2 * ranks <= job->reach.window_datagrams ? 2 * ranks : 0;
  const uint32_t least = rounds > WINDOW_MIN ? rounds : WINDOW_MIN;
  return share > least ? share : least;
}

/* Waits for rank 0's answer. False: there is none. */
static bool hear_answer(struct vv_job *job, vv_ns deadline_ns) {
  if (vv_drive(job, &job->making.answered, deadline_ns, false) == VV_DRIVE_REACHED) return true;
  const struct vv_accord give_up = {.what = VV_ACCORD_GIVE_UP, .list = job->making.list};
  vv_job_say(job, &give_up);
  return vv_drive(job, &job->making.answered, vv_clock_ns() + PATIENCE_NS, false) == VV_DRIVE_REACHED;
}

static int refused(const struct vv_make_config *config, const struct vv_accord *answer, struct vv_error *error,
                   uint32_t *about) {
  char where[VV_ADDRESS_TEXT_MAX] = "of the job";
  const uint32_t rank = vv_job_stream_rank_of(config->parent, answer->rank);
  if (rank != UINT32_MAX) vv_job_stream_where(config->parent, rank, where);
  *about = rank == UINT32_MAX ? VV_MEETING_NOBODY : rank;
  switch (answer->why) {
  case VV_ACCORD_DIED:
    return vv_error_set(error, "rank-died", "rank %u (%s) has ended, or cannot be reached", rank, where);
  case VV_ACCORD_LEFT:
    return vv_error_set(error, "rank-left", "rank %u (%s) has left the first group", rank, where);
  case VV_ACCORD_ABSENT:
    vv_error_set(error, "timeout", "rank %u (%s) did not come to the group in time", rank, where);
    return vv_error_remedy(error, "all its ranks, and no others, make it with the same list");
  case VV_ACCORD_CROSSED:
    vv_error_set(error, "groups-cross", "rank %u (%s) makes another group, whose ranks wait for those of this one",
                 rank, where);
    return vv_error_remedy(error, "all ranks of a group give the same list, and make their groups in one order");
  case VV_ACCORD_FULL:
    break;
  }
  vv_error_set(error, "too-many-groups",
               "rank %u (%s) has no room for another group: it may be in %d, or has no memory", rank, where,
               VV_GROUP_AMONG_MAX);
  return vv_error_remedy(error, "leave groups that are not needed any more");
}

/* What came to nothing last time, because rank 0 did not answer: nothing is asked of it before it has. */
static int settle(struct vv_job *job, const struct vv_make_config *config, struct vv_error *error, uint32_t *about) {
  if (!job->making.asked || vv_drive(job, &job->making.answered, config->deadline_ns, false) == VV_DRIVE_REACHED) {
    return 0;
  }
  *about = vv_job_stream_rank_of(config->parent, 0);
  return vv_error_set(error, "timeout", "rank 0 of the job does not answer");
}

struct vv_job_stream *vv_make(struct vv_job *job, const struct vv_make_config *config, struct vv_error *error,
                              uint32_t *about) {
  struct vv_job_stream_config wanted = {
      .members = config->members, .peers = job->meeting.peers, .orders = job->meeting.orders};
  const struct vv_accord decline = {.what = VV_ACCORD_DECLINE, .list = list_of(job, config)};
  if (settle(job, config, error, about) != 0) return NULL;
  vv_job_core_config(job, config->ranks, config->rank, window(job, config->ranks), &wanted.core);
  struct vv_job_stream *stream = has_room(job) ? vv_job_stream_new(&wanted) : NULL;
  explicit_bzero(&wanted.core, sizeof wanted.core);
  job->making = (struct vv_job_making){.asked = true, .list = decline.list, .stream = stream};
  vv_early_begin(&job->early, decline.list, job->room);
  vv_cast_admit(&job->cast, job->early.numbers, VV_EARLY_NUMBERS);
  if (!stream) vv_job_say(job, &decline);
  say_members(job, config, decline.list);
  if (!hear_answer(job, config->deadline_ns)) {
    job->making.abandoned = true; /* and left when the answer comes */
    *about = vv_job_stream_rank_of(config->parent, 0);
    vv_error_set(error, "timeout", "rank 0 of the job does not answer");
    return NULL;
  }
  const struct vv_accord answer = job->making.answer;
  job->making = (struct vv_job_making){0};
  if (answer.what == VV_ACCORD_MADE) return stream;
  refused(config, &answer, error, about);
  if (stream) vv_job_stream_free(stream);
  return NULL;
}
