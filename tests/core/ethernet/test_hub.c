/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared medium: single collisions by hand, back-off by its law, saturation against what is published. */
#include "core/ethernet/hub.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ethernet/eth.h"

#define BIT_NS   ((vv_ns)100)
#define SLOT_NS  (512 * BIT_NS)
#define GAP_NS   (96 * BIT_NS)
#define SHORT_NS (72 * 8 * BIT_NS) /* signals: frames without gap */
#define LONG_NS  (1526 * 8 * BIT_NS)

enum { SHORT, LONG, KINDS };

static const uint32_t wire_bytes[KINDS] = {84, 1538};

static void set_up(struct vv_hub *hub, uint32_t stations, uint32_t queue_frames, vv_ns reach_ns, uint64_t seed) {
  struct vv_hub_config config = {stations, queue_frames, 10000000, reach_ns, wire_bytes, seed};
  vv_hub_init(hub, malloc(vv_hub_bytes(&config)), &config);
}

static void tear_down(struct vv_hub *hub) {
  free(hub->stations);
}

/* The next event, however late. */
static bool step(struct vv_hub *hub, struct vv_hub_event *event) {
  return vv_hub_take(hub, VV_NEVER - 1, event);
}

static void drain(struct vv_hub *hub) {
  struct vv_hub_event event;
  while (step(hub, &event)) continue;
  assert_int_equal(vv_hub_next_ns(hub), VV_NEVER);
}

static void test_one_station_sends_at_the_rate(void **state) {
  (void)state;
  struct vv_hub hub;
  struct vv_hub_event event;
  set_up(&hub, 3, 10, 1000, 1);
  for (uint32_t i = 0; i < 10; i++) assert_true(vv_hub_send(&hub, 0, 1, i % 2 ? SHORT : LONG));
  assert_false(vv_hub_send(&hub, 0, 1, SHORT));
  vv_ns start_ns = 0;
  for (uint32_t i = 0; i < 10; i++) {
    vv_ns signal_ns = i % 2 ? SHORT_NS : LONG_NS;
    assert_true(step(&hub, &event));
    assert_int_equal(event.what, VV_HUB_HEARD);
    assert_int_equal(event.station, 1);
    assert_int_equal(event.ns, start_ns + signal_ns + 1000);
    start_ns += signal_ns + GAP_NS;
  }
  drain(&hub);
  assert_int_equal(hub.stations[1].counts.attempts, 10);
  tear_down(&hub);
}

static void test_who_hears_another_waits(void **state) {
  (void)state;
  struct vv_hub hub;
  struct vv_hub_event event;
  set_up(&hub, 2, 1, 1000, 1);
  assert_true(vv_hub_send(&hub, 0, 0, LONG));
  assert_false(vv_hub_take(&hub, 1000, &event));
  assert_true(vv_hub_send(&hub, 1001, 1, SHORT));
  assert_true(step(&hub, &event));
  assert_int_equal(event.ns, LONG_NS + 1000);
  assert_true(step(&hub, &event));
  assert_int_equal(event.ns, LONG_NS + 1000 + GAP_NS + SHORT_NS + 1000);
  assert_int_equal(hub.collisions, 0);
  tear_down(&hub);
}

/*
 * Two stations begin 999 ns apart, and the signal takes 1000: both finish their
 * preambles, jam, and wait for 0 or 1 slots. True when the first waits for 1.
 */
static bool collide_by_hand(uint64_t seed) {
  struct vv_hub hub;
  struct vv_hub_event event;
  set_up(&hub, 3, 1, 1000, seed);
  assert_true(vv_hub_send(&hub, 0, 0, LONG));
  assert_false(vv_hub_take(&hub, 999, &event));
  assert_true(vv_hub_send(&hub, 999, 1, LONG));
  vv_ns jam_ends_ns[2] = {96 * BIT_NS, 999 + 96 * BIT_NS};
  assert_false(vv_hub_take(&hub, jam_ends_ns[0] - 1, &event));
  assert_int_equal(hub.stations[0].state, VV_HUB_JAMMING);
  assert_int_equal(hub.stations[1].state, VV_HUB_JAMMING);
  assert_int_equal(hub.collisions, 1);
  assert_int_equal(vv_hub_next_ns(&hub), jam_ends_ns[0]);
  assert_false(vv_hub_take(&hub, jam_ends_ns[0], &event));
  bool slot = hub.stations[0].state == VV_HUB_BACKING_OFF;
  /* With no slot to wait it still hears the other's jam, and has no turn yet. */
  assert_int_equal(hub.stations[0].state, slot ? VV_HUB_BACKING_OFF : VV_HUB_WAITING);
  assert_int_equal(vv_heap_get(&hub.timers, 0), slot ? jam_ends_ns[0] + SLOT_NS : VV_NEVER);
  assert_int_equal(hub.stations[1].state, VV_HUB_JAMMING);
  assert_false(vv_hub_take(&hub, jam_ends_ns[1], &event));
  assert_true(hub.stations[1].state != VV_HUB_JAMMING);
  drain(&hub);
  assert_int_equal(hub.stations[0].counts.sent + hub.stations[1].counts.sent, 2);
  assert_int_equal(hub.stations[0].counts.late + hub.stations[2].counts.attempts, 0);
  tear_down(&hub);
  return slot;
}

static void test_a_collision_by_hand(void **state) {
  (void)state;
  uint32_t slots = 0;
  for (uint64_t seed = 0; seed < 100; seed++) slots += collide_by_hand(seed);
  assert_in_range(slots, 25, 75);
}

static void assert_share(uint32_t count, uint32_t of, double share) {
  double off = (double)count - share * of;
  if (off * off > 25 * of * share * (1 - share)) fail_msg("%u of %u, not %g", count, of, share);
}

/*
 * Two stations that meet draw from 2, 4, 8 .. slots and meet again when they
 * draw the same: with 1/2, 1/4, 1/8 ..
 */
static void test_backoff_doubles(void **state) {
  (void)state;
  enum { SEEDS = 20000 };
  uint32_t with[32] = {0};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct vv_hub hub;
    set_up(&hub, 2, 1, 1000, seed);
    for (uint32_t i = 0; i < 2; i++) assert_true(vv_hub_send(&hub, 0, i, LONG));
    drain(&hub);
    with[hub.collisions]++;
    tear_down(&hub);
  }
  assert_share(with[1], SEEDS, 1.0 / 2);
  assert_share(with[2], SEEDS, 1.0 / 2 * 3 / 4);
  assert_share(with[3], SEEDS, 1.0 / 2 / 4 * 7 / 8);
  assert_share(with[4], SEEDS, 1.0 / 2 / 4 / 8 * 15 / 16);
}

/*
 * The capture effect (K. K. Ramakrishnan, H. Yang, "The Ethernet Capture Effect:
 * Analysis and Solution", LCN 1994): who won the first contest of two meets the
 * loser after its frame and draws from 2 slots against 4. It wins with 5/8, the
 * loser with 1/8, and with 1/4 they meet again.
 */
static void test_the_winner_wins_again(void **state) {
  (void)state;
  enum { SEEDS = 20000 };
  uint32_t contests = 0, again = 0, other = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    struct vv_hub hub;
    struct vv_hub_event first, second;
    set_up(&hub, 2, 2, 1000, seed);
    for (uint32_t i = 0; i < 4; i++) assert_true(vv_hub_send(&hub, 0, i % 2, LONG));
    assert_true(step(&hub, &first));
    if (hub.collisions == 1) {
      contests++;
      assert_true(step(&hub, &second));
      if (hub.collisions == 2) *(first.station == second.station ? &again : &other) += 1;
    }
    tear_down(&hub);
  }
  assert_share(contests, SEEDS, 1.0 / 2);
  assert_share(again, contests, 5.0 / 8);
  assert_share(other, contests, 1.0 / 8);
}

struct saturated {
  double utilisation;   /* frames with preamble, without gap, over the time */
  double runs;          /* frames of one station in a row, the mean */
  uint64_t least, most; /* frames of a station */
  uint64_t given_up;
};

/* All stations always have frames to send. */
static struct saturated saturate(uint32_t stations, uint32_t kind, vv_ns reach_ns, vv_ns duration_ns) {
  struct vv_hub hub;
  struct vv_hub_event event;
  struct saturated result = {.least = UINT64_MAX};
  uint64_t frames = 0, runs = 0;
  uint32_t last = UINT32_MAX;
  set_up(&hub, stations, 2, reach_ns, 11);
  for (uint32_t i = 0; i < 2 * stations; i++) assert_true(vv_hub_send(&hub, 0, i % stations, kind));
  while (vv_hub_take(&hub, duration_ns, &event)) {
    while (vv_hub_send(&hub, event.ns, event.station, kind)) continue;
    if (event.what != VV_HUB_HEARD) continue;
    frames++;
    runs += event.station != last;
    last = event.station;
  }
  for (uint32_t i = 0; i < stations; i++) {
    uint64_t sent = hub.stations[i].counts.sent;
    if (sent < result.least) result.least = sent;
    if (sent > result.most) result.most = sent;
    result.given_up += hub.stations[i].counts.excessive;
  }
  tear_down(&hub);
  result.utilisation = (double)frames * (kind == LONG ? LONG_NS : SHORT_NS) / (double)duration_ns;
  result.runs = (double)frames / (double)runs;
  return result;
}

/*
 * R. M. Metcalfe, D. R. Boggs, "Ethernet: Distributed Packet Switching for Local
 * Computer Networks", CACM 19 (1976), section 6: Q stations that each try in a
 * free slot with probability 1/Q get E = P / (P + W T), with W = (1 - A) / A
 * slots of T before each packet and A = (1 - 1/Q)^(Q-1).
 */
static double published(uint32_t stations, double packet_ns) {
  double a = pow(1 - 1.0 / stations, stations - 1);
  return packet_ns / (packet_ns + (1 - a) / a * SLOT_NS);
}

/*
 * Frames of 1518 bytes (1526 with preamble) at 10 Mb/s, T = 51.2 us, and a
 * network as long as the standard allows, where a collision takes about a slot,
 * as in the formula. Within 3 points, for two reasons that pull either way: the
 * formula knows no gap (0.8 %) and no signal on its way to the next sender
 * (2 % when each frame has another), but its stations always contend, where a
 * real winner finds the others backed off (2.6 points at Q = 2).
 */
static void test_saturation_as_published(void **state) {
  (void)state;
  static const uint32_t stations[] = {1, 2, 8, 16};
  for (size_t i = 0; i < sizeof stations / sizeof *stations; i++) {
    double measured = saturate(stations[i], LONG, SLOT_NS / 2, UINT64_C(30000000000)).utilisation;
    double expected = published(stations[i], LONG_NS);
    if (fabs(measured - expected) > 0.03) fail_msg("Q = %u: %.4f, not %.4f", stations[i], measured, expected);
  }
}

/* A lone sender gives away the gaps and nothing else; more stations and shorter frames give away more. */
static void test_saturation_has_an_order(void **state) {
  (void)state;
  double before = 1;
  for (uint32_t stations = 1; stations <= 64; stations *= 2) {
    double small = saturate(stations, SHORT, 4000, UINT64_C(10000000000)).utilisation;
    double large = saturate(stations, LONG, 4000, UINT64_C(10000000000)).utilisation;
    if (stations == 1) assert_true(fabs(small - 72.0 / 84) < 1e-4 && fabs(large - 1526.0 / 1538) < 1e-4);
    assert_true(small < large && large < before);
    assert_true(small > published(stations, SHORT_NS) || stations == 1);
    before = large;
  }
}

static void test_capture_is_unfair_for_a_while_only(void **state) {
  (void)state;
  struct saturated two = saturate(2, LONG, 4000, UINT64_C(100000000000));
  assert_true(two.runs > 5);
  assert_true(two.given_up > 0);
  assert_true(two.most < 2 * two.least);
  struct saturated eight = saturate(8, LONG, 4000, UINT64_C(100000000000));
  assert_true(eight.runs < two.runs);
}

static void test_a_frame_is_given_up_after_16_attempts(void **state) {
  (void)state;
  enum { CROWD = 4000 };
  struct vv_hub hub;
  struct vv_hub_event event;
  uint32_t heard = 0, given_up = 0;
  set_up(&hub, CROWD, 1, 4000, 5);
  for (uint32_t i = 0; i < CROWD; i++) assert_true(vv_hub_send(&hub, 0, i, SHORT));
  while (step(&hub, &event)) {
    const struct vv_hub_counts *counts = &hub.stations[event.station].counts;
    if (event.what == VV_HUB_ABANDONED) {
      given_up++;
      assert_int_equal(counts->attempts, 16);
      assert_int_equal(counts->collisions, 16);
    } else {
      heard++;
      assert_int_equal(event.what, VV_HUB_HEARD);
      assert_true(counts->attempts <= 16 && counts->attempts == counts->collisions + 1);
    }
  }
  assert_int_equal(heard + given_up, CROWD);
  assert_true(given_up > 0 && heard > 0);
  tear_down(&hub);
}

/* A network twice as long as allowed: long frames collide late, and short ones end before their sender knows. */
static void test_a_network_too_long(void **state) {
  (void)state;
  struct vv_hub hub;
  struct vv_hub_event event;
  set_up(&hub, 2, 1, SLOT_NS, 1);
  assert_true(vv_hub_send(&hub, 0, 0, LONG));
  assert_false(vv_hub_take(&hub, SLOT_NS - 1, &event));
  assert_true(vv_hub_send(&hub, SLOT_NS, 1, LONG));
  assert_false(vv_hub_take(&hub, 2 * SLOT_NS, &event));
  assert_int_equal(hub.stations[0].counts.late, 1);
  assert_int_equal(hub.stations[1].counts.late, 0);
  assert_int_equal(hub.stations[1].counts.collisions, 1);
  drain(&hub);
  tear_down(&hub);
  set_up(&hub, 3, 1, SLOT_NS, 1);
  assert_true(vv_hub_send(&hub, 0, 0, SHORT));
  assert_false(vv_hub_take(&hub, SLOT_NS - 100, &event));
  assert_true(vv_hub_send(&hub, SLOT_NS - 100, 1, SHORT));
  assert_true(step(&hub, &event));
  assert_int_equal(event.what, VV_HUB_GARBLED);
  assert_int_equal(event.station, 0);
  assert_int_equal(hub.stations[0].counts.collisions, 0);
  drain(&hub);
  tear_down(&hub);
}

struct heard {
  struct vv_hub_event events[2000];
  uint32_t count;
};

/* Frames at random, of random sizes: what was heard, checked for order and rate as it goes. */
static void live(uint64_t seed, struct heard *heard) {
  struct vv_hub hub;
  struct vv_rng rng = {.state = ~seed};
  uint32_t stations = 2 + (uint32_t)(vv_rng_next(&rng) % 30), taken = 0;
  vv_ns reach_ns = vv_rng_next(&rng) % (SLOT_NS / 2 + 1), pause_ns = 1 + vv_rng_next(&rng) % 3000000;
  vv_ns now_ns = 0, free_ns = 0;
  set_up(&hub, stations, 1 + (uint32_t)(vv_rng_next(&rng) % 5), reach_ns, seed);
  heard->count = 0;
  for (uint32_t i = 0; i < 1000; i++) {
    now_ns += vv_rng_next(&rng) % pause_ns;
    while (vv_hub_take(&hub, now_ns, &heard->events[heard->count])) heard->count++;
    taken += vv_hub_send(&hub, now_ns, (uint32_t)(vv_rng_next(&rng) % stations), (uint32_t)(vv_rng_next(&rng) % KINDS));
  }
  while (step(&hub, &heard->events[heard->count])) heard->count++;
  assert_int_equal(heard->count, taken);
  for (uint32_t i = 0; i < heard->count; i++) {
    const struct vv_hub_event *event = &heard->events[i];
    assert_true(event->what != VV_HUB_GARBLED);
    if (event->what == VV_HUB_ABANDONED) continue;
    assert_true(event->ns >= free_ns + (event->frame == LONG ? LONG_NS : SHORT_NS));
    free_ns = event->ns + GAP_NS;
  }
  for (uint32_t i = 0; i < stations; i++) assert_int_equal(hub.stations[i].counts.late, 0);
  tear_down(&hub);
}

static void test_every_frame_is_heard_or_given_up_one_at_a_time(void **state) {
  (void)state;
  static struct heard once, again;
  for (uint64_t seed = 0; seed < 400; seed++) live(seed, &once);
  for (uint64_t seed = 0; seed < 40; seed++) {
    live(seed, &once);
    live(seed, &again);
    assert_int_equal(once.count, again.count);
    for (uint32_t i = 0; i < once.count; i++) {
      assert_int_equal(once.events[i].ns, again.events[i].ns);
      assert_int_equal(once.events[i].station, again.events[i].station);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_station_sends_at_the_rate),
      cmocka_unit_test(test_who_hears_another_waits),
      cmocka_unit_test(test_a_collision_by_hand),
      cmocka_unit_test(test_backoff_doubles),
      cmocka_unit_test(test_the_winner_wins_again),
      cmocka_unit_test(test_saturation_as_published),
      cmocka_unit_test(test_saturation_has_an_order),
      cmocka_unit_test(test_capture_is_unfair_for_a_while_only),
      cmocka_unit_test(test_a_frame_is_given_up_after_16_attempts),
      cmocka_unit_test(test_a_network_too_long),
      cmocka_unit_test(test_every_frame_is_heard_or_given_up_one_at_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
