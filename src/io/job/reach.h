/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks of a group reach each other, found out by trying. All ranks end
 * with the same answer, because each step ends with an agreement.
 *
 * Two ranks in turn send a train of full datagrams to everybody; nobody reads
 * until it has come, so that the kernel can be asked what it charges for one on
 * the real way: from that follows how many may be under way (core/group/credit.h).
 * Behind each train goes a datagram to the other socket. Whoever gets it reads, and
 * where all then have the whole train nobody waits for silence; where a rank has not,
 * it waits, once all agree that all is sent.
 *
 * Where no address reaches all, each rank tells the others where it hears what goes to all, and that goes to each
 * by itself.
 *
 * One datagram of the job, which nobody can forge, proves that a sender reaches a
 * rank. Where none came and foreign ones did, these may have crowded the train out
 * of a buffer: the ranks try again, reading all the while. So who floods them
 * changes no route; where the job's own do not get through, that is the error.
 */
#ifndef VV_IO_JOB_REACH_H
#define VV_IO_JOB_REACH_H

#include <stdint.h>

#include "core/base/siphash.h"
#include "core/base/time.h"
#include "io/boot/meeting.h"
#include "io/os/error.h"
#include "io/port/cast.h"
#include "vaiven/group.h"

struct vv_reach {
  enum vv_group_route route; /* wanted; then found */
  uint16_t port;             /* UDP: this one and the next */
  /* Found: */
  uint32_t stream; /* of the group of all ranks: the first of VV_DATAGRAM_STREAMS of the job */
  uint32_t datagram_bytes;
  uint32_t window_datagrams;
  vv_ns rtt_ns;
  uint64_t shared_bps; /* of the slowest card that speaks half duplex; 0: none does */
  /* Where each rank hears `data` and `everyone`, of that route alone; the caller's to free. */
  uint16_t (*ports)[VV_CAST_OWN];
};

/*
 * All ranks of the meeting call it. 0, or -1 and *error, the same at all: "mtu-too-small", "no-multicast",
 * "flooded", "no-broadcast", and those of a meeting.
 */
int vv_reach(struct vv_reach *reach, struct vv_meeting *meeting, struct vv_cast *cast, const uint8_t key[VV_KEY_BYTES],
             vv_ns deadline_ns, struct vv_error *error);

/* Where that rank, whose own address is `peer`, hears `data` or `everyone`, where what goes to all goes to each. */
struct sockaddr_in vv_reach_place(const struct vv_reach *reach, const struct sockaddr_in *peer, uint32_t rank,
                                  int socket);

#endif
