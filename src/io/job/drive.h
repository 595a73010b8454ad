/* SPDX-License-Identifier: BSD-3-Clause */
/* The application's thread drives a job until what it waits for has come about. */
#ifndef VV_IO_JOB_DRIVE_H
#define VV_IO_JOB_DRIVE_H

#include <poll.h>
#include <stdbool.h>

#include "core/base/time.h"
#include "io/job/job.h"

enum vv_drive_end {
  VV_DRIVE_REACHED,
  VV_DRIVE_LATE,    /* the deadline has passed */
  VV_DRIVE_STOPPED, /* the job's `stop` said so */
};

/* With the lock, until *flag; without it now and then, for the job's `meanwhile`. `may_stop`: asks `stop` before each
 * wait. */
enum vv_drive_end vv_drive(struct vv_job *job, const bool *flag, vv_ns deadline_ns, bool may_stop);

/* With the lock: takes what has come, and does what can be done at once. What has ended until now is no news any more.
 */
void vv_drive_once(struct vv_job *job);

/*
 * Sleeps until something or a signal comes, or that time. `fds` are those of whoever sleeps. What poll() returns: 0
 * says that it looked when the time was over, and found nothing.
 */
int vv_drive_rest(struct pollfd *fds, nfds_t count, vv_ns until_ns);

#endif
