/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The far ends of a launch: that of the session, and one for each --also. Each
 * has a session of its own, and what it knows of the far end's clock.
 */
#ifndef VV_PROBE_FARS_H
#define VV_PROBE_FARS_H

#include "probe/session.h"

#define VV_FARS_MAX (VV_ALSO_MAX + 1)

struct vv_far {
  struct vv_session *session;
  int64_t ahead_ns;       /* how far its CLOCK_REALTIME is ahead of the near end's, when vv_fars_compare was called */
  int64_t ahead_error_ns; /* at most so wrong: half of the quickest question and answer */
};

struct vv_fars {
  struct vv_far ends[VV_FARS_MAX]; /* in the order of --peer and --also */
  size_t count;
};

/*
 * Near: meets the far ends that have not been met, `linked` with an open stack
 * end each. They last as long as the launch: the same ones the next time.
 * NULL and *error of vv_handshake_near.
 */
struct vv_fars *vv_fars_meet(struct vv_session *first, bool linked, struct vv_error *error);

/*
 * Asks every far end for its clock, over the control connection. All zero where
 * they share one (--one-clock). 0, or -1 and *error.
 */
int vv_fars_compare(struct vv_fars *fars, struct vv_error *error);
/* Far: answers a line "clock". 0, or -1 and *error. */
int vv_fars_serve_clock(struct vv_session *session, struct vv_error *error);

/* Near: says good-bye to those that vv_fars_meet has met; the session's own is not among them. */
void vv_fars_part(void);

#endif
