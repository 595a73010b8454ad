/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated host with one rank of a group: its sockets, the engine that drives
 * the core whenever it runs, and an application that starts one operation after
 * the other, looks at what it got, and closes the group.
 */
#ifndef VV_SIM_GROUP_HOST_H
#define VV_SIM_GROUP_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/payload.h"
#include "core/base/time.h"
#include "core/group/rank.h"
#include "sim/group_config.h"
#include "sim/socket.h"

enum vv_sim_group_host_state {
  VV_SIM_GROUP_HOST_COMPUTING, /* until ready_ns, then the next operation, or the end */
  VV_SIM_GROUP_HOST_INSIDE,    /* an operation */
  VV_SIM_GROUP_HOST_CLOSING,
  VV_SIM_GROUP_HOST_CLOSED, /* it has left in order */
  VV_SIM_GROUP_HOST_FAILED, /* it has been told of a failure; it still answers others */
  VV_SIM_GROUP_HOST_DEAD,
};

/* Takes a datagram to the LAN: false without room. */
typedef bool vv_sim_group_host_send(void *context, uint32_t rank, const struct vv_rank_datagram *datagram);

struct vv_sim_group_host {
  const struct vv_sim_group_config *config;
  struct vv_rank core;
  void *memory;
  struct vv_sim_socket data, control;
  struct vv_payload payload;
  struct vv_rng rng;
  uint8_t *buffer; /* of the present operation; NULL: none, or a stream */
  uint64_t read;   /* positions of the present stream below were read */
  enum vv_sim_group_host_state state;
  uint32_t operations;           /* done */
  struct vv_sim_group_step step; /* the present operation */
  vv_ns ready_ns;
  vv_ns paused_ns; /* it is stopped until then */
  vv_ns deaf_ns;   /* it hears no multicast until then */
  vv_ns done_ns;   /* when the last operation was done */
  bool blocked;    /* the LAN had no room for `pending` */
  struct vv_rank_datagram pending;
  struct vv_member_failure failure;
  struct vv_rank_part parts[VV_TREE_FLAT_MAX]; /* of the present round */
  const char *wrong;                           /* what must never happen, and did */
  vv_sim_group_host_send *send;
  void *context;
};

void vv_sim_group_host_open(struct vv_sim_group_host *host, const struct vv_sim_group_config *config, uint32_t rank,
                            vv_sim_group_host_send *send, void *context);
void vv_sim_group_host_close(struct vv_sim_group_host *host);

/*
 * A host will run soon: fetches it into the cache; then, when that has come, the
 * memory that its next datagram goes to. A thousand hosts do not fit there, and
 * most of what they cost would be waiting for memory.
 */
void vv_sim_group_host_fetch(const struct vv_sim_group_host *host);
void vv_sim_group_host_fetch_store(const struct vv_sim_group_host *host);

/* Everything that there is to do now; tells when to come again, even if nothing arrives. */
vv_ns vv_sim_group_host_turn(struct vv_sim_group_host *host, vv_ns now_ns);

/* True when this host will do nothing more that matters. */
bool vv_sim_group_host_over(const struct vv_sim_group_host *host);

#endif
