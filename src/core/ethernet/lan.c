/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/lan.h"

#include <assert.h>

#include "core/base/carve.h"
#include "core/ethernet/eth.h"

enum { TO_FABRIC = UINT32_MAX };

static struct vv_hub_config hub_config(const struct vv_lan *lan) {
  const struct vv_lan_config *config = &lan->config;
  return (struct vv_hub_config){config->stations, config->host_frames, config->rate_bps,
                                config->reach_ns, lan->wire_bytes,     config->seed};
}

static struct vv_switch_config switch_config(const struct vv_lan *lan) {
  const struct vv_lan_config *config = &lan->config;
  return (struct vv_switch_config){config->stations, config->host_frames, config->port_frames,
                                   config->rate_bps, config->ageing_ns,   lan->wire_bytes};
}

struct lan_parts {
  void *arrivals;
  void *fabric;
};

static struct lan_parts lay_out(struct vv_lan *lan, struct vv_carve *carve) {
  const struct vv_lan_config *config = &lan->config;
  lan->faults = vv_carve(carve, 2 * (size_t)config->stations * sizeof *lan->faults);
  lan->slots = vv_carve(carve, config->frames * sizeof *lan->slots);
  lan->wire_bytes = vv_carve(carve, config->frames * sizeof *lan->wire_bytes);
  lan->free_slots.numbers = vv_carve(carve, config->frames * sizeof(uint32_t));
  lan->done_slots.values = vv_carve(carve, config->frames * sizeof(uint32_t));
  lan->flights = vv_carve(carve, config->flights * sizeof *lan->flights);
  lan->free_flights.numbers = vv_carve(carve, config->flights * sizeof(uint32_t));
  struct lan_parts parts = {.arrivals = vv_carve(carve, vv_heap_bytes(config->flights))};
  struct vv_hub_config hub = hub_config(lan);
  struct vv_switch_config sw = switch_config(lan);
  parts.fabric = vv_carve(carve, config->fabric == VV_LAN_HUB ? vv_hub_bytes(&hub) : vv_switch_bytes(&sw));
  return parts;
}

size_t vv_lan_bytes(const struct vv_lan_config *config) {
  struct vv_lan lan = {.config = *config};
  struct vv_carve carve = {0};
  lay_out(&lan, &carve);
  return carve.used_bytes;
}

static void give_back(struct vv_lan_free *free, uint32_t number) {
  free->numbers[free->count++] = number;
}

static uint32_t take_one(struct vv_lan_free *free) {
  return free->numbers[--free->count];
}

static void fill(struct vv_lan_free *free, uint32_t room) {
  for (uint32_t i = room; i > 0; i--) give_back(free, i - 1);
}

void vv_lan_init(struct vv_lan *lan, void *memory, const struct vv_lan_config *config) {
  assert(config->stations >= 2 && config->stations <= 1u << 20 && config->flights >= 2 * config->stations);
  *lan = (struct vv_lan){.config = *config};
  struct vv_carve carve = {.memory = memory};
  struct lan_parts parts = lay_out(lan, &carve);
  struct vv_hub_config hub = hub_config(lan);
  struct vv_switch_config sw = switch_config(lan);
  fill(&lan->free_slots, config->frames);
  fill(&lan->free_flights, config->flights);
  lan->done_slots.room = config->frames;
  vv_heap_init(&lan->arrivals, parts.arrivals, config->flights);
  for (uint32_t i = 0; i < 2 * config->stations; i++) vv_faults_init(&lan->faults[i], config->seed, i);
  if (config->fabric == VV_LAN_HUB) {
    vv_hub_init(&lan->hub, parts.fabric, &hub);
  } else {
    vv_switch_init(&lan->sw, parts.fabric, &sw);
  }
}

static struct vv_faults *faults_of(struct vv_lan *lan, uint32_t station, enum vv_lan_way way) {
  assert(station < lan->config.stations);
  return &lan->faults[way == VV_LAN_OUT ? station : lan->config.stations + station];
}

void vv_lan_faults(struct vv_lan *lan, uint32_t station, enum vv_lan_way way, const struct vv_faults_config *config) {
  faults_of(lan, station, way)->config = *config;
}

void vv_lan_cut(struct vv_lan *lan, uint32_t station, bool cut) {
  faults_of(lan, station, VV_LAN_OUT)->cut = cut;
  faults_of(lan, station, VV_LAN_IN)->cut = cut;
}

static bool is_group(const struct vv_lan_frame *frame) {
  return frame->destination >= VV_LAN_GROUP;
}

static uint32_t receivers(const struct vv_lan *lan, const struct vv_lan_frame *frame) {
  return is_group(frame) ? lan->config.stations - 1 : 1;
}

static bool has_room(const struct vv_lan *lan, uint32_t station) {
  bool hub = lan->config.fabric == VV_LAN_HUB;
  const struct vv_ring *queue = hub ? &lan->hub.stations[station].queue : &lan->sw.lines[station].queue;
  return queue->count < queue->room && lan->free_slots.count > 0;
}

bool vv_lan_send(struct vv_lan *lan, vv_ns now_ns, const struct vv_lan_frame *frame) {
  assert(frame->source < lan->config.stations && frame->destination != frame->source);
  assert(is_group(frame) || frame->destination < lan->config.stations);
  assert(now_ns >= lan->now_ns && vv_lan_next_ns(lan) >= now_ns);
  if (!has_room(lan, frame->source)) return false;
  uint32_t slot = take_one(&lan->free_slots);
  lan->now_ns = now_ns;
  lan->slots[slot] = (struct vv_lan_slot){.frame = *frame, .held = 1};
  lan->wire_bytes[slot] = vv_eth_wire_bytes(frame->data_bytes, frame->tagged);
  lan->counts.sent++;
  lan->counts.expected += receivers(lan, frame);
  if (lan->config.fabric == VV_LAN_HUB) return vv_hub_send(&lan->hub, now_ns, frame->source, slot);
  return vv_switch_send(&lan->sw, now_ns, frame->source, slot);
}

static void let_go(struct vv_lan *lan, uint32_t slot) {
  if (--lan->slots[slot].held == 0) vv_ring_push(&lan->done_slots, slot);
}

/* Sends a copy along a cable, whatever its faults make of it; `worth` deliveries hang on it. */
static void fly(struct vv_lan *lan, vv_ns due_ns, struct vv_faults *faults, struct vv_lan_flight flight,
                uint32_t worth) {
  struct vv_faults_fate fate = vv_faults_decide(faults, due_ns);
  if (fate.copies == 0) lan->counts.dropped[fate.why] += worth;
  if (fate.copies == 2) lan->counts.duplicated += worth;
  for (uint32_t i = 0; i < fate.copies; i++) {
    if (lan->free_flights.count == 0) {
      lan->counts.dropped[VV_DROP_ROOM] += worth;
      continue;
    }
    uint32_t number = take_one(&lan->free_flights);
    lan->flights[number] = flight;
    lan->slots[flight.slot].held++;
    vv_heap_set(&lan->arrivals, number, fate.arrives_ns);
  }
}

/* The frame has left its station, and comes to the fabric unless its cable fails. */
static void leave_station(struct vv_lan *lan, vv_ns due_ns, uint32_t slot) {
  const struct vv_lan_frame *frame = &lan->slots[slot].frame;
  struct vv_lan_flight flight = {slot, TO_FABRIC};
  fly(lan, due_ns, faults_of(lan, frame->source, VV_LAN_OUT), flight, receivers(lan, frame));
  let_go(lan, slot);
}

static void go_to_station(struct vv_lan *lan, vv_ns due_ns, uint32_t slot, uint32_t station) {
  fly(lan, due_ns, faults_of(lan, station, VV_LAN_IN), (struct vv_lan_flight){slot, station}, 1);
}

/* A port without room loses the delivery that hangs on it; a copy that floods past its receiver is worth none. */
static void go_to_port(struct vv_lan *lan, vv_ns now_ns, uint32_t slot, uint32_t station) {
  const struct vv_lan_frame *frame = &lan->slots[slot].frame;
  if (vv_switch_send(&lan->sw, now_ns, lan->config.stations + station, slot)) {
    lan->slots[slot].held++;
  } else if (is_group(frame) || frame->destination == station) {
    lan->counts.dropped[VV_DROP_QUEUE]++;
  }
}

static void forward(struct vv_lan *lan, vv_ns now_ns, uint32_t slot, uint32_t station) {
  if (lan->config.fabric == VV_LAN_HUB) {
    go_to_station(lan, now_ns, slot, station);
  } else {
    go_to_port(lan, now_ns, slot, station);
  }
}

static void enter_fabric(struct vv_lan *lan, vv_ns now_ns, uint32_t slot) {
  const struct vv_lan_frame *frame = &lan->slots[slot].frame;
  bool alone = !is_group(frame);
  if (lan->config.fabric == VV_LAN_SWITCH) {
    bool flood = alone && !vv_switch_knows(&lan->sw, now_ns, frame->destination);
    vv_switch_learn(&lan->sw, now_ns, frame->source);
    if (flood) lan->counts.flooded++;
    alone = alone && !flood;
  }
  if (alone) {
    forward(lan, now_ns, slot, frame->destination);
    return;
  }
  for (uint32_t i = 0; i < lan->config.stations; i++) {
    if (i != frame->source) forward(lan, now_ns, slot, i);
  }
}

static void hub_event(struct vv_lan *lan, const struct vv_hub_event *event) {
  uint32_t worth = receivers(lan, &lan->slots[event->frame].frame);
  if (event->what == VV_HUB_HEARD) {
    leave_station(lan, event->ns, event->frame);
    return;
  }
  lan->counts.dropped[event->what == VV_HUB_GARBLED ? VV_DROP_GARBLED : VV_DROP_COLLISIONS] += worth;
  let_go(lan, event->frame);
}

static void switch_event(struct vv_lan *lan, const struct vv_switch_event *event) {
  const struct vv_lan_frame *frame = &lan->slots[event->frame].frame;
  vv_ns due_ns = event->ns + lan->config.reach_ns;
  if (event->line < lan->config.stations) {
    leave_station(lan, due_ns + lan->config.forward_ns, event->frame);
    return;
  }
  uint32_t station = event->line - lan->config.stations;
  if (is_group(frame) || frame->destination == station) go_to_station(lan, due_ns, event->frame, station);
  let_go(lan, event->frame);
}

static vv_ns fabric_next_ns(const struct vv_lan *lan) {
  return lan->config.fabric == VV_LAN_HUB ? vv_hub_next_ns(&lan->hub) : vv_switch_next_ns(&lan->sw);
}

static void turn_fabric(struct vv_lan *lan, vv_ns now_ns) {
  struct vv_hub_event heard;
  struct vv_switch_event there;
  if (lan->config.fabric == VV_LAN_HUB) {
    if (vv_hub_take(&lan->hub, now_ns, &heard)) hub_event(lan, &heard);
  } else {
    if (vv_switch_take(&lan->sw, now_ns, &there)) switch_event(lan, &there);
  }
}

/* True when a station has got a frame. */
static bool land(struct vv_lan *lan, vv_ns now_ns, struct vv_lan_event *event) {
  uint32_t number = vv_heap_next(&lan->arrivals);
  struct vv_lan_flight flight = lan->flights[number];
  vv_heap_set(&lan->arrivals, number, VV_NEVER);
  give_back(&lan->free_flights, number);
  bool delivered = flight.to != TO_FABRIC;
  if (delivered) {
    lan->counts.delivered++;
    *event = (struct vv_lan_event){VV_LAN_DELIVERED, now_ns, flight.to, lan->slots[flight.slot].frame};
  } else {
    enter_fabric(lan, now_ns, flight.slot);
  }
  let_go(lan, flight.slot);
  return delivered;
}

vv_ns vv_lan_next_ns(const struct vv_lan *lan) {
  if (lan->done_slots.count > 0) return lan->now_ns;
  vv_ns fabric_ns = fabric_next_ns(lan), arrival_ns = vv_heap_next_ns(&lan->arrivals);
  return fabric_ns < arrival_ns ? fabric_ns : arrival_ns;
}

bool vv_lan_take(struct vv_lan *lan, vv_ns now_ns, struct vv_lan_event *event) {
  vv_ns next_ns;
  while ((next_ns = vv_lan_next_ns(lan)) <= now_ns && next_ns != VV_NEVER) {
    if (lan->done_slots.count > 0) {
      uint32_t slot = vv_ring_pop(&lan->done_slots);
      *event = (struct vv_lan_event){VV_LAN_DONE, lan->now_ns, 0, lan->slots[slot].frame};
      give_back(&lan->free_slots, slot);
      return true;
    }
    lan->now_ns = next_ns;
    if (fabric_next_ns(lan) == next_ns) {
      turn_fabric(lan, next_ns);
    } else if (land(lan, next_ns, event)) {
      return true;
    }
  }
  return false;
}
