/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A store-and-forward switch and the full-duplex links to its stations, one at
 * each port: IEEE 802.1Q-2018 clauses 8.6 (forwarding) and 8.7 (learning).
 *
 * Each link has two lines, to the switch (number: the station's) and from it
 * (number: stations + the station's). A line has a queue and sends one frame
 * after the other, each for as long as it takes at the rate, gap included; the
 * frame is at the other end with its last bit, before the gap. Numbers
 * (`frame`) stand for frames; what they take of the wire is in a table of the
 * caller.
 */
#ifndef VV_CORE_ETHERNET_SWITCH_H
#define VV_CORE_ETHERNET_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/heap.h"
#include "core/base/ring.h"
#include "core/base/time.h"

struct vv_switch_config {
  uint32_t stations;          /* >= 1 */
  uint32_t host_frames;       /* queue of each line to the switch, with the frame that is being sent; >= 1 */
  uint32_t port_frames;       /* of each line from it */
  uint64_t rate_bps;          /* of every line; > 0 */
  vv_ns ageing_ns;            /* a station not heard for so long is unknown again; the standard says 300 s */
  const uint32_t *wire_bytes; /* of each frame number, with preamble and gap; the caller's */
};

struct vv_switch_line {
  struct vv_ring queue; /* the first is being sent */
  vv_ns free_ns;        /* end of the gap behind the last frame that was begun */
  uint64_t sent;        /* frames */
};

struct vv_switch {
  struct vv_switch_config config;
  struct vv_switch_line *lines;
  vv_ns *known_ns;       /* until when the switch knows the port of each station; 0: it never heard it */
  struct vv_heap timers; /* by line */
};

struct vv_switch_event {
  uint32_t line; /* a frame is at the end of it */
  uint32_t frame;
  vv_ns ns;
};

/* The memory for such a switch, and the switch in it. Memory and table are the caller's, and stay as long as it. */
size_t vv_switch_bytes(const struct vv_switch_config *config);
void vv_switch_init(struct vv_switch *sw, void *memory, const struct vv_switch_config *config);

/* Puts a frame into the queue of a line: false when it is full. Whatever is due before now_ns was taken before. */
bool vv_switch_send(struct vv_switch *sw, vv_ns now_ns, uint32_t line, uint32_t frame);

/* Learns that the station is at its port; says whether it knows where a station is. */
void vv_switch_learn(struct vv_switch *sw, vv_ns now_ns, uint32_t station);
bool vv_switch_knows(const struct vv_switch *sw, vv_ns now_ns, uint32_t station);

/* When something happens next; VV_NEVER: nothing does. */
vv_ns vv_switch_next_ns(const struct vv_switch *sw);

/* The next frame that is at the end of a line at now_ns or before: false when there is none. */
bool vv_switch_take(struct vv_switch *sw, vv_ns now_ns, struct vv_switch_event *event);

#endif
