/* SPDX-License-Identifier: BSD-3-Clause */
/* What a simulated run of `llc` is made of: the LAN, the stations, their messages, and what goes wrong. */
#ifndef VV_SIM_LLC_CONFIG_H
#define VV_SIM_LLC_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/ethernet/lan.h"

struct vv_sim_llc_config {
  uint64_t seed;
  uint32_t hosts; /* 2 .. 16; every pair has a link */
  enum vv_lan_fabric fabric;
  uint64_t rate_bps;
  uint32_t messages;   /* from each host to each other */
  uint64_t size_bytes; /* of a message: 0 .. this, mostly short ones */
  uint32_t mtu_bytes;
  uint32_t window;
  uint32_t receive_window;
  uint32_t early; /* I PDUs that a station keeps behind missing ones */
  bool crossing;  /* both ends of a link connect */
  bool patient;   /* enquiries go on for ever; else a link is reset after some */
  double loss;    /* of a frame, at each receiver */
  double burst;   /* a burst of losses begins */
  double duplicate;
  double reorder;
  vv_ns reorder_ns; /* a frame is late by up to this */
  double corrupt;   /* found by the frame check sequence */
  double replay;    /* an I PDU is kept, and comes again after up to `replay_ns` */
  vv_ns replay_ns;
  bool busy;         /* receivers have little room, and make more when they like */
  uint32_t resets;   /* of links, by their users */
  uint32_t pauses;   /* a host is stopped, so often */
  vv_ns pause_ns;    /* for 0 .. this each time */
  vv_ns slow_ns;     /* a host that has run, and sent a few frames, runs again after 0 .. this */
  uint32_t cuts;     /* of a cable, for up to 15 s: one end of each link on it, or both, end it; all connect again */
  bool crash;        /* a host dies */
  bool restart;      /* and another process takes its place */
  bool beyond;       /* frames are later than stations were told: links may end, data may not be wrong */
  vv_ns deadline_ns; /* all must be over by then */
};

/* A good LAN of two hosts, and no faults. */
void vv_sim_llc_config_init(struct vv_sim_llc_config *config, uint64_t seed);

/* Everything drawn from the seed. */
void vv_sim_llc_config_draw(struct vv_sim_llc_config *config, uint64_t seed);

/* Bytes of message number `seq` from one host to another. */
uint32_t vv_sim_llc_config_size(const struct vv_sim_llc_config *config, uint32_t from, uint32_t to, uint32_t seq);

#endif
