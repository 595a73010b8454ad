/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A LAN under a clock that the caller turns: stations, their cables, and the
 * hub or switch between them. Frames go in; out come deliveries, each at its
 * time. Simulators of protocols stand on this.
 *
 *   frame -> queue of the station -> medium or line -> faults of the cable out -> fabric
 *         -> (switch: queue of each port, line) -> faults of the cable in -> delivery
 *
 * A frame for one station is delivered there; one for a group everywhere but at
 * its source, and which groups a station listens to is the caller's affair: no
 * fabric here asks. On a hub a frame takes the medium once, whoever hears it.
 *
 * The same configuration, seed and calls give the same deliveries in the same
 * order. Nothing is lost without being counted: at any time
 *   expected + duplicated = delivered + the sum of dropped + what is under way,
 * where each frame sent expects as many deliveries as it has receivers, and
 * whatever loses a frame counts all deliveries that will not be.
 *
 * Whoever drives it goes from vv_lan_next_ns to vv_lan_next_ns, takes all that
 * is due then, and sends at the time of what it took, not later.
 */
#ifndef VV_CORE_ETHERNET_LAN_H
#define VV_CORE_ETHERNET_LAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/heap.h"
#include "core/base/ring.h"
#include "core/base/time.h"
#include "core/ethernet/faults.h"
#include "core/ethernet/hub.h"
#include "core/ethernet/switch.h"

/* Destinations: a station's number, or one of 2^31 groups, of which the first is everybody. */
#define VV_LAN_GROUP     UINT32_C(0x80000000)
#define VV_LAN_EVERYBODY VV_LAN_GROUP

struct vv_lan_frame {
  uint64_t id; /* the caller's */
  uint32_t source;
  uint32_t destination; /* another station, or VV_LAN_GROUP + a group */
  uint32_t data_bytes;  /* as in vv_eth_wire_bytes */
  bool tagged;
  void *handle; /* the caller's */
};

enum vv_lan_fabric { VV_LAN_HUB, VV_LAN_SWITCH };

struct vv_lan_config {
  enum vv_lan_fabric fabric;
  uint32_t stations;    /* 2 .. 2^20 */
  uint64_t rate_bps;    /* hub: 10 or 100 Mb/s */
  vv_ns reach_ns;       /* how long a bit travels: hub, from station to station; switch, along one cable */
  vv_ns forward_ns;     /* switch: from the last bit of a frame until it is in the queue of a port */
  vv_ns ageing_ns;      /* switch: a station not heard for so long is unknown again; the standard says 300 s */
  uint32_t host_frames; /* queue of each station, with the frame that is being sent; >= 1 */
  uint32_t port_frames; /* switch: queue of each port, likewise */
  uint32_t frames;      /* in the whole LAN at a time, from vv_lan_send to VV_LAN_DONE */
  uint32_t flights;     /* copies of frames that travel along cables or are delayed, at a time; >= 2 * stations */
  uint64_t seed;
};

struct vv_lan_counts {
  uint64_t sent; /* frames taken from the caller */
  uint64_t expected;
  uint64_t duplicated;
  uint64_t delivered;
  uint64_t dropped[VV_DROPS];
  uint64_t flooded; /* switch: frames for one station that went to every port */
};

enum vv_lan_kind {
  VV_LAN_DELIVERED, /* the frame is at `station` */
  VV_LAN_DONE,      /* the LAN knows this frame no more: the handle is the caller's again */
};

struct vv_lan_event {
  enum vv_lan_kind kind;
  vv_ns ns;
  uint32_t station; /* of VV_LAN_DELIVERED */
  struct vv_lan_frame frame;
};

struct vv_lan_slot {
  struct vv_lan_frame frame;
  uint32_t held; /* by queues, media, flights */
};

/* Numbers that nothing has now, the one that was given back last on top: its memory is still near. */
struct vv_lan_free {
  uint32_t *numbers;
  uint32_t count;
};

struct vv_lan_flight {
  uint32_t slot;
  uint32_t to; /* a station, or UINT32_MAX: the fabric */
};

struct vv_lan {
  struct vv_lan_config config;
  struct vv_hub hub;
  struct vv_switch sw;
  struct vv_faults *faults; /* of the cables out, then of the cables in */
  struct vv_lan_slot *slots;
  uint32_t *wire_bytes; /* by slot */
  struct vv_lan_free free_slots;
  struct vv_ring done_slots;
  struct vv_lan_flight *flights;
  struct vv_lan_free free_flights;
  struct vv_heap arrivals; /* by flight */
  vv_ns now_ns;
  struct vv_lan_counts counts;
};

/* The memory for such a LAN, and the LAN in it: the caller's, aligned as malloc's, and there as long as the LAN. */
size_t vv_lan_bytes(const struct vv_lan_config *config);
void vv_lan_init(struct vv_lan *lan, void *memory, const struct vv_lan_config *config);

enum vv_lan_way { VV_LAN_OUT, VV_LAN_IN }; /* of a station's cable */

/* From now on the cable has these faults, in that direction. */
void vv_lan_faults(struct vv_lan *lan, uint32_t station, enum vv_lan_way way, const struct vv_faults_config *config);

/*
 * Cuts the cable of a station, or mends it. What comes to a cut cable is lost.
 * What a cut station sends still takes its time to go (on a hub, the medium's
 * too), so that a sender that goes on regardless is as slow as ever.
 */
void vv_lan_cut(struct vv_lan *lan, uint32_t station, bool cut);

/* Sends a frame: false without room in the queue of its source, or the LAN. What is due before now_ns was taken. */
bool vv_lan_send(struct vv_lan *lan, vv_ns now_ns, const struct vv_lan_frame *frame);

/* When something happens next; VV_NEVER: nothing does. */
vv_ns vv_lan_next_ns(const struct vv_lan *lan);

/* The next event that is due at now_ns or before: false when there is none. */
bool vv_lan_take(struct vv_lan *lan, vv_ns now_ns, struct vv_lan_event *event);

#endif
