/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A further group of a job, made by its members alone: one agreement of them, which
 * rank 0 brings about (io/job/referee.h), and no more.
 */
#ifndef VV_IO_JOB_MAKE_H
#define VV_IO_JOB_MAKE_H

#include <stdint.h>

#include "io/job/job.h"
#include "io/os/error.h"

/* Who is to be in it: ranks of the job, of which this one is members[rank]. */
struct vv_make_config {
  const uint32_t *members;
  uint32_t ranks;
  uint32_t rank;
  const struct vv_job_stream *parent; /* whose ranks errors name */
  vv_ns deadline_ns;
};

/*
 * With the lock. The stream, which is in the job until all members have left it; or NULL, *error ("timeout",
 * "rank-died", "rank-left", "groups-cross", "too-many-groups") and the rank of the parent that it is about, or
 * VV_MEETING_NOBODY.
 */
struct vv_job_stream *vv_make(struct vv_job *job, const struct vv_make_config *config, struct vv_error *error,
                              uint32_t *about);

#endif
