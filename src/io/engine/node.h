/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node: a station of core/llc at work on one interface of this host. It
 * claims a SAP (io/port/sap.h), owns the packet port and the memory of the
 * station, and drives it with an engine.
 *
 *   open    the SAP is ours, frames to it wait in the ring
 *   start   the station answers; again: it forgets all links and begins anew
 *   run     events are told while it waits
 *   turn    events are told, and it does not wait
 *
 * What the station does is in core/llc/station.h; requests go to it directly,
 * with vv_node_now(), and leave with the next run or vv_node_flush().
 */
#ifndef VV_IO_ENGINE_NODE_H
#define VV_IO_ENGINE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/llc/station.h"
#include "io/engine/engine.h"
#include "io/os/clock.h"
#include "io/os/error.h"
#include "io/port/packet.h"

struct vv_node_config {
  const char *iface;
  uint8_t sap;    /* 0: the first that is free */
  uint32_t links; /* peers at most: the ring has room for a window of each */
  bool jumbo;     /* frames as long as the MTU, with EtherType 0x8870 above 1500 bytes */
  bool spin;      /* how to wait (io/engine/engine.h) */
  bool turns;     /* driven by vv_node_turn: nothing ever waits, not even for room at the interface */
  struct vv_watch_stop stop;
  /* Called for every event, inside a run; requests may be made in it. */
  void (*tell)(void *context, const struct vv_llc_station_event *event);
  void *context;
};

struct vv_node {
  struct vv_packet packet;
  int claim; /* the descriptor that holds the SAP */
  struct vv_llc_address self;
  struct vv_node_config config;
  void *memory; /* of the station; NULL before the start */
  struct vv_llc_station station;
  struct vv_engine engine;
  struct vv_engine_hold hold;
};

/*
 * 0, or -1 and *error: those of vv_packet_open and vv_sap_claim. Close it only
 * after success.
 */
int vv_node_open(struct vv_node *node, const struct vv_node_config *config, struct vv_error *error);

/*
 * Starts the station with those wishes, of which self, incarnation, links,
 * receive_window and (unless it asks for less) pdu_bytes_max are set here. 0,
 * or -1 and *error ("no-memory").
 */
int vv_node_start(struct vv_node *node, struct vv_llc_station_config config, struct vv_error *error);

/* Does not say good-bye: disconnect and flush first. */
void vv_node_close(struct vv_node *node);

static inline vv_ns vv_node_now(void) {
  return vv_clock_ns();
}

/* Tells what requests have brought about, and runs until done(context of the config); see vv_engine_run. */
enum vv_engine_ran vv_node_run(struct vv_node *node, bool (*done)(void *context), vv_ns deadline_ns,
                               struct vv_error *error);

/* Tells what requests have brought about, and takes a turn; see vv_engine_turn. */
int vv_node_turn(struct vv_node *node, struct vv_error *error);

/* Sends what waits. 0, or -1 and *error. */
static inline int vv_node_flush(struct vv_node *node, vv_ns now_ns, struct vv_error *error) {
  return vv_engine_flush(&node->engine, now_ns, error);
}

/* Why a link closed, in words. */
const char *vv_node_why(enum vv_llc_close why);

#endif
