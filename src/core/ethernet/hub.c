/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/hub.h"

#include <assert.h>

#include "core/base/carve.h"
#include "core/ethernet/eth.h"

enum { RANDOM_BITS = 64 }; /* of one number of a vv_rng */
enum { NO_FRAME = UINT32_MAX, NOBODY = UINT32_MAX };

enum {
  PREAMBLE_BITS = 8 * VV_ETH_PREAMBLE_BYTES,
  GAP_BITS = 8 * VV_ETH_GAP_BYTES,
  GAP_LAST_PART_BITS = GAP_BITS / 3,
  REACH_BITS_MAX = 512,
  /* A signal is a preamble and a jam at least, and a gap follows it: so many edges of one station are on their way. */
  EDGES_PER_STATION = 2 * (REACH_BITS_MAX / (PREAMBLE_BITS + VV_HUB_JAM_BITS + GAP_BITS) + 2),
};

static uint32_t *lay_out(struct vv_hub *hub, struct vv_carve *carve, void **heap) {
  uint32_t n = hub->config.stations;
  hub->edges_room = n * EDGES_PER_STATION;
  hub->stations = vv_carve(carve, n * sizeof *hub->stations);
  hub->waiting.members = vv_carve(carve, n * sizeof(uint32_t));
  hub->sending.members = vv_carve(carve, n * sizeof(uint32_t));
  hub->edges = vv_carve(carve, hub->edges_room * sizeof *hub->edges);
  *heap = vv_carve(carve, vv_heap_bytes(n));
  return vv_carve(carve, (size_t)n * hub->config.queue_frames * sizeof(uint32_t));
}

size_t vv_hub_bytes(const struct vv_hub_config *config) {
  struct vv_hub hub = {.config = *config};
  struct vv_carve carve = {0};
  void *heap;
  lay_out(&hub, &carve, &heap);
  return carve.used_bytes;
}

void vv_hub_init(struct vv_hub *hub, void *memory, const struct vv_hub_config *config) {
  assert(config->stations >= 1 && config->queue_frames >= 1);
  assert(config->rate_bps == 10000000 || config->rate_bps == 100000000);
  *hub = (struct vv_hub){.config = *config, .alone = NOBODY, .bit_ns = (vv_ns)(VV_SEC / config->rate_bps)};
  assert(config->reach_ns <= REACH_BITS_MAX * hub->bit_ns);
  struct vv_carve carve = {.memory = memory};
  struct vv_rng seeds = {.state = config->seed};
  void *heap;
  uint32_t *values = lay_out(hub, &carve, &heap);
  vv_heap_init(&hub->timers, heap, config->stations);
  for (uint32_t i = 0; i < config->stations; i++) {
    hub->stations[i] = (struct vv_hub_station){
        .queue = {.values = values + (size_t)i * config->queue_frames, .room = config->queue_frames},
        .rng = {.state = vv_rng_next(&seeds)},
    };
  }
}

static void join(struct vv_hub *hub, struct vv_hub_set *set, uint32_t who) {
  hub->stations[who].place = set->count;
  set->members[set->count++] = who;
}

static void leave(struct vv_hub *hub, struct vv_hub_set *set, uint32_t who) {
  uint32_t last = set->members[--set->count], place = hub->stations[who].place;
  set->members[place] = last;
  hub->stations[last].place = place;
}

static void push_edge(struct vv_hub *hub, vv_ns now_ns, uint32_t who, bool rise, uint32_t frame) {
  assert(hub->edges_count < hub->edges_room);
  uint32_t place = (hub->edges_first + hub->edges_count++) % hub->edges_room;
  hub->edges[place] = (struct vv_hub_edge){now_ns + hub->config.reach_ns, who, frame, rise};
}

static bool hears_others(const struct vv_hub *hub, uint32_t who) {
  return hub->heard > (hub->stations[who].heard ? 1 : 0);
}

/* When the gap is over for a station that hears nobody. */
static uint64_t gap_end(const struct vv_hub *hub, uint32_t who) {
  vv_ns others_ns = who == hub->alone ? hub->alone_ns : hub->gap_ns, own_ns = hub->stations[who].gap_ns;
  return others_ns > own_ns ? others_ns : own_ns;
}

static void collide(struct vv_hub *hub, vv_ns now_ns, uint32_t who) {
  struct vv_hub_station *station = &hub->stations[who];
  vv_ns preamble_ns = station->start_ns + PREAMBLE_BITS * hub->bit_ns;
  station->state = VV_HUB_JAMMING;
  leave(hub, &hub->sending, who);
  station->counts.collisions++;
  if (now_ns - station->start_ns > VV_HUB_SLOT_BITS * hub->bit_ns) station->counts.late++;
  vv_heap_set(&hub->timers, who, (now_ns > preamble_ns ? now_ns : preamble_ns) + VV_HUB_JAM_BITS * hub->bit_ns);
}

static void start(struct vv_hub *hub, vv_ns now_ns, uint32_t who) {
  struct vv_hub_station *station = &hub->stations[who];
  uint32_t signal_bytes = hub->config.wire_bytes[vv_ring_first(&station->queue)] - VV_ETH_GAP_BYTES;
  leave(hub, &hub->waiting, who);
  join(hub, &hub->sending, who);
  station->state = VV_HUB_SENDING;
  station->start_ns = now_ns;
  station->attempts++;
  station->counts.attempts++;
  vv_heap_set(&hub->timers, who, now_ns + 8u * signal_bytes * hub->bit_ns);
  push_edge(hub, now_ns, who, true, NO_FRAME);
  if (hears_others(hub, who)) collide(hub, now_ns, who);
}

/* A frame wants to go: now, after the gap, or when the medium falls silent, which is seen to when it does. */
static void wait_turn(struct vv_hub *hub, vv_ns now_ns, uint32_t who) {
  hub->stations[who].state = VV_HUB_WAITING;
  join(hub, &hub->waiting, who);
  if (hears_others(hub, who)) return;
  vv_ns turn_ns = gap_end(hub, who);
  vv_heap_set(&hub->timers, who, turn_ns > now_ns ? turn_ns : now_ns);
}

bool vv_hub_send(struct vv_hub *hub, vv_ns now_ns, uint32_t station, uint32_t frame) {
  assert(station < hub->config.stations && vv_hub_next_ns(hub) >= now_ns);
  if (!vv_ring_push(&hub->stations[station].queue, frame)) return false;
  if (hub->stations[station].state == VV_HUB_IDLE) wait_turn(hub, now_ns, station);
  return true;
}

static void next_frame(struct vv_hub *hub, vv_ns now_ns, uint32_t who) {
  struct vv_hub_station *station = &hub->stations[who];
  vv_ring_pop(&station->queue);
  station->attempts = 0;
  station->state = VV_HUB_IDLE;
  if (station->queue.count > 0) wait_turn(hub, now_ns, who);
}

static void end_signal(struct vv_hub *hub, vv_ns now_ns, uint32_t who, uint32_t frame) {
  hub->stations[who].gap_ns = now_ns + GAP_BITS * hub->bit_ns;
  push_edge(hub, now_ns, who, false, frame);
}

static void end_frame(struct vv_hub *hub, vv_ns now_ns, uint32_t who) {
  struct vv_hub_station *station = &hub->stations[who];
  leave(hub, &hub->sending, who);
  station->counts.sent++;
  end_signal(hub, now_ns, who, vv_ring_first(&station->queue));
  next_frame(hub, now_ns, who);
}

/* True when the frame is given up. */
static bool end_jam(struct vv_hub *hub, vv_ns now_ns, uint32_t who, struct vv_hub_event *event) {
  struct vv_hub_station *station = &hub->stations[who];
  end_signal(hub, now_ns, who, NO_FRAME);
  if (station->attempts == VV_HUB_ATTEMPTS_MAX) {
    station->counts.excessive++;
    *event = (struct vv_hub_event){VV_HUB_ABANDONED, who, vv_ring_first(&station->queue), now_ns};
    next_frame(hub, now_ns, who);
    return true;
  }
  unsigned doublings = station->attempts < VV_HUB_BACKOFF_LIMIT ? station->attempts : VV_HUB_BACKOFF_LIMIT;
  uint64_t slots = vv_rng_next(&station->rng) >> (RANDOM_BITS - doublings);
  station->state = VV_HUB_BACKING_OFF;
  vv_heap_set(&hub->timers, who, now_ns + slots * VV_HUB_SLOT_BITS * hub->bit_ns);
  return false;
}

static bool timer(struct vv_hub *hub, struct vv_hub_event *event) {
  vv_ns now_ns = vv_heap_next_ns(&hub->timers);
  uint32_t who = vv_heap_next(&hub->timers);
  vv_heap_set(&hub->timers, who, VV_NEVER);
  switch (hub->stations[who].state) {
  case VV_HUB_WAITING:
    start(hub, now_ns, who);
    return false;
  case VV_HUB_SENDING:
    end_frame(hub, now_ns, who);
    return false;
  case VV_HUB_JAMMING:
    return end_jam(hub, now_ns, who, event);
  case VV_HUB_BACKING_OFF:
    wait_turn(hub, now_ns, who);
    return false;
  case VV_HUB_IDLE:
    break;
  }
  assert(false);
  return false;
}

static void carrier_on(struct vv_hub *hub, vv_ns now_ns, uint32_t who) {
  vv_ns turn_ns = vv_heap_get(&hub->timers, who);
  bool ignored = turn_ns != VV_NEVER && now_ns + GAP_LAST_PART_BITS * hub->bit_ns >= turn_ns;
  if (!ignored) vv_heap_set(&hub->timers, who, VV_NEVER);
}

static bool waits(const struct vv_hub *hub, uint32_t who) {
  return hub->stations[who].state == VV_HUB_WAITING;
}

static void rise(struct vv_hub *hub, const struct vv_hub_edge *edge) {
  uint32_t who = edge->station, before = hub->heard++, only = hub->heard_xor;
  hub->heard_xor ^= who;
  hub->stations[who].heard = true;
  hub->stations[who].clean = before == 0;
  if (before == 1) {
    hub->stations[only].clean = false;
    hub->collisions++;
    if (waits(hub, only)) carrier_on(hub, edge->ns, only);
  }
  for (uint32_t i = 0; before == 0 && i < hub->waiting.count; i++) {
    if (hub->waiting.members[i] != who) carrier_on(hub, edge->ns, hub->waiting.members[i]);
  }
  for (uint32_t i = hub->sending.count; i-- > 0;) { /* backwards: who collides leaves, and the last takes its place */
    if (hub->sending.members[i] != who) collide(hub, edge->ns, hub->sending.members[i]);
  }
}

/* Silence for one station alone, whose own signal is still at the others, or for all others. */
static void silence(struct vv_hub *hub, vv_ns now_ns, uint32_t last) {
  vv_ns gap_ns = now_ns + GAP_BITS * hub->bit_ns;
  if (hub->heard == 1) {
    hub->alone = hub->heard_xor;
    hub->alone_ns = gap_ns;
    if (waits(hub, hub->alone)) vv_heap_set(&hub->timers, hub->alone, gap_end(hub, hub->alone));
    return;
  }
  if (hub->alone != last) hub->alone_ns = hub->gap_ns;
  hub->alone = last;
  hub->gap_ns = gap_ns;
  for (uint32_t i = 0; i < hub->waiting.count; i++) {
    uint32_t who = hub->waiting.members[i];
    if (who != last) vv_heap_set(&hub->timers, who, gap_end(hub, who));
  }
}

static bool fall(struct vv_hub *hub, const struct vv_hub_edge *edge, struct vv_hub_event *event) {
  struct vv_hub_station *station = &hub->stations[edge->station];
  hub->heard--;
  hub->heard_xor ^= edge->station;
  station->heard = false;
  if (hub->heard <= 1) silence(hub, edge->ns, edge->station);
  if (edge->frame == NO_FRAME) return false;
  enum vv_hub_happening what = station->clean ? VV_HUB_HEARD : VV_HUB_GARBLED;
  *event = (struct vv_hub_event){what, edge->station, edge->frame, edge->ns};
  return true;
}

static bool pass_edge(struct vv_hub *hub, struct vv_hub_event *event) {
  struct vv_hub_edge edge = hub->edges[hub->edges_first];
  hub->edges_first = (hub->edges_first + 1) % hub->edges_room;
  hub->edges_count--;
  if (!edge.rise) return fall(hub, &edge, event);
  rise(hub, &edge);
  return false;
}

static vv_ns next_edge_ns(const struct vv_hub *hub) {
  return hub->edges_count > 0 ? hub->edges[hub->edges_first].ns : VV_NEVER;
}

vv_ns vv_hub_next_ns(const struct vv_hub *hub) {
  vv_ns timer_ns = vv_heap_next_ns(&hub->timers), edge_ns = next_edge_ns(hub);
  return timer_ns < edge_ns ? timer_ns : edge_ns;
}

bool vv_hub_take(struct vv_hub *hub, vv_ns now_ns, struct vv_hub_event *event) {
  vv_ns next_ns;
  while ((next_ns = vv_hub_next_ns(hub)) <= now_ns && next_ns != VV_NEVER) {
    /* Stations first: what reaches one at the very time it begins was not there yet when it looked. */
    bool told = vv_heap_next_ns(&hub->timers) == next_ns ? timer(hub, event) : pass_edge(hub, event);
    if (told) return true;
  }
  return false;
}
