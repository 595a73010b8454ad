/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has been sent, as far as a rank knows, and what of that its DATA socket was
 * read past: what has not come of it will not come from there.
 *
 * All positions below `edge` have been sent. Beyond it single ones may have been: in
 * a round (core/group/round.h) every rank sends its own position when it likes. Whoever
 * is asked says both (STATE): edge, and a bit for each position from there on.
 */
#ifndef VV_CORE_GROUP_SIGHT_H
#define VV_CORE_GROUP_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

#define VV_SIGHT_BEYOND 32 /* positions from the edge on of which single ones are known */

struct vv_sight {
  uint64_t edge;          /* all positions below have been sent by somebody */
  uint64_t passed;        /* the DATA socket was read past all positions below; <= edge */
  uint32_t sent_beyond;   /* bit i: position edge + i has been sent */
  uint32_t passed_beyond; /* and was read past */
};

/* All positions below have been sent. */
void vv_sight_sent(struct vv_sight *sight, uint64_t position);

/* This one has been; it is forgotten when it lies further beyond the edge than there are bits. */
void vv_sight_sent_one(struct vv_sight *sight, uint64_t position);

/* DATA was read past all positions below, which have been sent. */
void vv_sight_pass(struct vv_sight *sight, uint64_t position);

/* DATA was found empty after all that is known to be sent had been. */
void vv_sight_dry(struct vv_sight *sight);

bool vv_sight_is_sent(const struct vv_sight *sight, uint64_t position);
bool vv_sight_is_passed(const struct vv_sight *sight, uint64_t position);

#endif
