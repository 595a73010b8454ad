/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "io/job/drive.h"
#include "io/os/clock.h"

/* A deadline that the thread will not miss by more is no reason to wake it. */
#define SLACK_NS (5 * VV_MS)
/* So long data are the application's, after it was there: a datagram that wakes both costs more than it brings. */
#define YIELD_NS (5 * VV_MS)

static vv_ns due_ns(const struct vv_job *job, bool background) {
  return background ? vv_job_deadline_ns(job) : vv_job_duty_ns(job);
}

static bool is_alone(const struct vv_job *job) {
  return !job->awaiting && job->at_ns - job->driven_ns >= YIELD_NS;
}

static bool minds_data_now(const struct vv_job *job) {
  return job->minds_data && is_alone(job);
}

/*
 * What the link of a rank brings while its application was there just now is about the groups that it makes and
 * leaves: it takes that itself in its next call. A word that wakes both costs more than it brings. Rank 0 answers
 * others.
 */
static bool leaves_link(const struct vv_job *job) {
  return job->minds_data && !is_alone(job) && job->meeting.rank != 0;
}

/* What it sleeps for: without background data wait in the kernel for the application's next call. */
static void prepare_sleep(struct vv_job *job) {
  const bool minds_now = minds_data_now(job);
  job->asleep_until_ns = due_ns(job, job->minds_data);
  const bool minds_later = (job->minds_data && !minds_now) || (job->lanes.in_use && !is_alone(job));
  if (minds_later && job->at_ns + YIELD_NS < job->asleep_until_ns) {
    job->asleep_until_ns = job->at_ns + YIELD_NS;
  }
  memcpy(job->asleep, job->watched, job->watched_count * sizeof *job->asleep);
  job->asleep[VV_CAST_DATA].events = POLLIN;
  if (!minds_now) job->asleep[VV_CAST_DATA].fd = -1;
  if (!is_alone(job)) job->asleep[VV_JOB_WATCH_LANES].fd = -1;
  if (leaves_link(job)) job->asleep[VV_JOB_WATCH_LINKS].fd = -1;
  job->asleep[VV_JOB_WATCH_WAKE] = (struct pollfd){.fd = job->wake[0], .events = POLLIN};
}

static void sleep_until(struct vv_job *job, struct pollfd *fds, nfds_t count, vv_ns until_ns) {
  char bytes[64];
  vv_drive_rest(fds, count, until_ns);
  struct pollfd *wake = &job->asleep[VV_JOB_WATCH_WAKE];
  if (wake->revents && read(job->wake[0], bytes, sizeof bytes) < 0) bytes[0] = 0;
}

/* True when nothing but data has come: whoever holds the lock takes them. */
static bool came_data_alone(const struct vv_job *job) {
  bool others = false;
  for (nfds_t i = 0; i < job->watched_count; i++) others |= i != VV_CAST_DATA && job->asleep[i].revents != 0;
  return !others && job->asleep[VV_CAST_DATA].revents != 0;
}

/* Takes the lock, and does not queue for it where data alone have come. */
static void take_lock(struct vv_job *job) {
  while (came_data_alone(job)) {
    if (pthread_mutex_trylock(&job->lock) == 0) {
      vv_job_begin_turn(job);
      return;
    }
    sleep_until(job, &job->asleep[VV_JOB_WATCH_WAKE], 1, vv_clock_ns() + YIELD_NS);
  }
  vv_job_lock(job);
}

static void *serve(void *argument) {
  struct vv_job *job = argument;
  vv_job_lock(job);
  while (!job->stopping) {
    job->minds_data = vv_job_has_background(job);
    job->watched[VV_CAST_DATA].events = minds_data_now(job) ? POLLIN : 0;
    vv_job_look(job);
    vv_job_turn(job);
    prepare_sleep(job);
    vv_job_unlock(job);
    sleep_until(job, job->asleep, job->watched_count, job->asleep_until_ns);
    take_lock(job);
  }
  vv_job_unlock(job);
  return NULL;
}

static void wake(struct vv_job *job) {
  while (write(job->wake[1], "", 1) < 0 && errno == EINTR) continue;
}

void vv_service_hand_over(struct vv_job *job) {
  job->driven_ns = job->at_ns;
  const bool background = vv_job_has_background(job);
  const bool early = (background && !job->minds_data) || due_ns(job, background) < job->asleep_until_ns - SLACK_NS;
  vv_job_unlock(job);
  if (early) wake(job);
}

int vv_service_start(struct vv_job *job, struct vv_error *error) {
  if (pipe2(job->wake, O_CLOEXEC) != 0) return vv_error_errno(error, "no-pipe", "cannot make a pipe");
  /* Signals are the application's affair: they break its waits, not this thread's. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&job->thread, NULL, serve, job);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed != 0) {
    errno = failed;
    return vv_error_errno(error, "no-thread", "cannot start the thread that answers peers");
  }
  job->has_thread = true;
  return 0;
}

void vv_service_stop(struct vv_job *job) {
  if (!job->has_thread) return;
  vv_job_lock(job);
  job->stopping = true;
  vv_job_unlock(job);
  wake(job);
  pthread_join(job->thread, NULL);
  job->has_thread = false;
}
