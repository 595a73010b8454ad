/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host of the simulator: a station, and an application that sends numbered
 * messages to every other host, takes theirs, and looks at every byte.
 *
 * When all that two hosts have for each other is delivered and acknowledged,
 * the one with the lower number disconnects. A link that ends otherwise is made
 * again only where cables are cut: then each goes on with what the other has not
 * taken, which here it simply sees.
 */
#ifndef VV_SIM_LLC_HOST_H
#define VV_SIM_LLC_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/payload.h"
#include "core/base/rng.h"
#include "core/base/time.h"
#include "core/llc/station.h"
#include "sim/llc_config.h"

enum { VV_SIM_LLC_SENDS_AHEAD = 4 }; /* messages of one peer under way at a time */

/* What a host has with one other. */
struct vv_sim_llc_peer {
  uint32_t link; /* VV_LLC_NO_LINK: none now */
  bool connected;
  bool closed; /* the application was told */
  bool again;  /* an earlier link has ended, or is about to, or may have: nothing is sent before the next one is up */
  enum vv_llc_close why;
  uint32_t sent;         /* messages given to the station */
  uint32_t acknowledged; /* and of those */
  uint32_t taken;        /* messages of the other, whole and right */
  uint32_t got_bytes;    /* of the next one */
  uint8_t *sending[VV_SIM_LLC_SENDS_AHEAD];
  uint8_t *taking;
  struct vv_payload out, in;
  vv_ns more_ns; /* when it gets more credit; VV_NEVER */
};

struct vv_sim_llc_host {
  const struct vv_sim_llc_config *config;
  const struct vv_sim_llc_host *all; /* hosts, by number */
  uint32_t number;
  uint32_t life; /* 0, 1 of who takes the place of a dead one, and expects nothing */
  bool alive;
  struct vv_llc_station station;
  void *memory;
  struct vv_sim_llc_peer *peers;
  uint8_t *taking; /* room for a message of each */
  struct vv_rng rng;
  const char *wrong; /* NULL: all is well */
};

/* A process on a host of all: the first, or the one after a crash, which waits for others to connect. */
void vv_sim_llc_host_start(struct vv_sim_llc_host *all, const struct vv_sim_llc_config *config, uint32_t number,
                           uint32_t life);
void vv_sim_llc_host_free(struct vv_sim_llc_host *host);

struct vv_llc_address vv_sim_llc_host_address(uint32_t number);

/* Ends the link to that other in the middle of it, if there is one with something left to do. */
void vv_sim_llc_host_hang_up(struct vv_sim_llc_host *host, vv_ns now_ns, uint32_t other);

/* The application runs: takes events, sends, disconnects. */
void vv_sim_llc_host_run(struct vv_sim_llc_host *host, vv_ns now_ns);

/* When it wants to run again without a frame. */
vv_ns vv_sim_llc_host_next_ns(const struct vv_sim_llc_host *host);

/* True when it has nothing more to do, or hope for, with that other: which was the same process all the time, or not.
 */
bool vv_sim_llc_host_is_over(const struct vv_sim_llc_host *host, uint32_t other, bool other_died);

#endif
