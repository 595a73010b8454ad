/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/switch.h"

#include <assert.h>

#include "core/base/carve.h"
#include "core/ethernet/eth.h"

static uint32_t *lay_out(struct vv_switch *sw, struct vv_carve *carve, void **heap) {
  size_t n = sw->config.stations;
  sw->lines = vv_carve(carve, 2 * n * sizeof *sw->lines);
  sw->known_ns = vv_carve(carve, n * sizeof *sw->known_ns);
  *heap = vv_carve(carve, vv_heap_bytes(2 * sw->config.stations));
  return vv_carve(carve, n * ((size_t)sw->config.host_frames + sw->config.port_frames) * sizeof(uint32_t));
}

size_t vv_switch_bytes(const struct vv_switch_config *config) {
  struct vv_switch sw = {.config = *config};
  struct vv_carve carve = {0};
  void *heap;
  lay_out(&sw, &carve, &heap);
  return carve.used_bytes;
}

void vv_switch_init(struct vv_switch *sw, void *memory, const struct vv_switch_config *config) {
  assert(config->stations >= 1 && config->host_frames >= 1 && config->port_frames >= 1 && config->rate_bps > 0);
  *sw = (struct vv_switch){.config = *config};
  struct vv_carve carve = {.memory = memory};
  void *heap;
  uint32_t *values = lay_out(sw, &carve, &heap), n = config->stations;
  vv_heap_init(&sw->timers, heap, 2 * n);
  for (uint32_t i = 0; i < 2 * n; i++) {
    uint32_t room = i < n ? config->host_frames : config->port_frames;
    sw->lines[i] = (struct vv_switch_line){.queue = {.values = values, .room = room}};
    values += room;
  }
  for (uint32_t i = 0; i < n; i++) sw->known_ns[i] = 0;
}

/* The first frame of the queue begins as soon as the gap behind the one before it allows. */
static void start(struct vv_switch *sw, vv_ns now_ns, uint32_t line) {
  struct vv_switch_line *its = &sw->lines[line];
  uint32_t bytes = sw->config.wire_bytes[vv_ring_first(&its->queue)];
  vv_ns start_ns = its->free_ns > now_ns ? its->free_ns : now_ns;
  its->free_ns = start_ns + vv_eth_ns(bytes, sw->config.rate_bps);
  vv_heap_set(&sw->timers, line, start_ns + vv_eth_ns(bytes - VV_ETH_GAP_BYTES, sw->config.rate_bps));
}

bool vv_switch_send(struct vv_switch *sw, vv_ns now_ns, uint32_t line, uint32_t frame) {
  assert(line < 2 * sw->config.stations && vv_switch_next_ns(sw) >= now_ns);
  struct vv_ring *queue = &sw->lines[line].queue;
  if (!vv_ring_push(queue, frame)) return false;
  if (queue->count == 1) start(sw, now_ns, line);
  return true;
}

void vv_switch_learn(struct vv_switch *sw, vv_ns now_ns, uint32_t station) {
  sw->known_ns[station] = now_ns + sw->config.ageing_ns;
}

bool vv_switch_knows(const struct vv_switch *sw, vv_ns now_ns, uint32_t station) {
  return now_ns < sw->known_ns[station];
}

vv_ns vv_switch_next_ns(const struct vv_switch *sw) {
  return vv_heap_next_ns(&sw->timers);
}

bool vv_switch_take(struct vv_switch *sw, vv_ns now_ns, struct vv_switch_event *event) {
  vv_ns next_ns = vv_switch_next_ns(sw);
  if (next_ns > now_ns || next_ns == VV_NEVER) return false;
  uint32_t line = vv_heap_next(&sw->timers);
  struct vv_switch_line *its = &sw->lines[line];
  *event = (struct vv_switch_event){line, vv_ring_pop(&its->queue), next_ns};
  its->sent++;
  vv_heap_set(&sw->timers, line, VV_NEVER);
  if (its->queue.count > 0) start(sw, next_ns, line);
  return true;
}
