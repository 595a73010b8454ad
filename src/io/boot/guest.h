/* SPDX-License-Identifier: BSD-3-Clause */
/* The meeting as all other ranks see it: they go to rank 0, prove the key, and wait to be welcomed. */
#ifndef VV_IO_BOOT_GUEST_H
#define VV_IO_BOOT_GUEST_H

#include "core/base/time.h"
#include "io/boot/meeting.h"

/* vv_meeting_open of such a rank. Rank 0 may not be there yet, or be another job's that will end: tried again when it
 * rings (io/boot/bell.h), and again and again. */
int vv_guest_open(struct vv_meeting *meeting, const struct vv_meeting_config *config, vv_ns deadline_ns,
                  struct vv_error *error);

#endif
