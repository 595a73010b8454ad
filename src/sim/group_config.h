/* SPDX-License-Identifier: BSD-3-Clause */
/* What a simulated run of `group` is made of: the LAN, the ranks, their operations, and what goes wrong. */
#ifndef VV_SIM_GROUP_CONFIG_H
#define VV_SIM_GROUP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/ethernet/lan.h"

struct vv_sim_group_config {
  uint64_t seed;
  uint32_t ranks;
  enum vv_lan_fabric fabric;
  bool untold; /* on a hub: the cards do not say that they share it */
  uint64_t rate_bps;
  uint64_t buffer_bytes; /* of each socket, as the kernel counts */
  uint32_t datagram_bytes;
  uint32_t operations;
  uint64_t size_bytes;   /* of each message; with `mixed`, the most */
  uint64_t memory_bytes; /* that a receiver has for a message: what may be larger it takes as a stream */
  bool rounds;           /* each operation is a round of parts of at most size_bytes; with `mixed` every other one */
  bool mixed;            /* sizes and roots are drawn; else all have size_bytes, and rank 0 is root */
  vv_ns compute_ns;      /* before each operation a rank computes for 0 .. this */
  uint32_t take_max;     /* datagrams of a socket that a rank takes before it looks at the other one, and sends */
  vv_ns wake_ns;         /* from a datagram's arrival until its receiver runs */
  double loss;           /* of a frame, at each receiver */
  double correlated;     /* of a frame, between its sender and the switch: all lose it */
  double burst;          /* a burst of losses begins, at each receiver */
  double bad_host;       /* of a frame, at the last rank */
  double reorder;
  double duplicate;
  double flip;       /* a bit of a datagram, unnoticed by the link */
  uint32_t pauses;   /* a rank is stopped, so often */
  vv_ns pause_ns;    /* for 0 .. this each time */
  bool deaf;         /* a rank hears no multicast for a while, or until it joins again */
  bool crash;        /* a rank dies */
  bool partition;    /* a rank's cable is cut for a while */
  vv_ns deadline_ns; /* all must be over by then */
};

/* A good LAN of two ranks, one operation, and no faults. */
void vv_sim_group_config_init(struct vv_sim_group_config *config, uint64_t seed);

/* True when no frame is lost, delayed or spoilt, and nobody dies: ranks sleep and compute, no more. */
bool vv_sim_group_config_is_faultless(const struct vv_sim_group_config *config);

/* Everything drawn from the seed. */
void vv_sim_group_config_draw(struct vv_sim_group_config *config, uint64_t seed);

/* Operation number i, the same for all ranks. */
struct vv_sim_group_step {
  uint32_t root;
  uint64_t size_bytes; /* of a round that of all parts */
  bool round;
};

struct vv_sim_group_step vv_sim_group_config_step(const struct vv_sim_group_config *config, uint32_t i);

/* What that rank gives to it, if it is a round. */
size_t vv_sim_group_config_part_bytes(const struct vv_sim_group_config *config, uint32_t i, uint32_t rank);

/* The credit of each of its ranks: core/group/credit.h. */
uint32_t vv_sim_group_config_window(const struct vv_sim_group_config *config);

/* True when its ranks can make rounds. */
bool vv_sim_group_config_has_rounds(const struct vv_sim_group_config *config);

#endif
