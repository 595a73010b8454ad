/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swaps: rounds in which every end sends a message to each that it is joined with,
 * and receives one from each, all at once (rounds.h, mesh.h). How long until
 * everybody has everything?
 *
 * near, of each round: round seq=S at_ns=T      far: got tag=S at_ns=T missing=M late=L
 *
 * T is the instant, by the clock of that end, at which all begin; an end that
 * hears of it too late says so, and the round does not count.
 */
#ifndef VV_PROBE_KIT_SWAPS_H
#define VV_PROBE_KIT_SWAPS_H

#include "probe/link/session.h"

/* Near: a whole cell, of all ends with each other or in pairs. 0, or -1 and *error. */
int vv_swaps_cell(struct vv_session *session, const char *verb, bool in_pairs, size_t size_bytes,
                  struct vv_error *error);
/* Near: after the last cell, and after a failure. */
void vv_swaps_finish(void);

/* Far: takes part in the cell that `line` has begun. 0, or -1 and *error. */
int vv_swaps_far(struct vv_session *session, const char *line, bool in_pairs, struct vv_error *error);

#endif
