/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What crosses the interface of an end while cells are measured, and what of it
 * is this launch's own: messages of the stack, and the control connections.
 *
 * It begins when all ends have met and every stack has done what it does before
 * the first message (a job of ranks, daemons, the trial of `group`), so that no
 * guess at those is needed, and ends behind the last cell. What is then left is
 * headers, acknowledgements, and strangers; the reader of the record tells them
 * apart (vaiven.run.path).
 */
#ifndef VV_PROBE_LINK_TALLY_H
#define VV_PROBE_LINK_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/os/error.h"
#include "io/os/traffic.h"

struct vv_session;
struct vv_fars;

struct vv_tally {
  bool begun;                 /* there is an interface, and its counters were read */
  bool unknown;               /* some of its messages were not counted */
  struct vv_traffic before;   /* of the interface */
  bool is_control_known;      /* the system tells what crossed the control connections */
  struct vv_traffic control;  /* of those, before */
  uint64_t printed;           /* bytes of records, before */
  uint64_t resent;            /* by TCP of this host, before */
  size_t mtu_bytes;           /* frames are counted by that, or less */
  uint32_t header_bytes;      /* of each frame of a message */
  struct vv_traffic messages; /* of the stack: what stands behind the headers of their frames, and the most frames */
  uint64_t sent;              /* so many messages */
  uint64_t got;
};

/* Begins to count, once; `fars`: NULL at a far end, and where there is but the session's own far end. */
void vv_tally_begin(struct vv_session *session, const struct vv_fars *fars);

/* Counts so many messages of that size that this end has sent, and so many that it has got. */
void vv_tally_messages(struct vv_session *session, size_t size_bytes, uint64_t sent, uint64_t got);

/* The record "traffic", where it has begun. 0, or -1 and *error. */
int vv_tally_record(const struct vv_session *session, const struct vv_fars *fars, struct vv_error *error);

#endif
