/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole LAN: what must hold whatever the seed, fabric, traffic and faults; and what fabrics are told apart by. */
#include "core/ethernet/lan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ethernet/eth.h"
#include "core/ethernet/message.h"

static struct vv_lan_config plain(enum vv_lan_fabric fabric, uint32_t stations, uint64_t rate_bps) {
  return (struct vv_lan_config){
      .fabric = fabric,
      .stations = stations,
      .rate_bps = rate_bps,
      .ageing_ns = 300 * VV_SEC,
      .host_frames = 100,
      .port_frames = 100,
      .frames = 4000,
      .flights = 4 * stations + 1000,
      .seed = 1,
  };
}

static void set_up(struct vv_lan *lan, struct vv_lan_config config) {
  vv_lan_init(lan, malloc(vv_lan_bytes(&config)), &config);
}

static void tear_down(struct vv_lan *lan) {
  free(lan->faults);
}

static bool send(struct vv_lan *lan, vv_ns now_ns, uint32_t source, uint32_t destination, uint32_t data_bytes) {
  return vv_lan_send(lan, now_ns,
                     &(struct vv_lan_frame){.source = source, .destination = destination, .data_bytes = data_bytes});
}

/* The next delivery, however late. */
static bool deliver(struct vv_lan *lan, struct vv_lan_event *event) {
  while (vv_lan_take(lan, VV_NEVER - 1, event)) {
    if (event->kind == VV_LAN_DELIVERED) return true;
  }
  return false;
}

static uint64_t drain(struct vv_lan *lan) {
  struct vv_lan_event event;
  vv_ns last_ns = 0;
  while (deliver(lan, &event)) last_ns = event.ns;
  assert_int_equal(vv_lan_next_ns(lan), VV_NEVER);
  return last_ns;
}

static uint64_t dropped(const struct vv_lan *lan) {
  uint64_t sum = 0;
  for (int why = 0; why < VV_DROPS; why++) sum += lan->counts.dropped[why];
  return sum;
}

/* The formula of the wire counts the gap behind the last frame of each hop; its receiver does not wait for that. */
static void test_a_message_takes_the_time_of_the_formula(void **state) {
  (void)state;
  for (uint32_t frames = 1; frames <= 45; frames++) {
    struct vv_message_cost cost = vv_message_cost(VV_PATH_UDP, 1472 + 1480 * (frames - 1), 1500);
    assert_int_equal(cost.frames, frames);
    for (unsigned hops = 1; hops <= 2; hops++) {
      struct vv_lan lan;
      set_up(&lan, plain(hops == 1 ? VV_LAN_HUB : VV_LAN_SWITCH, 3, 100000000));
      for (uint32_t i = 0; i < frames; i++) assert_true(send(&lan, 0, 0, 2, 1500));
      assert_int_equal(drain(&lan) + hops * 960, vv_message_ns(&cost, 100000000, hops));
      tear_down(&lan);
    }
  }
}

static void test_cables_and_switches_take_their_time(void **state) {
  (void)state;
  struct vv_lan lan;
  struct vv_lan_config config = plain(VV_LAN_SWITCH, 2, 1000000000);
  config.reach_ns = 500;
  config.forward_ns = 3000;
  set_up(&lan, config);
  assert_true(send(&lan, 0, 0, 1, 46));
  assert_int_equal(drain(&lan), 2 * (72 * 8 + 500) + 3000);
  tear_down(&lan);
}

/* As much traffic of each pair (2i, 2i + 1) as it can have for a second: bytes delivered, with all overhead. */
static uint64_t saturate_pairs(enum vv_lan_fabric fabric, uint32_t pairs) {
  struct vv_lan lan;
  struct vv_lan_event event;
  uint64_t bytes = 0;
  set_up(&lan, plain(fabric, 2 * pairs, 10000000));
  for (uint32_t i = 0; i < 2 * pairs; i += 2) {
    assert_true(send(&lan, 0, i + 1, i, 46)); /* so that the switch knows where everybody is */
    for (uint32_t k = 0; k < 9; k++) assert_true(send(&lan, 0, i, i + 1, 1500));
  }
  while (vv_lan_next_ns(&lan) <= VV_SEC && vv_lan_take(&lan, VV_SEC, &event)) {
    if (event.kind == VV_LAN_DELIVERED) bytes += vv_eth_wire_bytes(event.frame.data_bytes, false);
    if (event.kind == VV_LAN_DONE && event.frame.data_bytes == 1500) {
      assert_true(vv_lan_send(&lan, event.ns, &event.frame));
    }
  }
  /* Who captures a hub makes others give up. */
  assert_int_equal(dropped(&lan), fabric == VV_LAN_HUB ? lan.counts.dropped[VV_DROP_COLLISIONS] : 0);
  tear_down(&lan);
  return bytes;
}

static void test_a_switch_isolates_pairs_and_a_hub_shares(void **state) {
  (void)state;
  uint64_t line_bytes = 10000000 / 8;
  assert_in_range(saturate_pairs(VV_LAN_HUB, 1), line_bytes * 98 / 100, line_bytes);
  assert_in_range(saturate_pairs(VV_LAN_SWITCH, 1), line_bytes * 99 / 100, line_bytes + 84);
  assert_in_range(saturate_pairs(VV_LAN_HUB, 4), line_bytes * 90 / 100, line_bytes);
  assert_in_range(saturate_pairs(VV_LAN_SWITCH, 4), 4 * line_bytes * 99 / 100, 4 * (line_bytes + 84));
}

/* 100 broadcasts take as long to reach 1999 receivers as one. */
static void test_a_broadcast_takes_the_wire_once(void **state) {
  (void)state;
  for (int fabric = VV_LAN_HUB; fabric <= VV_LAN_SWITCH; fabric++) {
    vv_ns took_ns = 0;
    static const uint32_t sizes[] = {2, 16, 2000};
    for (size_t i = 0; i < 3; i++) {
      struct vv_lan lan;
      set_up(&lan, plain((enum vv_lan_fabric)fabric, sizes[i], 10000000));
      for (uint32_t k = 0; k < 100; k++) assert_true(send(&lan, 0, 0, VV_LAN_EVERYBODY, 1500));
      vv_ns last_ns = drain(&lan);
      if (took_ns == 0) took_ns = last_ns;
      assert_int_equal(last_ns, took_ns);
      assert_int_equal(lan.counts.delivered, 100 * (sizes[i] - 1));
      if (fabric == VV_LAN_HUB) assert_int_equal(lan.hub.stations[0].counts.sent, 100);
      if (fabric == VV_LAN_SWITCH) assert_int_equal(lan.sw.lines[0].sent, 100);
      tear_down(&lan);
    }
  }
}

static void test_a_switch_floods_until_it_knows(void **state) {
  (void)state;
  struct vv_lan lan;
  struct vv_lan_config config = plain(VV_LAN_SWITCH, 5, 100000000);
  config.ageing_ns = VV_SEC;
  set_up(&lan, config);
  assert_true(send(&lan, 0, 0, 3, 100));
  drain(&lan);
  vv_ns now_ns = lan.now_ns;
  assert_int_equal(lan.counts.flooded, 1);
  for (uint32_t port = 1; port < 5; port++) assert_int_equal(lan.sw.lines[5 + port].sent, 1);
  assert_int_equal(lan.counts.delivered, 1);
  assert_true(send(&lan, now_ns, 3, 0, 100)); /* 0 was heard */
  drain(&lan);
  now_ns = lan.now_ns;
  assert_true(send(&lan, now_ns, 0, 3, 100)); /* and now 3 */
  drain(&lan);
  now_ns = lan.now_ns;
  assert_int_equal(lan.counts.flooded, 1);
  assert_int_equal(lan.sw.lines[5 + 1].sent, 1);
  assert_true(send(&lan, now_ns + VV_SEC, 0, 3, 100)); /* forgotten */
  drain(&lan);
  assert_int_equal(lan.counts.flooded, 2);
  tear_down(&lan);
}

static void test_a_full_port_drops_its_own_frames(void **state) {
  (void)state;
  struct vv_lan lan;
  struct vv_lan_config config = plain(VV_LAN_SWITCH, 6, 100000000);
  config.port_frames = 3;
  set_up(&lan, config);
  assert_true(send(&lan, 0, 0, VV_LAN_EVERYBODY, 100));
  drain(&lan);
  vv_ns now_ns = lan.now_ns;
  for (uint32_t i = 1; i < 5; i++) {
    for (uint32_t k = 0; k < 20; k++) assert_true(send(&lan, now_ns, i, 0, 1500));
  }
  for (uint32_t k = 0; k < 20; k++) assert_true(send(&lan, now_ns, 0, 5, 1500)); /* floods, and loses nothing */
  drain(&lan);
  /* 4 senders come in while 1 frame goes out: about 20 + 3 of 80 pass. */
  assert_in_range(lan.counts.dropped[VV_DROP_QUEUE], 50, 60);
  assert_int_equal(dropped(&lan), lan.counts.dropped[VV_DROP_QUEUE]);
  assert_int_equal(lan.counts.delivered + dropped(&lan), 5 + 80 + 20);
  tear_down(&lan);
}

static void test_nothing_comes_through_a_cut_cable(void **state) {
  (void)state;
  for (int fabric = VV_LAN_HUB; fabric <= VV_LAN_SWITCH; fabric++) {
    struct vv_lan lan;
    set_up(&lan, plain((enum vv_lan_fabric)fabric, 4, 100000000));
    vv_lan_cut(&lan, 2, true);
    assert_true(send(&lan, 0, 0, VV_LAN_EVERYBODY, 100));
    assert_true(send(&lan, 0, 2, 1, 100));
    drain(&lan);
    vv_ns now_ns = lan.now_ns;
    assert_int_equal(lan.counts.delivered, 2);
    assert_int_equal(lan.counts.dropped[VV_DROP_CUT], 2);
    vv_lan_cut(&lan, 2, false);
    assert_true(send(&lan, now_ns, 0, VV_LAN_EVERYBODY, 100));
    assert_true(send(&lan, now_ns, 2, 1, 100));
    drain(&lan);
    assert_int_equal(lan.counts.delivered, 2 + 4);
    tear_down(&lan);
  }
}

static void test_rooms_are_finite_and_say_so(void **state) {
  (void)state;
  struct vv_lan lan;
  struct vv_lan_config config = plain(VV_LAN_SWITCH, 2, 100000000);
  config.frames = 50;
  set_up(&lan, config);
  for (uint32_t i = 0; i < 50; i++) assert_true(send(&lan, 0, 0, 1, 100));
  assert_false(send(&lan, 0, 0, 1, 100));
  assert_false(send(&lan, 0, 1, 0, 100));
  drain(&lan);
  assert_int_equal(lan.counts.delivered, 50);
  tear_down(&lan);
  config.flights = 4;
  set_up(&lan, config);
  vv_lan_faults(&lan, 1, VV_LAN_IN, &(struct vv_faults_config){.delay_ns = VV_SEC});
  for (uint32_t i = 0; i < 20; i++) assert_true(send(&lan, 0, 0, 1, 100));
  drain(&lan);
  assert_true(lan.counts.dropped[VV_DROP_ROOM] >= 15);
  assert_int_equal(lan.counts.delivered + lan.counts.dropped[VV_DROP_ROOM], 20);
  tear_down(&lan);
}

enum { STATIONS_MAX = 12, FRAMES = 400 };

/* A LAN, traffic and faults drawn from a seed, and what was seen of every frame so far. */
struct world {
  struct vv_lan lan;
  struct vv_rng rng;
  bool faults, duplicates, reorders;
  uint64_t sent, done, trace;
  vv_ns taken_ns;
  vv_ns free_ns[STATIONS_MAX];                  /* when the last frame at a station has left the wire */
  uint64_t last_id[STATIONS_MAX][STATIONS_MAX]; /* from, at */
  uint8_t copies[FRAMES + 1][STATIONS_MAX];     /* of frame, at */
  bool is_done[FRAMES + 1];
};

static uint64_t below(struct world *world, uint64_t limit) {
  return vv_rng_next(&world->rng) % limit;
}

static double chance(struct world *world, double most) {
  return below(world, 2) == 0 ? 0 : most * vv_rng_unit(&world->rng);
}

static void draw_faults(struct world *world) {
  for (uint32_t i = 0; i < 2 * world->lan.config.stations; i++) {
    struct vv_faults_config config = {
        .loss = chance(world, 0.2),
        .burst_enter = chance(world, 0.05),
        .burst_leave = 0.3,
        .burst_loss = chance(world, 1),
        .corrupt = chance(world, 0.1),
        .duplicate = world->duplicates ? chance(world, 0.2) : 0,
        .reorder = world->reorders ? chance(world, 0.2) : 0,
        .reorder_ns = 1 + below(world, 5000000),
        .delay_ns = below(world, 2) * below(world, 5000000),
    };
    vv_lan_faults(&world->lan, i / 2, i % 2 == 0 ? VV_LAN_OUT : VV_LAN_IN, &config);
  }
}

static void draw_world(struct world *world, uint64_t seed) {
  memset(world, 0, sizeof *world);
  world->rng.state = seed;
  world->faults = below(world, 3) > 0;
  world->duplicates = world->faults && below(world, 2) == 0;
  world->reorders = world->faults && below(world, 2) == 0;
  uint32_t stations = 2 + (uint32_t)below(world, STATIONS_MAX - 1);
  struct vv_lan_config config = {
      .fabric = below(world, 2) == 0 ? VV_LAN_HUB : VV_LAN_SWITCH,
      .stations = stations,
      .rate_bps = below(world, 2) == 0 ? 10000000 : 100000000,
      .reach_ns = below(world, 2500),
      .forward_ns = below(world, 10000),
      .ageing_ns = 1 + below(world, 100000000),
      .host_frames = 1 + (uint32_t)below(world, 20),
      .port_frames = 1 + (uint32_t)below(world, 20),
      .frames = 1 + (uint32_t)below(world, 200),
      .flights = 2 * stations + (uint32_t)below(world, 500),
      .seed = seed,
  };
  set_up(&world->lan, config);
  if (world->faults) draw_faults(world);
}

static void see_delivery(struct world *world, const struct vv_lan_event *event) {
  const struct vv_lan_frame *frame = &event->frame;
  uint32_t at = event->station, from = frame->source;
  assert_true(at != from && (frame->destination >= VV_LAN_GROUP || frame->destination == at));
  assert_ptr_equal(frame->handle, &world->is_done[frame->id]);
  assert_false(world->is_done[frame->id]);
  assert_true(++world->copies[frame->id][at] <= (world->duplicates ? 4 : 1));
  if (!world->reorders) assert_true(frame->id >= world->last_id[from][at]);
  world->last_id[from][at] = frame->id;
  if (world->faults) return;
  uint32_t bytes = vv_eth_wire_bytes(frame->data_bytes, frame->tagged) - VV_ETH_GAP_BYTES;
  assert_true(event->ns >= world->free_ns[at] + vv_eth_ns(bytes, world->lan.config.rate_bps));
  world->free_ns[at] = event->ns + vv_eth_ns(VV_ETH_GAP_BYTES, world->lan.config.rate_bps);
}

static void see(struct world *world, const struct vv_lan_event *event) {
  const struct vv_lan_counts *counts = &world->lan.counts;
  assert_true(event->ns >= world->taken_ns);
  world->taken_ns = event->ns;
  world->trace = (world->trace ^ event->ns ^ event->frame.id << 40 ^ (uint64_t)event->station << 32 ^ event->kind) *
                 UINT64_C(0x9e3779b97f4a7c15);
  assert_true(counts->expected + counts->duplicated >= counts->delivered + dropped(&world->lan));
  if (event->kind == VV_LAN_DELIVERED) {
    see_delivery(world, event);
  } else {
    assert_false(world->is_done[event->frame.id]);
    world->is_done[event->frame.id] = true;
    world->done++;
  }
}

static void send_something(struct world *world, vv_ns now_ns) {
  uint32_t stations = world->lan.config.stations, source = (uint32_t)below(world, stations);
  uint32_t other = (source + 1 + (uint32_t)below(world, stations - 1)) % stations;
  struct vv_lan_frame frame = {
      .id = world->sent + 1,
      .source = source,
      .destination = below(world, 4) == 0 ? VV_LAN_GROUP + (uint32_t)below(world, 9) : other,
      .data_bytes = (uint32_t)below(world, 1501),
      .tagged = below(world, 2) == 0,
      .handle = &world->is_done[world->sent + 1],
  };
  if (vv_lan_send(&world->lan, now_ns, &frame)) world->sent++;
}

/* Lives until all is quiet, and returns a number that stands for everything that happened. */
static uint64_t live(struct world *world, uint64_t seed, uint64_t drops[VV_DROPS]) {
  struct vv_lan_event event;
  draw_world(world, seed);
  vv_ns pause_ns = 1 + below(world, 2000000);
  for (vv_ns now_ns = 0, i = 0; i < FRAMES; i++) {
    now_ns += below(world, pause_ns);
    while (vv_lan_take(&world->lan, now_ns, &event)) see(world, &event);
    if (world->faults && below(world, 50) == 0) {
      vv_lan_cut(&world->lan, (uint32_t)below(world, world->lan.config.stations), below(world, 2) == 0);
    }
    send_something(world, now_ns);
  }
  while (vv_lan_take(&world->lan, VV_NEVER - 1, &event)) see(world, &event);
  const struct vv_lan_counts *counts = &world->lan.counts;
  assert_int_equal(counts->sent, world->sent);
  assert_int_equal(world->done, world->sent);
  assert_int_equal(counts->expected + counts->duplicated, counts->delivered + dropped(&world->lan));
  assert_int_equal(vv_lan_next_ns(&world->lan), VV_NEVER);
  for (int why = 0; why < VV_DROPS; why++) drops[why] += counts->dropped[why];
  tear_down(&world->lan);
  return world->trace;
}

static void test_what_always_holds(void **state) {
  (void)state;
  static struct world world;
  uint64_t drops[VV_DROPS] = {0};
  for (uint64_t seed = 0; seed < 1000; seed++) live(&world, seed, drops);
  /* The seeds meet every way to lose a frame but those of crowds and of hubs that are too long. */
  for (int why = 0; why < VV_DROPS; why++) {
    if (why != VV_DROP_COLLISIONS && why != VV_DROP_GARBLED) assert_true(drops[why] > 0);
  }
  assert_int_equal(drops[VV_DROP_GARBLED], 0);
}

static void test_the_same_seed_the_same_story(void **state) {
  (void)state;
  static struct world world;
  uint64_t drops[VV_DROPS], before = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    uint64_t trace = live(&world, seed, drops);
    assert_int_equal(live(&world, seed, drops), trace);
    assert_true(trace != before);
    before = trace;
  }
}

/* Frames lost by collisions count as any others: a crowd so large that some are given up, on a hub that is too long. */
static void test_a_crowd_on_a_long_hub_loses_nothing_uncounted(void **state) {
  (void)state;
  struct vv_lan lan;
  struct vv_lan_config config = plain(VV_LAN_HUB, 3000, 10000000);
  config.reach_ns = 51200;
  set_up(&lan, config);
  for (uint32_t i = 0; i < 3000; i++) assert_true(send(&lan, 0, i, (i + 1) % 3000, 46));
  drain(&lan);
  assert_true(lan.counts.dropped[VV_DROP_COLLISIONS] > 0 && lan.counts.dropped[VV_DROP_GARBLED] > 0);
  assert_true(lan.counts.delivered > 0);
  assert_int_equal(lan.counts.delivered + dropped(&lan), 3000);
  tear_down(&lan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_message_takes_the_time_of_the_formula),
      cmocka_unit_test(test_cables_and_switches_take_their_time),
      cmocka_unit_test(test_a_switch_isolates_pairs_and_a_hub_shares),
      cmocka_unit_test(test_a_broadcast_takes_the_wire_once),
      cmocka_unit_test(test_a_switch_floods_until_it_knows),
      cmocka_unit_test(test_a_full_port_drops_its_own_frames),
      cmocka_unit_test(test_nothing_comes_through_a_cut_cable),
      cmocka_unit_test(test_rooms_are_finite_and_say_so),
      cmocka_unit_test(test_what_always_holds),
      cmocka_unit_test(test_the_same_seed_the_same_story),
      cmocka_unit_test(test_a_crowd_on_a_long_hub_loses_nothing_uncounted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
