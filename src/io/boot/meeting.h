/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks of a group find each other, agree, and learn who has died.
 *
 * Rank 0 listens at the meeting place, every other rank connects to it and says
 * where it is; when all are there, everybody is told. The connections stay: a
 * kernel closes those of a process that ends, however it ends, and keepalive
 * finds a host that has gone. What travels on them is little and reliable:
 *
 *   rank r -> 0   "vvj1" ranks rank address port nonce tag         once
 *   0 -> rank r   "vvw1" tag, and `ranks` times address port 0     once
 *   both ways     a note: what (1) 0 (3) and four numbers (16)
 *
 * A tag is SipHash under the job's key, in the answer over the nonce too: nobody
 * without the key is let in or believed. All numbers are in network byte order.
 */
#ifndef VV_IO_BOOT_MEETING_H
#define VV_IO_BOOT_MEETING_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "io/os/error.h"
#include "io/os/socket.h"

#define VV_MEETING_VALUES 4
#define VV_MEETING_NOBODY UINT32_MAX

enum vv_note_kind {
  VV_NOTE_NONE,
  VV_NOTE_VALUES = 'v', /* of an agreement */
  VV_NOTE_LOST = 'l',   /* rank values[0] is gone */
  VV_NOTE_BYE = 'b',    /* the sender needs nobody any more */
};

struct vv_note {
  enum vv_note_kind kind;
  uint32_t values[VV_MEETING_VALUES];
};

struct vv_meeting {
  uint32_t ranks;
  uint32_t rank;
  struct sockaddr_in *peers; /* by rank: address and port of its `own` socket (io/port/cast.h). The caller's room */
  int *links;                /* by rank: of rank 0 to each other rank, of the others to rank 0; -1: none */
  uint32_t lost;             /* of an error: who it is about, or VV_MEETING_NOBODY */
};

/*
 * Meets the others: `peers` and `links` have room for `ranks`, peers[rank] is
 * set. 0, or -1 and *error ("timeout": rank 0 names who did not come; "port-taken",
 * "rank-taken", "wrong-key", "ranks-differ", "rank-died"). Close it in both cases.
 */
int vv_meeting_open(struct vv_meeting *meeting, const struct vv_address *place, const uint8_t key[VV_KEY_BYTES],
                    int64_t deadline_ns, struct vv_error *error);

/*
 * Every rank gives values, and all get the least of each: nobody is through
 * before all are there. The errors of vv_meeting_open.
 */
int vv_meeting_agree(struct vv_meeting *meeting, uint32_t values[VV_MEETING_VALUES], int64_t deadline_ns,
                     struct vv_error *error);

/*
 * A note that has come on the link to that rank: kind VV_NOTE_NONE when there is
 * none yet. False when the connection has ended; it is then closed.
 */
bool vv_meeting_hear(struct vv_meeting *meeting, uint32_t rank, struct vv_note *note);

/* Tells every linked rank. */
void vv_meeting_tell(struct vv_meeting *meeting, const struct vv_note *note);

void vv_meeting_close(struct vv_meeting *meeting);

#endif
