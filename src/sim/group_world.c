/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/group_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ethernet/eth.h"
#include "sim/memory.h"

/* A killed process is noticed at once; a dead host or a cut cable when keepalives have failed. */
enum { UDP_BYTES = 28, HOST_FRAMES = 32, PORT_FRAMES = 512, KEEPALIVE_MS = 3000, FRAMES_PER_RANK = 64 };
enum { FLIGHTS_PER_RANK = 256, REORDER_US = 1000 };

static struct vv_lan_config lan_config_of(const struct vv_sim_group_config *config) {
  return (struct vv_lan_config){.fabric = config->fabric,
                                .stations = config->ranks,
                                .rate_bps = config->rate_bps,
                                .reach_ns = 500,
                                .forward_ns = 2 * VV_US,
                                .ageing_ns = 300 * VV_SEC,
                                .host_frames = HOST_FRAMES,
                                .port_frames = PORT_FRAMES,
                                .frames = FRAMES_PER_RANK * config->ranks,
                                .flights = FLIGHTS_PER_RANK * config->ranks,
                                .seed = config->seed};
}

static void spoil_links(struct vv_sim_group_world *world) {
  const struct vv_sim_group_config *config = &world->config;
  struct vv_faults_config out = {.loss = config->correlated};
  struct vv_faults_config in = {.loss = config->loss,
                                .burst_enter = config->burst,
                                .burst_leave = 0.2,
                                .burst_loss = 0.9,
                                .duplicate = config->duplicate,
                                .reorder = config->reorder,
                                .reorder_ns = REORDER_US * VV_US};
  for (uint32_t i = 0; i < config->ranks; i++) {
    struct vv_faults_config own = in;
    if (i == config->ranks - 1 && config->bad_host > own.loss) own.loss = config->bad_host;
    vv_lan_faults(&world->lan, i, VV_LAN_OUT, &out);
    vv_lan_faults(&world->lan, i, VV_LAN_IN, &own);
  }
}

static uint64_t below(struct vv_sim_group_world *world, uint64_t end) {
  return vv_rng_next(&world->rng) % (end + (end == 0));
}

static void plan_incident(struct vv_sim_group_world *world, enum vv_sim_incident_kind kind, vv_ns ns, uint32_t rank,
                          vv_ns span_ns) {
  if (world->incidents_count == VV_SIM_INCIDENTS_MAX) return;
  uint32_t i = world->incidents_count++;
  world->incidents[i] = (struct vv_sim_incident){kind, ns, rank, span_ns};
  vv_heap_set(&world->wakes, world->config.ranks + i, ns);
}

static void plan_partition(struct vv_sim_group_world *world, vv_ns ns, uint32_t rank) {
  plan_incident(world, VV_SIM_INCIDENT_CUT, ns, rank, 0);
  if (below(world, 2) == 0) {
    plan_incident(world, VV_SIM_INCIDENT_MEND, ns + below(world, (KEEPALIVE_MS - 1000) * VV_MS), rank, 0);
  } else {
    plan_incident(world, VV_SIM_INCIDENT_TELL_DEATH, ns + KEEPALIVE_MS * VV_MS, rank, 0);
  }
}

/* Everything that goes wrong, somewhere in the time that the operations are likely to take. */
static void plan_incidents(struct vv_sim_group_world *world) {
  const struct vv_sim_group_config *config = &world->config;
  vv_ns each_ns = VV_MS + config->compute_ns + vv_eth_ns(config->size_bytes, config->rate_bps) / 2;
  vv_ns span_ns = config->operations * each_ns;
  for (uint32_t i = 0; i < config->pauses; i++) {
    plan_incident(world, VV_SIM_INCIDENT_PAUSE, below(world, span_ns), (uint32_t)below(world, config->ranks),
                  below(world, config->pause_ns));
  }
  uint32_t rank = (uint32_t)below(world, config->ranks);
  if (config->deaf)
    plan_incident(world, VV_SIM_INCIDENT_DEAFEN, below(world, span_ns), rank, below(world, 20000 * VV_MS));
  rank = (uint32_t)below(world, config->ranks);
  vv_ns ns = below(world, span_ns);
  if (config->crash) {
    plan_incident(world, VV_SIM_INCIDENT_CRASH, ns, rank, 0);
    plan_incident(world, VV_SIM_INCIDENT_TELL_DEATH, ns + (below(world, 2) == 0 ? VV_MS : KEEPALIVE_MS * VV_MS), rank,
                  0);
  } else if (config->partition) {
    plan_partition(world, ns, rank);
  }
}

static void wrong_at(struct vv_sim_group_world *world, uint32_t rank, const char *what) {
  const struct vv_sim_group_host *host = &world->hosts[rank];
  if (world->wrong[0] != '\0') return;
  snprintf(world->wrong, sizeof world->wrong, "at %.6f s, rank %u, operation %u, state %d: %s",
           (double)world->now_ns * 1e-9, rank, host->operations, (int)host->state, what);
}

/* Where a link's other traffic is counted: repairs and control. */
static void count_other(struct vv_sim_group_world *world, uint32_t link, const struct vv_sim_packet *packet) {
  if (!packet->data) world->other_bytes[link] += vv_eth_wire_bytes(packet->count + UDP_BYTES, false);
}

static bool send(void *context, uint32_t rank, const struct vv_rank_datagram *datagram) {
  struct vv_sim_group_world *world = context;
  struct vv_sim_packet *packet = vv_sim_packet_new(datagram->header_bytes + datagram->payload_bytes);
  memcpy(packet->bytes, datagram->header, datagram->header_bytes);
  if (datagram->payload_bytes > 0) {
    memcpy(packet->bytes + datagram->header_bytes, datagram->payload, datagram->payload_bytes);
  }
  packet->data = datagram->way == VV_RANK_TO_DATA;
  struct vv_lan_frame frame = {.source = rank,
                               .destination = datagram->way == VV_RANK_TO_RANK ? datagram->rank : VV_LAN_EVERYBODY,
                               .data_bytes = packet->count + UDP_BYTES,
                               .handle = packet};
  bool sent = vv_lan_send(&world->lan, world->now_ns, &frame);
  if (sent) {
    count_other(world, rank, packet);
  } else {
    vv_sim_packet_drop(packet);
  }
  return sent;
}

static void wake_by(struct vv_sim_group_world *world, uint32_t rank, vv_ns ns) {
  if (ns < vv_heap_get(&world->wakes, rank)) vv_heap_set(&world->wakes, rank, ns);
}

static void put(struct vv_sim_group_world *world, uint32_t rank, struct vv_sim_packet *packet) {
  struct vv_sim_group_host *host = &world->hosts[rank];
  struct vv_sim_socket *socket = packet->data ? &host->data : &host->control;
  if (!vv_sim_socket_put(socket, packet)) {
    wrong_at(world, rank,
             packet->data ? "a datagram of data found the socket full" : "a datagram of control found the socket full");
  }
  if (!packet->data || vv_rank_wants_data(&host->core)) wake_by(world, rank, world->now_ns + world->config.wake_ns);
}

/* A copy with one bit wrong. */
static void put_spoilt(struct vv_sim_group_world *world, uint32_t rank, const struct vv_sim_packet *packet) {
  struct vv_sim_packet *copy = vv_sim_packet_new(packet->count);
  memcpy(copy->bytes, packet->bytes, packet->count);
  copy->data = packet->data;
  copy->bytes[below(world, packet->count)] ^= (uint8_t)(1u << below(world, 8));
  put(world, rank, copy);
  vv_sim_packet_drop(copy);
}

static void deliver(struct vv_sim_group_world *world, const struct vv_lan_event *event) {
  struct vv_sim_group_host *host = &world->hosts[event->station];
  struct vv_sim_packet *packet = event->frame.handle;
  bool multicast = event->frame.destination == VV_LAN_EVERYBODY;
  if (host->state == VV_SIM_GROUP_HOST_CLOSED || host->state == VV_SIM_GROUP_HOST_DEAD) return;
  if (multicast && host->deaf_ns > world->now_ns) return;
  count_other(world, world->config.ranks + event->station, packet);
  if (world->config.flip > 0 && vv_rng_unit(&world->rng) < world->config.flip) {
    put_spoilt(world, event->station, packet);
  } else {
    put(world, event->station, packet);
  }
}

static void turn_lan(struct vv_sim_group_world *world) {
  struct vv_lan_event event;
  while (vv_lan_take(&world->lan, world->now_ns, &event)) {
    if (event.kind == VV_LAN_DELIVERED) {
      deliver(world, &event);
    } else {
      vv_sim_packet_drop(event.frame.handle);
    }
  }
}

static void tell(struct vv_sim_group_world *world, uint32_t rank, uint32_t about, enum vv_gpdu_why why) {
  struct vv_sim_group_host *host = &world->hosts[rank];
  if (rank == about || host->state == VV_SIM_GROUP_HOST_CLOSED || host->state == VV_SIM_GROUP_HOST_DEAD) return;
  vv_rank_lost(&host->core, world->now_ns, about, why);
  wake_by(world, rank, world->now_ns);
}

/* Each rank has kernel-answered connections to the ranks before and behind it. */
static void tell_neighbours(struct vv_sim_group_world *world, uint32_t about, enum vv_gpdu_why why) {
  uint32_t ranks = world->config.ranks;
  tell(world, (about + 1) % ranks, about, why);
  tell(world, (about + ranks - 1) % ranks, about, why);
}

static void tell_death(struct vv_sim_group_world *world, uint32_t rank) {
  enum vv_sim_group_host_state state = world->hosts[rank].state;
  if (state == VV_SIM_GROUP_HOST_CLOSED) return;
  world->victim = rank;
  tell_neighbours(world, rank, VV_GPDU_DIED);
  if (state != VV_SIM_GROUP_HOST_DEAD) tell(world, rank, (rank + 1) % world->config.ranks, VV_GPDU_DIED);
}

static void happen(struct vv_sim_group_world *world, const struct vv_sim_incident *incident) {
  struct vv_sim_group_host *host = &world->hosts[incident->rank];
  switch (incident->kind) {
  case VV_SIM_INCIDENT_PAUSE:
    host->paused_ns = world->now_ns + incident->span_ns;
    break;
  case VV_SIM_INCIDENT_DEAFEN:
    host->deaf_ns = world->now_ns + incident->span_ns;
    break;
  case VV_SIM_INCIDENT_CRASH:
    if (host->state != VV_SIM_GROUP_HOST_CLOSED) host->state = VV_SIM_GROUP_HOST_DEAD;
    break;
  case VV_SIM_INCIDENT_CUT:
    vv_lan_cut(&world->lan, incident->rank, true);
    break;
  case VV_SIM_INCIDENT_MEND:
    vv_lan_cut(&world->lan, incident->rank, false);
    break;
  case VV_SIM_INCIDENT_TELL_DEATH:
    tell_death(world, incident->rank);
    break;
  }
}

/* A host is over: it must have been for a good reason, and those connected to it learn of it. */
static void see_end(struct vv_sim_group_world *world, uint32_t rank) {
  const struct vv_sim_group_host *host = &world->hosts[rank];
  world->seen[rank] = true;
  world->over++;
  if (host->state == VV_SIM_GROUP_HOST_CLOSED) tell_neighbours(world, rank, VV_GPDU_LEFT);
  if (host->state != VV_SIM_GROUP_HOST_FAILED) return;
  bool named = world->victim != UINT32_MAX && host->failure.why == VV_GPDU_DIED &&
               (host->failure.rank == world->victim || rank == world->victim);
  if (!named) wrong_at(world, rank, "a failure was told that never was");
}

static void look_at(struct vv_sim_group_world *world, uint32_t rank) {
  const struct vv_sim_group_host *host = &world->hosts[rank];
  if (host->wrong != NULL) wrong_at(world, rank, host->wrong);
  if (vv_sim_group_config_is_faultless(&world->config) && host->core.counts.repeated > 0) {
    wrong_at(world, rank, "what was not lost was sent again");
  }
  if (host->core.counts.beyond > 0) wrong_at(world, rank, "a datagram was beyond the window");
  if (vv_sim_group_host_over(host) && !world->seen[rank]) see_end(world, rank);
}

/* Most often one host runs after the other: so many later. */
static void fetch_next(const struct vv_sim_group_world *world, uint32_t rank) {
  enum { SOON = 3, LATER = 6 };
  uint32_t ranks = world->config.ranks;
  if (rank + LATER < ranks) vv_sim_group_host_fetch(&world->hosts[rank + LATER]);
  if (rank + SOON < ranks) vv_sim_group_host_fetch_store(&world->hosts[rank + SOON]);
}

static void turn_wakes(struct vv_sim_group_world *world) {
  uint32_t ranks = world->config.ranks;
  while (vv_heap_next_ns(&world->wakes) <= world->now_ns && world->wrong[0] == '\0') {
    uint32_t id = vv_heap_next(&world->wakes);
    vv_heap_set(&world->wakes, id, VV_NEVER);
    if (id >= ranks) {
      happen(world, &world->incidents[id - ranks]);
      look_at(world, world->incidents[id - ranks].rank);
      continue;
    }
    fetch_next(world, id);
    vv_ns next_ns = vv_sim_group_host_turn(&world->hosts[id], world->now_ns);
    vv_heap_set(&world->wakes, id, next_ns > world->now_ns ? next_ns : world->now_ns + 1);
    look_at(world, id);
  }
}

/* Whoever set the group up has made every host send something: the switch knows where each is. */
static void teach_switch(struct vv_sim_group_world *world) {
  if (world->config.fabric != VV_LAN_SWITCH) return;
  for (uint32_t i = 0; i < world->config.ranks; i++) vv_switch_learn(&world->lan.sw, 0, i);
}

static void open_world(struct vv_sim_group_world *world, const struct vv_sim_group_config *config) {
  uint32_t wakes = config->ranks + VV_SIM_INCIDENTS_MAX;
  memset(world, 0, sizeof *world);
  world->config = *config;
  world->victim = UINT32_MAX;
  world->rng.state = ~config->seed;
  world->lan_config = lan_config_of(config);
  world->lan_memory = vv_sim_memory_must(malloc(vv_lan_bytes(&world->lan_config)));
  vv_lan_init(&world->lan, world->lan_memory, &world->lan_config);
  world->wakes_memory = vv_sim_memory_must(malloc(vv_heap_bytes(wakes)));
  vv_heap_init(&world->wakes, world->wakes_memory, wakes);
  world->hosts = vv_sim_memory_must(calloc(config->ranks, sizeof *world->hosts));
  world->seen = vv_sim_memory_must(calloc(config->ranks, sizeof *world->seen));
  world->other_bytes = vv_sim_memory_must(calloc(2 * (size_t)config->ranks, sizeof *world->other_bytes));
  for (uint32_t i = 0; i < config->ranks; i++) {
    vv_sim_group_host_open(&world->hosts[i], config, i, send, world);
    vv_heap_set(&world->wakes, i, 0);
  }
  teach_switch(world);
  spoil_links(world);
  plan_incidents(world);
}

/* Takes back what the LAN still holds, by waiting until it is empty. */
static void drain(struct vv_lan *lan) {
  struct vv_lan_event event;
  vv_ns next_ns;
  while ((next_ns = vv_lan_next_ns(lan)) != VV_NEVER) {
    while (vv_lan_take(lan, next_ns, &event)) {
      if (event.kind == VV_LAN_DONE) vv_sim_packet_drop(event.frame.handle);
    }
  }
}

static void close_world(struct vv_sim_group_world *world) {
  drain(&world->lan);
  for (uint32_t i = 0; i < world->config.ranks; i++) vv_sim_group_host_close(&world->hosts[i]);
  free(world->hosts);
  free(world->seen);
  free(world->other_bytes);
  free(world->wakes_memory);
  free(world->lan_memory);
}

/* The first host that is not over; there is one. */
static uint32_t straggler(const struct vv_sim_group_world *world) {
  uint32_t rank = 0;
  while (vv_sim_group_host_over(&world->hosts[rank])) rank++;
  return rank;
}

static void turn_world(struct vv_sim_group_world *world) {
  while (world->over < world->config.ranks && world->wrong[0] == '\0') {
    vv_ns lan_ns = vv_lan_next_ns(&world->lan), wake_ns = vv_heap_next_ns(&world->wakes);
    vv_ns next_ns = lan_ns < wake_ns ? lan_ns : wake_ns;
    if (next_ns == VV_NEVER || next_ns > world->config.deadline_ns) {
      wrong_at(world, straggler(world), "it never ends");
      break;
    }
    world->now_ns = next_ns;
    turn_lan(world);
    turn_wakes(world);
  }
}

static void add_counts(struct vv_rank_counts *sum, const struct vv_rank_counts *counts) {
  uint64_t *to = (uint64_t *)sum;
  const uint64_t *from = (const uint64_t *)counts;
  for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) to[i] += from[i];
}

static void conclude(const struct vv_sim_group_world *world, struct vv_sim_group_world_result *result) {
  *result = (struct vv_sim_group_world_result){0};
  for (uint32_t i = 0; i < world->config.ranks; i++) {
    const struct vv_sim_group_host *host = &world->hosts[i];
    if (host->done_ns > result->elapsed_ns) result->elapsed_ns = host->done_ns;
    add_counts(&result->counts, &host->core.counts);
  }
  for (uint32_t i = 0; i < world->config.operations; i++) {
    result->payload_bytes += vv_sim_group_config_step(&world->config, i).size_bytes;
  }
  for (uint32_t i = 0; i < 2 * world->config.ranks; i++) {
    if (world->other_bytes[i] > result->busiest_bytes) result->busiest_bytes = world->other_bytes[i];
  }
}

bool vv_sim_group_world_run(const struct vv_sim_group_config *config, struct vv_sim_group_world_result *result,
                            char wrong[160]) {
  struct vv_sim_group_world world;
  open_world(&world, config);
  turn_world(&world);
  conclude(&world, result);
  memcpy(wrong, world.wrong, sizeof world.wrong);
  close_world(&world);
  return wrong[0] == '\0';
}

/* All send one frame, at once. */
static vv_ns raw_round_ns(const struct vv_sim_group_config *config) {
  struct vv_lan_config lan_config = lan_config_of(config);
  struct vv_lan lan;
  void *memory = vv_sim_memory_must(malloc(vv_lan_bytes(&lan_config)));
  uint32_t bytes = (uint32_t)vv_sim_group_config_part_bytes(config, 0, 0) + UDP_BYTES;
  vv_ns last_ns = 0;
  vv_lan_init(&lan, memory, &lan_config);
  for (uint32_t i = 0; i < config->ranks; i++) {
    vv_lan_send(&lan, 0, &(struct vv_lan_frame){.source = i, .destination = VV_LAN_EVERYBODY, .data_bytes = bytes});
  }
  struct vv_lan_event event;
  for (vv_ns now_ns = 0; now_ns != VV_NEVER; now_ns = vv_lan_next_ns(&lan)) {
    while (vv_lan_take(&lan, now_ns, &event)) {
      if (event.kind == VV_LAN_DELIVERED) last_ns = event.ns;
    }
  }
  free(memory);
  return last_ns + config->wake_ns;
}

vv_ns vv_sim_group_world_raw_ns(const struct vv_sim_group_config *config) {
  if (config->rounds && !config->mixed) return raw_round_ns(config);
  struct vv_sim_group_config two = *config;
  two.ranks = 2; /* a good LAN brings a frame to every receiver at once */
  struct vv_lan_config lan_config = lan_config_of(&two);
  struct vv_lan lan;
  void *memory = vv_sim_memory_must(malloc(vv_lan_bytes(&lan_config)));
  vv_lan_init(&lan, memory, &lan_config);
  uint64_t left = config->size_bytes;
  vv_ns now_ns = 0, last_ns = 0;
  bool first = true;
  for (struct vv_lan_event event; now_ns != VV_NEVER; now_ns = vv_lan_next_ns(&lan)) {
    while (vv_lan_take(&lan, now_ns, &event)) {
      if (event.kind == VV_LAN_DELIVERED) last_ns = event.ns;
    }
    while (left > 0 || first) {
      uint64_t bytes = left < config->datagram_bytes ? left : config->datagram_bytes;
      struct vv_lan_frame frame = {.destination = VV_LAN_EVERYBODY, .data_bytes = (uint32_t)bytes + UDP_BYTES};
      if (!vv_lan_send(&lan, now_ns, &frame)) break;
      left -= bytes;
      first = false;
    }
  }
  free(memory);
  return last_ns + config->wake_ns;
}
