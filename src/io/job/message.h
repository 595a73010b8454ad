/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from one rank of a group to one (vaiven/group.h), as what they are begun as: see io/job/handle.h. */
#ifndef VV_IO_JOB_MESSAGE_H
#define VV_IO_JOB_MESSAGE_H

#include "io/job/handle.h"

/* What is told of a message that has ended: as vv_group_test, but that the operation stays. */
int vv_message_told(const struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem);

/*
 * With the lock: messages of a group that is left, and have not ended, fail. The caller has its memory back, and with
 * it the roads to those ranks are given up.
 */
void vv_message_abandon(struct vv_group *group);

#endif
