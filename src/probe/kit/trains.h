/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trains of messages in one direction: what the question `oneway` sends and
 * receives, over UDP datagrams or over LLC UI frames.
 *
 * Every message begins with a fragment header (core/wire/fragment.h) whose
 * `message` is the number of the train and whose `index` is the place in it;
 * launch and end tell the trains of this cell from all others. The receiver
 * notes when its kernel took the first and the last message of each train from
 * the device: it may sleep meanwhile, and costs the path nothing.
 */
#ifndef VV_PROBE_KIT_TRAINS_H
#define VV_PROBE_KIT_TRAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/base/time.h"
#include "io/os/error.h"
#include "io/os/socket.h"
#include "io/port/packet.h"

#define VV_TRAINS_MESSAGES_MAX 65535 /* of one train */

struct vv_trains_config {
  bool frames;    /* LLC UI frames instead of UDP datagrams */
  bool broadcast; /* to all */
  bool segment;   /* UDP_SEGMENT: the kernel, or the card, cuts many datagrams from one call */
  uint32_t launch;
  uint32_t end;
  size_t size_bytes; /* of a message: payload of a datagram, or message bytes of a frame */
  uint32_t train;    /* messages in one */
  struct vv_address own;
  const char *iface; /* NULL: the one that has the own address */
};

/* The smallest and largest message, the latter with that MTU. */
size_t vv_trains_size_min(bool frames);
size_t vv_trains_size_max(bool frames, size_t mtu_bytes);

/* sender -------------------------------------------------------------- */

struct vv_trains_sender {
  struct vv_trains_config config;
  int fd;                  /* UDP */
  struct vv_packet packet; /* frames */
  uint8_t *bytes;          /* the whole train; owned */
  size_t stride;           /* from message to message in it */
  size_t header_at;        /* of the fragment header in a message */
};

/*
 * `to` is where the receiver listens, as vv_trains_listen wrote it; with
 * broadcast its host does not matter. 0, or -1 and *error: "bad-contact",
 * "no-iface", "no-permission", "no-memory", "socket".
 */
int vv_trains_dial(struct vv_trains_sender *sender, const struct vv_trains_config *config, const char *to,
                   struct vv_error *error);
/* Sends train number `number`; *sent_ns is CLOCK_REALTIME just before. 0, or -1 and *error. */
int vv_trains_send(struct vv_trains_sender *sender, uint32_t number, vv_ns *sent_ns, struct vv_error *error);
void vv_trains_hang_up(struct vv_trains_sender *sender);

/* receiver ------------------------------------------------------------ */

struct vv_trains_arrivals {
  vv_ns first_ns; /* CLOCK_REALTIME of message 0; 0: it has not come */
  vv_ns last_ns;  /* of the last message of the train */
  uint32_t count;
};

struct vv_trains_receiver {
  struct vv_trains_config config;
  int fd;
  struct vv_packet packet;
  struct vv_trains_arrivals *arrivals; /* by train; owned */
  uint32_t trains;
};

#define VV_TRAINS_CONTACT_MAX VV_ADDRESS_TEXT_MAX

/*
 * Listens for `trains` trains and writes where; the port of UDP is any one when
 * `port` is 0. 0, or -1 and *error.
 */
int vv_trains_listen(struct vv_trains_receiver *receiver, const struct vv_trains_config *config, uint32_t trains,
                     uint16_t port, char contact[VV_TRAINS_CONTACT_MAX], struct vv_error *error);
/* Notes what has come. How many messages. */
size_t vv_trains_collect(struct vv_trains_receiver *receiver);
void vv_trains_close(struct vv_trains_receiver *receiver);

#endif
