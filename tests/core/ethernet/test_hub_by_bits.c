/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hub against a slow model of the same clauses that goes from bit time to
 * bit time, where every station looks for itself at who sent what `reach` ago:
 * no events, and nothing shared but the random numbers.
 */
#include "core/ethernet/hub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BIT_NS = 100, GAP = 96, SLOT = 512, STATIONS_MAX = 12, FRAMES = 80, REACH_MAX = 512, NEVER = INT32_MAX };

static const uint32_t wire_bytes[] = {84, 400};

struct arrival {
  int32_t at;
  uint32_t station, frame;
};

struct station {
  enum vv_hub_state state;
  uint32_t queue[FRAMES], first, count;
  struct vv_rng rng;
  int32_t attempts, start, timer; /* timer: what ends at that time; NEVER: nothing */
  int32_t own_gap, others_gap;    /* ends of the gaps behind its own signal, and the others' */
  bool hears;
  struct vv_hub_counts counts;
  int32_t over[FRAMES]; /* when each of its frames was sent or given up */
};

struct bits {
  struct station stations[STATIONS_MAX];
  uint32_t count;
  int32_t reach;
  uint32_t sent_by[REACH_MAX + 1]; /* who sends in a bit time, a bit for each station; of the last so many */
};

static void wait_turn(struct station *s, int32_t now) {
  int32_t gap = s->own_gap > s->others_gap ? s->own_gap : s->others_gap;
  s->state = VV_HUB_WAITING;
  s->timer = s->hears ? NEVER : gap > now ? gap : now;
}

static void collide(struct station *s, int32_t now) {
  s->state = VV_HUB_JAMMING;
  s->timer = (now > s->start + 64 ? now : s->start + 64) + 32;
  s->counts.collisions++;
  s->counts.late += now - s->start > SLOT;
}

static void over(struct station *s, int32_t now) {
  s->over[s->first++] = now;
  s->attempts = 0;
  s->state = VV_HUB_IDLE;
  s->timer = NEVER;
  if (s->first < s->count) wait_turn(s, now);
}

static void end_signal(struct station *s, int32_t now) {
  s->own_gap = now + GAP;
  if (s->state == VV_HUB_SENDING) {
    s->counts.sent++;
    over(s, now);
  } else if (s->attempts == 16) {
    s->counts.excessive++;
    over(s, now);
  } else {
    int doublings = s->attempts < 10 ? s->attempts : 10;
    s->state = VV_HUB_BACKING_OFF;
    s->timer = now + (int32_t)(vv_rng_next(&s->rng) >> (64 - doublings)) * SLOT;
  }
}

static void start(struct station *s, int32_t now) {
  s->state = VV_HUB_SENDING;
  s->start = now;
  s->attempts++;
  s->counts.attempts++;
  s->timer = now + 8 * (int32_t)(wire_bytes[s->queue[s->first]] - 12);
  if (s->hears) collide(s, now);
}

static void act(struct station *s, int32_t now) {
  while (s->timer == now) {
    if (s->state == VV_HUB_WAITING) {
      start(s, now);
    } else if (s->state == VV_HUB_BACKING_OFF) {
      wait_turn(s, now);
    } else {
      end_signal(s, now);
    }
  }
}

static void listen(struct station *s, int32_t now, bool hears) {
  bool began = hears && !s->hears, ended = !hears && s->hears;
  s->hears = hears;
  if (ended) s->others_gap = now + GAP;
  if (ended && s->state == VV_HUB_WAITING) wait_turn(s, now);
  if (began && s->state == VV_HUB_SENDING) collide(s, now);
  if (began && s->state == VV_HUB_WAITING && now + GAP / 3 < s->timer) s->timer = NEVER;
}

/* True while anybody has anything to do. */
static bool tick(struct bits *bits, int32_t now) {
  uint32_t sends = 0;
  bool busy = false;
  for (uint32_t i = 0; i < bits->count; i++) act(&bits->stations[i], now);
  for (uint32_t i = 0; i < bits->count; i++) {
    enum vv_hub_state state = bits->stations[i].state;
    if (state == VV_HUB_SENDING || state == VV_HUB_JAMMING) sends |= 1u << i;
    busy = busy || state != VV_HUB_IDLE;
  }
  bits->sent_by[now % (REACH_MAX + 1)] = sends;
  uint32_t heard = now < bits->reach ? 0 : bits->sent_by[(now - bits->reach) % (REACH_MAX + 1)];
  for (uint32_t i = 0; i < bits->count; i++) listen(&bits->stations[i], now, (heard & ~(1u << i)) != 0);
  return busy;
}

static void run_bits(struct bits *bits, const struct arrival arrivals[FRAMES]) {
  uint32_t next = 0;
  for (int32_t now = 0;; now++) {
    for (; next < FRAMES && arrivals[next].at == now; next++) {
      struct station *s = &bits->stations[arrivals[next].station];
      s->queue[s->count++] = arrivals[next].frame;
      if (s->state == VV_HUB_IDLE) wait_turn(s, now);
    }
    if (!tick(bits, now) && next == FRAMES) return;
  }
}

static void check_event(struct bits *bits, const struct vv_hub_event *event, uint32_t seen[STATIONS_MAX]) {
  struct station *s = &bits->stations[event->station];
  vv_ns over_ns = event->ns - (event->what == VV_HUB_ABANDONED ? 0 : (uint64_t)bits->reach * BIT_NS);
  assert_true(seen[event->station] < s->count);
  assert_int_equal(over_ns, (uint64_t)s->over[seen[event->station]] * BIT_NS);
  assert_int_equal(event->frame, s->queue[seen[event->station]++]);
}

static void check_hub(struct bits *bits, const struct arrival arrivals[FRAMES], uint64_t seed) {
  struct vv_hub_config config = {bits->count, FRAMES, 10000000, (uint64_t)bits->reach * BIT_NS, wire_bytes, seed};
  struct vv_hub hub;
  struct vv_hub_event event;
  uint32_t seen[STATIONS_MAX] = {0}, events = 0;
  vv_hub_init(&hub, malloc(vv_hub_bytes(&config)), &config);
  for (uint32_t i = 0; i <= FRAMES; i++) {
    vv_ns now_ns = i == FRAMES ? VV_NEVER : (uint64_t)arrivals[i].at * BIT_NS;
    for (; now_ns > 0 && vv_hub_take(&hub, now_ns - 1, &event); events++) check_event(bits, &event, seen);
    if (i < FRAMES) assert_true(vv_hub_send(&hub, now_ns, arrivals[i].station, arrivals[i].frame));
  }
  assert_int_equal(events, FRAMES);
  for (uint32_t i = 0; i < bits->count; i++) {
    assert_memory_equal(&hub.stations[i].counts, &bits->stations[i].counts, sizeof(struct vv_hub_counts));
  }
  free(hub.stations);
}

/* Returns the collisions: the seeds are no test when there are none. */
static uint64_t live(uint64_t seed) {
  static struct bits bits;
  struct arrival arrivals[FRAMES];
  struct vv_rng rng = {.state = ~seed}, seeds = {.state = seed};
  memset(&bits, 0, sizeof bits);
  bits.count = 2 + (uint32_t)(vv_rng_next(&rng) % (STATIONS_MAX - 1));
  bits.reach = (int32_t)(vv_rng_next(&rng) % (vv_rng_next(&rng) % 2 ? 60 : REACH_MAX + 1));
  for (uint32_t i = 0; i < bits.count; i++) {
    bits.stations[i].rng.state = vv_rng_next(&seeds);
    bits.stations[i].timer = NEVER;
  }
  int32_t at = 0, pause = 1 + (int32_t)(vv_rng_next(&rng) % 3000);
  for (uint32_t i = 0; i < FRAMES; i++) {
    at += (int32_t)(vv_rng_next(&rng) % (uint32_t)pause);
    arrivals[i] = (struct arrival){at, (uint32_t)(vv_rng_next(&rng) % bits.count), (uint32_t)(vv_rng_next(&rng) % 2)};
  }
  run_bits(&bits, arrivals);
  check_hub(&bits, arrivals, seed);
  uint64_t collisions = 0;
  for (uint32_t i = 0; i < bits.count; i++) collisions += bits.stations[i].counts.collisions;
  return collisions;
}

static void test_events_agree_with_bits(void **state) {
  (void)state;
  uint64_t collisions = 0;
  for (uint64_t seed = 0; seed < 300; seed++) collisions += live(seed);
  assert_true(collisions > 300 * 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_events_agree_with_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
