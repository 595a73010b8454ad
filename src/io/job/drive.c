/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/drive.h"

#include <sched.h>
#include <stdlib.h>

#include "io/os/clock.h"

#define LOOKS    16          /* looks for data alone between two at all sockets, of who spins */
#define AWAIT_NS (2 * VV_MS) /* nothing may be due for so long, or data are not awaited alone */
#define AWAY_NS  VV_MS       /* between two looks of `meanwhile` at what else the program has to do */

int vv_drive_rest(struct pollfd *fds, nfds_t count, vv_ns until_ns) {
  vv_ns left_ns = until_ns == VV_NEVER ? VV_NEVER : until_ns - vv_clock_ns();
  if (left_ns < 0) left_ns = 0;
  const struct timespec left = {left_ns / VV_SEC, left_ns % VV_SEC};
  const int ready = ppoll(fds, count, left_ns == VV_NEVER ? NULL : &left, NULL);
  for (nfds_t i = 0; ready <= 0 && i < count; i++) fds[i].revents = 0;
  return ready;
}

/*
 * The application's thread sleeps in the very call that fetches what it waits for, `most` datagrams, without the lock:
 * a small message costs one system call, a large one as few as can be. The thread of the job does all else meanwhile.
 * Only if nothing is due soon.
 */
static void await_data(struct vv_job *job, unsigned most) {
  uint8_t *bytes = job->bytes + VV_CAST_BATCH * job->room;
  size_t counts[VV_CAST_BATCH];
  job->awaiting = true;
  vv_job_unlock(job);
  const unsigned came = vv_cast_await(&job->cast, bytes, job->room, counts, most);
  vv_job_lock(job);
  job->awaiting = false;
  vv_job_take(job, VV_CAST_DATA, bytes, counts, came);
}

/* Sleeps until something comes, or is due, and takes what came. */
static void await_anything(struct vv_job *job, vv_ns deadline_ns) {
  const vv_ns due_ns = vv_job_deadline_ns(job);
  job->watched[VV_CAST_DATA].events = vv_job_wants_data(job) ? POLLIN : 0;
  const vv_ns until_ns = job->spin ? 0 : deadline_ns < due_ns ? deadline_ns : due_ns;
  const vv_ns before_ns = job->at_ns;
  const int ready = vv_drive_rest(job->watched, job->watched_count, until_ns);
  vv_job_begin_turn(job);
  if (ready >= 0) vv_job_take_ready(job, ready == 0 && until_ns > before_ns ? until_ns : before_ns);
}

void vv_drive_once(struct vv_job *job) {
  vv_job_hear_news(job);
  job->watched[VV_CAST_DATA].events = vv_job_wants_data(job) ? POLLIN : 0;
  vv_job_look(job);
  vv_job_turn(job);
}

/* What else the program has to do, when it is time for that. */
static void go_on(struct vv_job *job, vv_ns *away_ns) {
  if (!job->meanwhile || job->at_ns < *away_ns) return;
  vv_job_unlock(job);
  job->meanwhile(job->context);
  vv_job_lock(job);
  *away_ns = job->at_ns + AWAY_NS;
}

static bool may_await(const struct vv_job *job) {
  return !job->spin && job->cast.awaits && !vv_job_waits_for_messages(job) &&
         vv_job_wants_data_alone(job, job->at_ns + AWAIT_NS);
}

/* A stop is asked for before each wait, and not by how one ends: Linux may report a signal in the last jiffy of a
 * time-out as the time-out. */
enum vv_drive_end vv_drive(struct vv_job *job, const bool *flag, vv_ns deadline_ns, bool may_stop) {
  vv_ns away_ns = job->meanwhile ? job->at_ns + AWAY_NS : VV_NEVER;
  for (uint32_t waits = 0;; waits++) {
    go_on(job, &away_ns);
    vv_job_turn(job);
    if (*flag) return VV_DRIVE_REACHED;
    if (job->at_ns >= deadline_ns) return VV_DRIVE_LATE;
    if (job->spin && waits % LOOKS != 0) {
      vv_job_begin_turn(job);
      /* Whoever it waits for may need this very processor. */
      if (!vv_job_take_socket(job, VV_CAST_DATA)) sched_yield();
      continue;
    }
    if (may_stop && job->stop && job->stop(job->context)) return VV_DRIVE_STOPPED;
    if (may_await(job)) {
      /* A small message is all that comes, and no look for more is needed; of a round more comes. */
      await_data(job, waits == 0 && !vv_job_has_collectives(job) ? 1 : VV_CAST_BATCH);
    } else {
      await_anything(job, deadline_ns < away_ns ? deadline_ns : away_ns);
    }
  }
}
