/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duets: ping-pongs of pairs of ends, all at once. Ends 0 and 1 are a pair, 2 and
 * 3, and so on (mesh.h); the one with the even number asks and keeps its clock, the
 * other one answers. Every end is a process of its own, as in a program: nothing is
 * forked, so ranks of a library's job can be ends, and it is the same over sockets.
 *
 * near, to each far: VERB size_bytes=N size_bytes_max=M number=I ends=E           far: go
 *       (at the first cell the mesh is joined in pairs)
 *       to each that answers: answer size_bytes=N check_every=K train=1           go check_ns=T (series.h)
 *       to each that asks:    ask check_ns=T samples=S samples_min=L cell_ns=C    ready
 *                             sample                                              enough
 *                             stop                                                told count=N ..., N times in lines
 * `took` to each that answers: end                                                 done messages=M corrupt=C cpu_ns=T
 *
 * A pair runs from `ready` until `stop`. Samples are taken only while all of them
 * run: `sample` is said when the last one is ready, `stop` when the last one has
 * enough. So it is not the clocks of the hosts that show that they overlapped.
 */
#ifndef VV_PROBE_KIT_DUETS_H
#define VV_PROBE_KIT_DUETS_H

#include "probe/link/session.h"

/* Refuses stacks without a far end of their own for each. 0, or -1 and *error. */
int vv_duets_check(const struct vv_probe_config *config, const char *verb, struct vv_error *error);

/* Near: a whole cell. 0, or -1 and *error. */
int vv_duets_cell(struct vv_session *session, const char *verb, size_t size_bytes, struct vv_error *error);
/* Near: after the last cell, and after a failure. */
void vv_duets_finish(void);

/* Far: asks or answers in the cell that `line` has begun. 0, or -1 and *error. */
int vv_duets_far(struct vv_session *session, const char *line, struct vv_error *error);

#endif
