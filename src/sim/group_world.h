/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole group on a simulated LAN, from the first operation until every rank has
 * left or knows why not. It watches what must always hold:
 *
 *   - bytes delivered are the bytes sent, once, in order (each host looks itself);
 *   - no datagram finds a socket full, and none is beyond a window;
 *   - where nothing is lost nothing is sent again, and nobody is called deaf, whoever sleeps;
 *   - nobody is said to have died, or is left out, unless it died;
 *   - when somebody has died, everybody learns who it was;
 *   - everything ends by the deadline.
 */
#ifndef VV_SIM_GROUP_WORLD_H
#define VV_SIM_GROUP_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/heap.h"
#include "core/base/time.h"
#include "core/ethernet/lan.h"
#include "sim/group_config.h"
#include "sim/group_host.h"

enum { VV_SIM_INCIDENTS_MAX = 32 };

enum vv_sim_incident_kind {
  VV_SIM_INCIDENT_PAUSE,
  VV_SIM_INCIDENT_DEAFEN,
  VV_SIM_INCIDENT_CRASH,
  VV_SIM_INCIDENT_CUT,
  VV_SIM_INCIDENT_MEND,
  VV_SIM_INCIDENT_TELL_DEATH, /* the kernels of the neighbours say so */
};

struct vv_sim_incident {
  enum vv_sim_incident_kind kind;
  vv_ns ns;
  uint32_t rank;
  vv_ns span_ns;
};

struct vv_sim_group_world {
  struct vv_sim_group_config config;
  struct vv_lan_config lan_config;
  struct vv_lan lan;
  void *lan_memory;
  struct vv_sim_group_host *hosts;
  struct vv_heap wakes; /* of the hosts, then of the incidents */
  void *wakes_memory;
  struct vv_rng rng;
  struct vv_sim_incident incidents[VV_SIM_INCIDENTS_MAX];
  uint32_t incidents_count;
  vv_ns now_ns;
  uint32_t victim;       /* who dies; UINT32_MAX: nobody */
  bool told;             /* its neighbours know */
  uint64_t *other_bytes; /* on the wire, of each link from a host, then to a host: all but first copies of data */
  uint32_t over;         /* hosts whose end was seen */
  bool *seen;
  char wrong[160]; /* empty: all is well */
};

/* What a run cost. */
struct vv_sim_group_world_result {
  vv_ns elapsed_ns;
  uint64_t payload_bytes;       /* of all messages, each counted once */
  uint64_t busiest_bytes;       /* repairs and control on the link that had the most */
  struct vv_rank_counts counts; /* of all ranks */
};

/* Runs the config to its end: false, and what was wrong, when something was. */
bool vv_sim_group_world_run(const struct vv_sim_group_config *config, struct vv_sim_group_world_result *result,
                            char wrong[160]);

/* How long an unreliable sender of the same bytes takes on the same LAN, until the last receiver runs. */
vv_ns vv_sim_group_world_raw_ns(const struct vv_sim_group_config *config);

#endif
