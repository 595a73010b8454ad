/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the two ends of a launch find and trust each other: session.h has the
 * lines. A wrong key is an error at the near end and a warning at the far end,
 * which waits on: a stranger cannot end a launch. Whoever holds the key but is
 * of another version, stack or options is an error at both ends.
 */
#ifndef VV_PROBE_LINK_HANDSHAKE_H
#define VV_PROBE_LINK_HANDSHAKE_H

#include "probe/link/session.h"

/* Connects the control connection; *far is the other host. 0, or -1 and *error. */
int vv_handshake_near(struct vv_session *session, struct vv_host *far, struct vv_error *error);
/* Listens, prints "ready" or announces itself, and returns with the near end of this launch. 0, or -1 and *error. */
int vv_handshake_far(struct vv_session *session, struct vv_error *error);

#endif
