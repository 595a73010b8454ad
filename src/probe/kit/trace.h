/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What passed of one TCP connection: its segments in both directions, as the
 * packet ring of this end saw them (io/port/packet.h).
 *
 * Whoever may not look on, or has no interface to look at, has a trace without
 * segments that says why: a launch is no less true without it.
 */
#ifndef VV_PROBE_KIT_TRACE_H
#define VV_PROBE_KIT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/port/packet.h"
#include "probe/base/record.h"
#include "probe/link/session.h"

struct vv_trace_segment {
  vv_ns at_ns; /* CLOCK_REALTIME */
  bool out;    /* this end sends it */
  bool syn;
  int64_t seq; /* bytes of its direction before it, 0 after the SYN; of a SYN -1 */
  int64_t ack; /* bytes of the other direction that have all come; -1: it says nothing of them */
  int64_t data_bytes;
};

struct vv_trace {
  struct vv_packet packet;
  bool looks; /* the ring is open */
  struct vv_trace_segment *segments;
  size_t count;
  int64_t dropped; /* the ring was full */
  char why[240];   /* it did not look, or could not take what it saw; "" */
};

/* Begins to look at what passes between this host and the session's peer. backlog_bytes: of all messages to come. */
void vv_trace_open(struct vv_trace *trace, const struct vv_session *session, size_t backlog_bytes);
/* Ends it: takes the segments of the connection of that socket from the ring. */
void vv_trace_end(struct vv_trace *trace, int fd);
void vv_trace_free(struct vv_trace *trace);

/* Far: tells them in control lines, `trace count= dropped= text=`, then a line `segment` each. 0, or -1. */
int vv_trace_tell(const struct vv_trace *trace, struct vv_session *session, struct vv_error *error);
/* Near: hears them. Free it in both cases. 0, or -1 and *error. */
int vv_trace_hear(struct vv_trace *trace, struct vv_session *session, struct vv_error *error);

/* Writes the member `key` of a record: the segments of an end, what was dropped, and why there are none. */
void vv_trace_record(struct vv_record *record, const char *key, const struct vv_trace *trace);

#endif
