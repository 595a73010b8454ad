/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Half-duplex Ethernet: stations that share one medium by CSMA/CD, as IEEE
 * 802.3-2018 clause 4 has it for 10 and 100 Mb/s (parameters: 4.4.2).
 *
 * All stations are as far from each other (a star around a hub): a signal is
 * heard `reach_ns` after it was sent, by everybody else. A station
 *   - defers while it hears others, and 96 bit times more. Carrier that comes
 *     back in the first two thirds of these begins them anew, later it is
 *     ignored (4.2.3.2.1, 4.2.8). Who waited then sends at once;
 *   - that hears another while it sends finishes the preamble, sends 32 bits of
 *     jam, and waits r slots of 512 bit times, r uniform in 0 .. 2^min(n,10) - 1
 *     after the nth attempt (4.2.3.2.5);
 *   - gives a frame up after 16 attempts;
 *   - treats a collision later than a slot into the frame as any other, but
 *     counts it: it means that the network is too long.
 * A sender thus meets those who waited for it right after each frame, with a
 * fresh count of attempts against their old ones: the capture effect.
 *
 * A station's frames wait in a queue of its own. Numbers (`frame`) stand for
 * frames; what they take of the wire is in a table of the caller.
 */
#ifndef VV_CORE_ETHERNET_HUB_H
#define VV_CORE_ETHERNET_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/heap.h"
#include "core/base/ring.h"
#include "core/base/rng.h"
#include "core/base/time.h"

#define VV_HUB_SLOT_BITS     512
#define VV_HUB_JAM_BITS      32
#define VV_HUB_ATTEMPTS_MAX  16
#define VV_HUB_BACKOFF_LIMIT 10

struct vv_hub_config {
  uint32_t stations;          /* >= 1 */
  uint32_t queue_frames;      /* of each station, with the one that it is sending; >= 1 */
  uint64_t rate_bps;          /* 10 or 100 Mb/s: the clause for more has bursts and extensions */
  vv_ns reach_ns;             /* from station to station, at most 512 bit times; the standard allows half of that */
  const uint32_t *wire_bytes; /* of each frame number, with preamble and gap; the caller's */
  uint64_t seed;              /* of the back-offs */
};

struct vv_hub_counts {
  uint64_t attempts;   /* beginnings of frames */
  uint64_t collisions; /* attempts that met another */
  uint64_t late;       /* those of them later than a slot */
  uint64_t sent;       /* frames sent to their end */
  uint64_t excessive;  /* frames given up */
};

enum vv_hub_state { VV_HUB_IDLE, VV_HUB_WAITING, VV_HUB_SENDING, VV_HUB_JAMMING, VV_HUB_BACKING_OFF };

struct vv_hub_station {
  enum vv_hub_state state;
  struct vv_ring queue; /* the first is being sent */
  struct vv_rng rng;
  uint32_t attempts; /* of the first */
  uint32_t place;    /* among those who wait, or those who send */
  vv_ns start_ns;    /* of its last signal */
  vv_ns gap_ns;      /* end of the gap after its last signal */
  bool heard;        /* its signal is at the others now */
  bool clean;        /* alone so far */
  struct vv_hub_counts counts;
};

/* A signal begins or ends where it is heard. */
struct vv_hub_edge {
  vv_ns ns;
  uint32_t station;
  uint32_t frame; /* UINT32_MAX: no whole frame */
  bool rise;
};

struct vv_hub_set {
  uint32_t *members;
  uint32_t count;
};

struct vv_hub {
  struct vv_hub_config config;
  struct vv_hub_station *stations;
  struct vv_hub_set waiting;
  struct vv_hub_set sending;
  struct vv_heap timers; /* by station */
  struct vv_hub_edge *edges;
  uint32_t edges_room, edges_first, edges_count;
  vv_ns bit_ns;
  uint32_t heard;      /* signals that are heard now */
  uint32_t heard_xor;  /* of the numbers of their stations: the station itself when there is one */
  vv_ns gap_ns;        /* end of the gap after the last silence began, for all but `alone` */
  uint32_t alone;      /* the station that heard silence at another time, for the last signal was its own */
  vv_ns alone_ns;      /* end of its gap */
  uint64_t collisions; /* on the medium: however many stations met, it is one */
};

enum vv_hub_happening {
  VV_HUB_HEARD,     /* the last bit of a frame is at all other stations */
  VV_HUB_GARBLED,   /* that too, but with bits of others among it, unknown to its sender */
  VV_HUB_ABANDONED, /* a frame was given up */
};

struct vv_hub_event {
  enum vv_hub_happening what;
  uint32_t station; /* the sender */
  uint32_t frame;
  vv_ns ns;
};

/* The memory for such a hub, and the hub in it. Memory and table are the caller's and stay as long as the hub. */
size_t vv_hub_bytes(const struct vv_hub_config *config);
void vv_hub_init(struct vv_hub *hub, void *memory, const struct vv_hub_config *config);

/* Puts a frame into a station's queue: false when it is full. Whatever is due before now_ns was taken before. */
bool vv_hub_send(struct vv_hub *hub, vv_ns now_ns, uint32_t station, uint32_t frame);

/* When something happens next; VV_NEVER: nothing does. */
vv_ns vv_hub_next_ns(const struct vv_hub *hub);

/* The next event that is due at now_ns or before: false when there is none. */
bool vv_hub_take(struct vv_hub *hub, vv_ns now_ns, struct vv_hub_event *event);

#endif
