/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The far ends of a launch: that of the session, and one for each --also. Each
 * has a session of its own, and what it knows of the far end's clock.
 */
#ifndef VV_PROBE_LINK_FARS_H
#define VV_PROBE_LINK_FARS_H

#include "core/base/time.h"
#include "probe/base/record.h"
#include "probe/link/session.h"
#include "probe/link/strip.h"

#define VV_FARS_MAX (VV_PROBE_ALSO_MAX + 1)

struct vv_far {
  struct vv_session *session;
  vv_ns ahead_ns;       /* its CLOCK_REALTIME over the near end's, by the quickest answer of the first visit */
  vv_ns ahead_error_ns; /* at most so wrong, then */
  struct vv_strip_reading readings[VV_STRIP_READINGS_MAX];
  size_t reading_count;
  struct vv_strip strip; /* of vv_fars_bound; before it, and where one clock is shared, nothing ahead */
  bool set; /* its clock, or the near end's, was set while it was read, or goes unevenly: the strip says nothing */
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
 * Visits every far end, which must wait for a question, and reads its clock over
 * the control connection, VV_FARS_READINGS times. `first` forgets the visits
 * before, and sets ahead_ns; there is room for three. 0, or -1 and *error.
 */
#define VV_FARS_READINGS (VV_STRIP_READINGS_MAX / 3)
int vv_fars_visit(struct vv_fars *fars, bool first, struct vv_error *error);

/*
 * Fits their strips to what was read, between two instants of CLOCK_REALTIME.
 * NULL, or the first far end whose clock was set meanwhile.
 */
const struct vv_far *vv_fars_bound(struct vv_fars *fars, vv_ns begin_ns, vv_ns end_ns);

/* Of all strips, the widest: what a comparison may be wrong by. */
vv_ns vv_fars_half_width_ns(const struct vv_fars *fars);

/* Whether clocks that may be wrong by error_ns are too rough for a result: by more than a tenth of it. */
bool vv_fars_too_rough(vv_ns error_ns, vv_ns result_ns);

/* -1 and *error: why clocks tell nothing, "clock-set" of a far end whose clock was set, else (NULL) "rough-clock". */
int vv_fars_refuse(const struct vv_far *set, vv_ns error_ns, struct vv_error *error);

/* Writes its strip, an object of an array. */
void vv_fars_record_strip(struct vv_record *record, const struct vv_far *far);

/* Far: answers a line "clock". 0, or -1 and *error. */
int vv_fars_serve_clock(struct vv_session *session, struct vv_error *error);

/* Near: says good-bye to those that vv_fars_meet has met; the session's own is not among them. */
void vv_fars_part(void);

#endif
