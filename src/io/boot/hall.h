/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meeting as rank 0 sees it: it lets in who proves the key, one process for
 * each rank, and watches those who wait. One that has ended leaves its place to
 * the process that is started in its stead.
 */
#ifndef VV_IO_BOOT_HALL_H
#define VV_IO_BOOT_HALL_H

#include "core/base/time.h"
#include "io/boot/meeting.h"

/* vv_meeting_open of rank 0, whose `peers`, `links` and `fds` are there. What comes to nothing is told to all that
 * come. */
int vv_hall_open(struct vv_meeting *meeting, const struct vv_meeting_config *config, vv_ns deadline_ns,
                 struct vv_error *error);

#endif
