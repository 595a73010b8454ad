/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread of a job: peers get their answers while the application is elsewhere,
 * operations that were begun go on, and what further groups are sent is read. It
 * leaves data to the application while that takes them.
 */
#ifndef VV_IO_JOB_SERVICE_H
#define VV_IO_JOB_SERVICE_H

#include "io/job/job.h"
#include "io/os/error.h"

/* 0, or -1 and *error. */
int vv_service_start(struct vv_job *job, struct vv_error *error);

/* The application leaves: gives the lock back, and wakes the thread if it would else be late for what is due. */
void vv_service_hand_over(struct vv_job *job);

/* Ends the thread, if there is one; without the lock. */
void vv_service_stop(struct vv_job *job);

#endif
