/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process has once for all groups of a job that it is in: who the others are
 * (io/boot/meeting.h), how they reach each other (io/job/reach.h), sockets, their
 * buffers, the lock, and the thread that answers peers (io/job/service.h). A group is
 * a stream of it (io/job/stream.h): the first is of all ranks, further ones are of
 * some. They cost no descriptor; of what a socket brings, the number of the stream
 * says whose it is.
 *
 * Whoever holds the lock drives all of it: the application's thread during its
 * calls (io/job/drive.h), the thread of the job else. All functions here but new and
 * free want the lock held, or nobody else there yet.
 *
 * A turn: vv_job_look takes what has come, vv_job_turn does all that can be done.
 *
 * Credit. What all roots of the group of all send fits into the buffers of a rank
 * that sleeps. A group of some borrows a few datagrams of that: where several are
 * full at once while a rank's whole process stands still, datagrams may be lost, and
 * are asked for again. A process that runs reads what its further groups are sent,
 * whatever its application does.
 */
#ifndef VV_IO_JOB_JOB_H
#define VV_IO_JOB_JOB_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "io/boot/meeting.h"
#include "io/job/early.h"
#include "io/job/hearing.h"
#include "io/job/lanes.h"
#include "io/job/reach.h"
#include "io/job/referee.h"
#include "io/job/stream.h"
#include "io/os/clock.h"
#include "io/port/cast.h"
#include "vaiven/group.h"

/* What is polled: the sockets of the port, the pipe that wakes the thread, roads and links to other ranks. */
enum { VV_JOB_WATCH_WAKE = VV_CAST_SOCKETS, VV_JOB_WATCH_LANES, VV_JOB_WATCH_LINKS };

/* A group that is being made here. */
struct vv_job_making {
  bool asked, answered;
  bool abandoned; /* nobody waits for it any more */
  uint32_t list;
  struct vv_job_stream *stream; /* not in the job yet; NULL: no room for it */
  struct vv_accord answer;      /* MADE or REFUSED */
};

struct vv_job {
  struct vv_job_stream *streams; /* the group of all first */
  struct vv_cast cast;
  struct vv_meeting meeting;
  struct vv_lanes lanes;
  struct vv_reach reach; /* as it was found */
  vv_ns patience_ns;     /* for ranks that may come late */
  bool spin;
  void (*notice)(void *context, const char *text);
  bool (*stop)(void *context);
  void (*meanwhile)(void *context);
  void *context;
  vv_ns at_ns;            /* when this turn began: the clock is read once after each wait */
  uint8_t *bytes;         /* room for what who holds the lock takes, then for what is awaited without it */
  size_t room;            /* for one datagram */
  struct pollfd *watched; /* of who holds the lock */
  nfds_t watched_count;
  struct vv_referee referee; /* of rank 0 */
  struct vv_job_making making;
  struct vv_early early;
  vv_ns words_ns;   /* when words that are kept go to other ranks; VV_NEVER: none is */
  bool leaving;     /* the group of all was left here */
  bool parted;      /* nobody needs this rank any more */
  bool alone;       /* there is no stream but the first */
  uint64_t foreign; /* datagrams of strangers that no stream there now has counted */
  struct vv_hearing hearing;

  pthread_mutex_t lock;
  pthread_t thread;
  bool has_thread;
  bool stopping;
  bool awaiting;         /* the application sleeps in a call for data, without the lock */
  vv_ns driven_ns;       /* when the application last left */
  int wake[2];           /* a pipe: a byte wakes the thread */
  int news[2];           /* a pipe: a byte says that an operation has ended; -1: nobody has asked for it */
  bool has_news;         /* it is there */
  struct pollfd *asleep; /* what the thread polls without the lock */
  vv_ns asleep_until_ns; /* when it wakes by itself */
  bool minds_data;       /* it looks at DATA, too, when it wakes */
};

/* A job that has not met yet; NULL: no memory. */
struct vv_job *vv_job_new(const struct vv_group_config *config);

/*
 * Meets the others, and finds out how to reach them: the group of all is there then. 0, or -1 and *error; who it is
 * about is in job->meeting.lost.
 */
int vv_job_meet(struct vv_job *job, const struct vv_group_config *config, struct vv_error *error);

/* Ends it, whatever others need. There is no thread any more. */
void vv_job_free(struct vv_job *job);

/* Reads the clock: a turn begins. */
static inline void vv_job_begin_turn(struct vv_job *job) {
  job->at_ns = vv_clock_ns();
}

static inline void vv_job_lock(struct vv_job *job) {
  pthread_mutex_lock(&job->lock);
  vv_job_begin_turn(job);
}

static inline void vv_job_unlock(struct vv_job *job) {
  pthread_mutex_unlock(&job->lock);
}

/* Until when this turn's call waits for ranks that may come late. */
static inline vv_ns vv_job_patience_ns(const struct vv_job *job) {
  return job->patience_ns == VV_NEVER ? VV_NEVER : job->at_ns + job->patience_ns;
}

/* Takes datagrams, of which the bytes lie `room` apart, as of that socket. */
void vv_job_take(struct vv_job *job, int socket, const uint8_t *bytes, const size_t *counts, unsigned came);

/* Takes what a socket has, as far as it is wanted. True: it had something. */
bool vv_job_take_socket(struct vv_job *job, int socket);

/* Takes what has come, by what poll() said of `watched`, which looked at all sockets not before then_ns. */
void vv_job_take_ready(struct vv_job *job, vv_ns then_ns);

/* Looks at what has come, without sleeping. */
void vv_job_look(struct vv_job *job);

/* Everything that can be done now. */
void vv_job_turn(struct vv_job *job);

/* As vv_rank_deadline_ns, vv_rank_duty_ns and vv_rank_wants_data of all streams together. What has failed says no more
 * than others ask it. */
vv_ns vv_job_deadline_ns(const struct vv_job *job);
vv_ns vv_job_duty_ns(const struct vv_job *job);
bool vv_job_wants_data(const struct vv_job *job);

/* True when streams want data and nothing else, and nothing is due until then. */
bool vv_job_wants_data_alone(const struct vv_job *job, vv_ns until_ns);

/* True when data are to be taken, and asked for, while the application is elsewhere. */
static inline bool vv_job_has_background(const struct vv_job *job) {
  const struct vv_job_stream_operation *first = job->streams->first;
  return job->streams->next || (first && first->background) || job->streams->collectives;
}

/* True when collective operations are under way; and such as wait for more than data. */
bool vv_job_has_collectives(const struct vv_job *job);
bool vv_job_waits_for_messages(const struct vv_job *job);

/*
 * A descriptor that is readable when something in the background has ended, from now on, until that is heard. Or -1 and
 * *error.
 */
int vv_job_news(struct vv_job *job, struct vv_error *error);
void vv_job_hear_news(struct vv_job *job);

/*
 * Says that word to rank 0, in the next turn. One about the end of a further group waits for company, some
 * milliseconds: who leaves groups to make others says both in one segment, and is answered in one.
 */
void vv_job_say(struct vv_job *job, const struct vv_accord *accord);

/*
 * This rank leaves a group that is not of all. Peers get their answers until none needs them; where operations had
 * been begun, the group fails at all others. What was begun here has ended.
 */
void vv_job_leave(struct vv_job *job, struct vv_job_stream *stream);

/* Of all streams, and of what was no stream's. */
uint64_t vv_job_foreign(const struct vv_job *job);

/*
 * The core of such a group of `ranks`, of which this one is `rank`: as was found out for the job, with that window. The
 * rest of *config is the caller's.
 */
void vv_job_core_config(const struct vv_job *job, uint32_t ranks, uint32_t rank, uint32_t window_datagrams,
                        struct vv_rank_config *config);

#endif
