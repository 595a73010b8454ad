/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLC frames in and out of one interface: a packet socket whose frames come
 * through a ring in shared memory (TPACKET_V2), so that who spins makes no
 * system call to receive, and go out in batches.
 *
 * What comes in passes a filter in the kernel (io/port/filter.h); a frame to
 * another host that a hub shows us, say, costs no slot and no wake-up.
 *
 * Frames have a length field and up to 1500 bytes of data. With jumbo frames
 * those with more have EtherType 0x8870 (core/wire/envelope.h); both come through
 * one ring, so they stay in order, whose slots are longer then.
 *
 * Or it looks on: then the ring shows what passes the interface in both
 * directions, and nothing can be sent.
 *
 * Needs CAP_NET_RAW in the network namespace.
 */
#ifndef VV_IO_PORT_PACKET_H
#define VV_IO_PORT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/base/time.h"
#include "core/wire/frame.h"
#include "io/os/error.h"
#include "io/port/filter.h"
#include "io/port/port.h"

#define VV_PACKET_BATCH_MAX VV_PORT_BATCH_MAX
#define VV_PACKET_SLOTS_MAX 16384 /* 32 MiB; of jumbo frames 256 MiB */

struct vv_packet_config {
  const char *iface;
  struct vv_filter filter;
  bool stamps;          /* the kernel notes when a frame came; costs every socket of the host a little */
  size_t backlog_bytes; /* of messages in full frames that may wait in the ring, VV_PACKET_SLOTS_MAX frames at most */
  bool hurried;         /* a send that finds no room does not wait for it: EAGAIN */
  const struct vv_filter_watch
      *watch; /* not NULL: the ring shows the heads of what this says, and filter means nothing */
};

/* A received frame; the bytes lie in the ring until vv_packet_release. */
struct vv_packet_frame {
  const uint8_t *bytes; /* from the destination on */
  size_t count;         /* with the pad, when there is one */
  size_t whole_bytes;   /* of the frame: more than count where only its head is shown */
  bool outgoing;        /* this host sends it */
  vv_ns stamp_ns;       /* CLOCK_REALTIME: when the kernel took it from the device (with stamps), else roughly */
};

struct vv_packet {
  int fd;
  int index;     /* of the interface: a new name does not matter */
  uint8_t *ring; /* owned */
  size_t ring_bytes;
  size_t slot_bytes;
  size_t slots;
  size_t next;
  uint8_t mac[VV_MAC_BYTES];
  size_t mtu_bytes;
  size_t data_bytes_max; /* of a frame, as far as the MTU lets them */
};

/*
 * 0, or -1 and *error: "no-permission" (with the setcap line as remedy),
 * "no-iface", "iface-down", "no-ethernet", "no-jumbo" (its MTU allows none), "socket". Close it only after success.
 */
int vv_packet_open(struct vv_packet *packet, const struct vv_packet_config *config, struct vv_error *error);
void vv_packet_close(struct vv_packet *packet);

/* The next frame, if one has come. Does not wait. */
bool vv_packet_peek(struct vv_packet *packet, struct vv_packet_frame *frame);
/* Gives the slot of the frame last peeked at back to the kernel. */
void vv_packet_release(struct vv_packet *packet);
/*
 * Sleeps until a frame has come, or until the deadline (of vv_clock_ns();
 * VV_NEVER: none). 0, or -1 and errno (EINTR: a signal; ETIME; ENETDOWN).
 */
int vv_packet_wait(struct vv_packet *packet, vv_ns deadline_ns);

/*
 * Sends count (1..VV_PACKET_BATCH_MAX) frames, each in two pieces: its headers
 * and the rest. How many went, which may be fewer, or -1 and errno (ENOBUFS: the
 * queue of the interface is full).
 */
int vv_packet_send(struct vv_packet *packet, struct iovec frames[][2], size_t count);

/* From now on with stamps, as in the config. 0, or -1 and errno. */
int vv_packet_stamp(struct vv_packet *packet);

/* Frames that found the ring full since the last call. */
uint32_t vv_packet_drops(struct vv_packet *packet);

/*
 * Whether the interface still is what it was when it was opened. 0, or -1 and
 * *error: "iface-gone", "iface-down", "iface-changed" (its MAC or MTU).
 */
int vv_packet_check(const struct vv_packet *packet, struct vv_error *error);

/* It as a port for an engine; it lives as long as `packet`. */
struct vv_port vv_packet_port(struct vv_packet *packet);

#endif
