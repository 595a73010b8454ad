/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several messages under way at once: each flow is a socket that has a message
 * to send, one to receive, or both, and all of them go on as fast as their
 * sockets take and give. For `stream` and `exchange`, whose point it is that no
 * message waits for another.
 */
#ifndef VV_PROBE_KIT_FLOWS_H
#define VV_PROBE_KIT_FLOWS_H

#include "core/base/payload.h"
#include "stack/stack.h"

#define VV_FLOWS_MAX 65 /* all but one of the ends of a launch */

struct vv_flow {
  int fd;        /* of a stack's end: its descriptor() */
  bool datagram; /* a message is one call; false: a run of bytes */
  const uint8_t *out;
  size_t out_bytes;                  /* still to send */
  uint8_t *in;                       /* NULL: it only sends */
  size_t size_bytes;                 /* of the message that is received */
  size_t in_bytes;                   /* still to come */
  uint8_t tag[VV_PAYLOAD_TAG_BYTES]; /* how that one begins: another datagram is a late one and passed over */
};

/*
 * Runs until every flow has sent and received all. VV_GOT_MESSAGE; VV_GOT_STOPPED
 * when stop says so (the flows tell what is missing, the same call goes on);
 * VV_GOT_CLOSED; VV_GOT_ERROR and *error. `count` is at most VV_FLOWS_MAX.
 */
enum vv_got vv_flows_run(struct vv_flow *flows, size_t count, const struct vv_watch_stop *stop, struct vv_error *error);

#endif
