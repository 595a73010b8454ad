/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 as who keeps count of the groups of its job: who has come to which, and
 * who needs it no longer. It takes words of the ranks and gives words to them
 * (core/wire/accord.h), its own among both, and knows no socket and no clock.
 *
 * A group is made when all its members have come with the same list. Its number
 * follows from the list: the same ranks get the same number again, unless a group
 * has it that is still there, and two groups with a member in common never have
 * one number. What cannot come to an end is refused at once, to all who wait: a
 * rank of the list has ended or left, or no room, or it waits for a group whose
 * members wait, perhaps through others, for those of this one. Who comes later to a
 * group that was refused is told so, once.
 */
#ifndef VV_IO_JOB_REFEREE_H
#define VV_IO_JOB_REFEREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/accord.h"

struct vv_referee_record; /* of a group: being made, there, or refused */

struct vv_referee {
  uint32_t ranks;
  void (*tell)(void *context, uint32_t rank, const struct vv_accord *accord);
  void *context;
  uint32_t epoch; /* of the last group that was made */
  uint32_t kept;  /* records, and how many of them are of groups that were refused */
  uint32_t refused;
  struct vv_referee_record *records; /* the oldest first */
  struct vv_referee_record **waits;  /* by rank: for what; NULL: for nothing */
  enum vv_accord_why *gone;          /* by rank: DIED, LEFT, or 0 */
  bool *declines;                    /* by rank: its next list */
  bool *circled;                     /* by rank: waits in the circle that is being refused */
  uint64_t *parts;                   /* of the list that each rank is telling */
};

/* The group of all, number and epoch 0, is there. False: no memory. Close it in both cases. */
bool vv_referee_open(struct vv_referee *referee, uint32_t ranks,
                     void (*tell)(void *context, uint32_t rank, const struct vv_accord *accord), void *context);

/* A rank says MAKE, DECLINE, GIVE_UP or BYE. */
void vv_referee_hear(struct vv_referee *referee, uint32_t rank, const struct vv_accord *accord);

/* A rank is gone: it needs nobody, and nothing is made with it. */
void vv_referee_lost(struct vv_referee *referee, uint32_t rank);

void vv_referee_close(struct vv_referee *referee);

#endif
