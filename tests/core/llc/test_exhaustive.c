/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small world in full: two stations with a window of 2 connect, send each
 * other five I PDUs, and one disconnects. Every run is tried in which one frame
 * is lost, one comes twice, the second time late, one is overtaken by others, the link is reset by its user, and one of
 * the stations dies; each at any frame.
 *
 * Safety: what arrived is what was sent, as far as it goes, at all times; what
 * is acknowledged has arrived. Progress: nobody died: everything arrives, and
 * both links end as asked. Somebody died: the other is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pair.h"

enum { MTU = 64, MESSAGE = 200, NEVER = 1000, NOBODY = 2, HELD = 2, STRIDE = 4 };

/* What goes wrong: at which frame. */
struct fate {
  unsigned loss, twice, late, reset, death;
  int victim; /* NOBODY */
};

struct held {
  struct pair_frame frame;
  int to;
  unsigned wait; /* frames that overtake it; 0: nothing is held */
};

struct trial {
  struct pair *pair;
  struct fate fate;
  unsigned seen; /* frames */
  struct held held[HELD];
  bool dead[2];
  bool resets; /* the user wants it now */
  bool sends;  /* the second one has */
  uint8_t sent[2][MESSAGE];
};

static void hold(struct trial *trial, int which, int to, const uint8_t *bytes, size_t count, unsigned wait) {
  struct held *held = &trial->held[which];
  held->frame = (struct pair_frame){count, malloc(count)};
  memcpy(held->frame.bytes, bytes, count);
  held->to = to;
  held->wait = wait;
}

static void release(struct trial *trial, struct held *held) {
  struct pair *pair = trial->pair;
  pair->wires[held->to][(pair->first[held->to] + pair->count[held->to]++) % PAIR_QUEUE] = held->frame;
  held->wait = 0;
}

static bool decide(struct pair *pair, int to, uint8_t *bytes, size_t *count, void *context) {
  (void)pair;
  struct trial *trial = context;
  unsigned frame = trial->seen++;
  if (trial->fate.victim != NOBODY && frame == trial->fate.death) trial->dead[trial->fate.victim] = true;
  trial->resets |= frame == trial->fate.reset;
  if (trial->dead[0] || trial->dead[1] || frame == trial->fate.loss) return false;
  for (int i = 0; i < HELD; i++) {
    struct held *held = &trial->held[i];
    if (held->wait > 0 && held->to == to && --held->wait == 0) release(trial, held);
  }
  if (frame == trial->fate.twice) hold(trial, 0, to, bytes, *count, 3);
  if (frame != trial->fate.late) return true;
  hold(trial, 1, to, bytes, *count, 2);
  return false;
}

static bool is_up(const struct pair *pair, int which) {
  const struct vv_llc_station *station = &pair->stations[which];
  return pair->links[which] != VV_LLC_NO_LINK && station->links[pair->links[which]].used &&
         vv_llc_is_up(station->links[pair->links[which]].state);
}

/* What users do, as soon as they can. */
static void use(struct trial *trial) {
  struct pair *pair = trial->pair;
  int who = trial->fate.reset % 2;
  if (is_up(pair, 1) && !trial->sends) {
    trial->sends = vv_llc_station_send(&pair->stations[1], pair->now_ns, pair->links[1], trial->sent[1], MESSAGE, 0);
  }
  if (!trial->resets || !is_up(pair, who)) return;
  trial->resets = false;
  vv_llc_station_reset(&pair->stations[who], pair->now_ns, pair->links[who]);
}

/* All that can happen without time passing. */
static void run(struct trial *trial) {
  struct pair *pair = trial->pair;
  for (bool moved = true; moved;) {
    for (int i = 0; i < 2; i++) {
      use(trial);
      pair_take(pair, i);
      pair_send(pair, i);
    }
    moved = pair_deliver(pair, 0);
    moved = pair_deliver(pair, 1) || moved;
  }
}

static bool release_all(struct trial *trial) {
  bool any = false;
  for (int i = 0; i < HELD; i++) {
    if (trial->held[i].wait == 0) continue;
    release(trial, &trial->held[i]);
    any = true;
  }
  return any;
}

static bool safe(const struct trial *trial) {
  const struct pair *pair = trial->pair;
  for (int i = 0; i < 2; i++) {
    if (pair->got_bytes[i] > MESSAGE || memcmp(pair->got[i], trial->sent[!i], pair->got_bytes[i]) != 0) return false;
    const struct vv_llc_station_event *sent = pair_event(pair, i, VV_LLC_STATION_SENT);
    if (sent != NULL && sent->acknowledged && pair->got_bytes[!i] != MESSAGE) return false;
  }
  return true;
}

/* Frames, then those that were held, then timers: until nothing is left to happen, or for too long. */
static bool run_until_quiet(struct trial *trial, vv_ns end_ns) {
  struct pair *pair = trial->pair;
  for (;;) {
    do run(trial);
    while (release_all(trial));
    if (!safe(trial)) return false;
    vv_ns next = VV_NEVER;
    for (int i = 0; i < 2; i++) {
      vv_ns due = trial->dead[i] ? VV_NEVER : vv_llc_station_next_ns(&pair->stations[i]);
      if (due < next) next = due;
    }
    if (next > end_ns) return true;
    if (next > pair->now_ns) pair->now_ns = next;
    for (int i = 0; i < 2; i++) {
      if (!trial->dead[i]) vv_llc_station_tick(&pair->stations[i], pair->now_ns);
    }
  }
}

static void start(struct trial *trial, struct pair *pair, const struct fate *fate) {
  *trial = (struct trial){.pair = pair, .fate = *fate};
  pair->now_ns = 1;
  pair->filter = decide;
  pair->context = trial;
  for (int i = 0; i < 2; i++) {
    struct vv_llc_station_config config = pair_config(i);
    config.links = 1;
    config.messages = config.units = 4;
    config.pdu_bytes_max = MTU;
    config.window = 2;
    config.n2 = config.tries = 6;
    config.idle_ns = 200 * VV_MS;
    config.t1_ns_max = 20 * VV_MS;
    pair_start(pair, i, &config);
    pair->got_bytes[i] = pair->events_count[i] = pair->first[i] = 0;
    memset(pair->told[i], 0, sizeof pair->told[i]);
    for (int at = 0; at < MESSAGE; at++) trial->sent[i][at] = (uint8_t)(at + 100 * i);
  }
}

/* Connect, send, disconnect. False: something was wrong. */
static bool try(struct trial *trial, struct pair *pair, const struct fate *fate) {
  start(trial, pair, fate);
  struct vv_llc_address peer = pair_address(1);
  pair->links[0] = vv_llc_station_connect(&pair->stations[0], 1, &peer);
  vv_llc_station_send(&pair->stations[0], 1, pair->links[0], trial->sent[0], MESSAGE, 0);
  if (!run_until_quiet(trial, 400 * VV_MS)) return false;
  if (is_up(pair, 0) && !trial->dead[0]) vv_llc_station_disconnect(&pair->stations[0], pair->now_ns, pair->links[0]);
  if (!run_until_quiet(trial, 2000 * VV_MS)) return false;
  bool done = true;
  for (int i = 0; i < 2; i++) {
    bool met = pair->told[i][VV_LLC_STATION_CONNECTED] > 0 || i == 0;
    bool told = pair->told[i][VV_LLC_STATION_CLOSED] == 1;
    if (!trial->dead[i] && met) done = done && told;
    if (fate->victim == NOBODY) done = done && met && pair->got_bytes[i] == MESSAGE;
  }
  return done;
}

/* How many frames there are when all is well. */
static unsigned frames(struct pair *pair) {
  struct trial trial;
  struct fate none = {NEVER, NEVER, NEVER, NEVER, NEVER, NOBODY};
  assert_true(try(&trial, pair, &none));
  return trial.seen;
}

static void expect(struct pair *pair, const struct fate *fate) {
  struct trial trial;
  if (try(&trial, pair, fate)) {
    pair_clear(pair);
    return;
  }
  print_error("loss %u, twice %u, late %u, reset %u, death %u of %d: got %zu and %zu, %u frames\n", fate->loss,
              fate->twice, fate->late, fate->reset, fate->death, fate->victim, pair->got_bytes[0], pair->got_bytes[1],
              trial.seen);
  fail();
}

static struct pair *world(void) {
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  return pair_new(&a, &b);
}

static void test_loss_duplicate_reordering_and_reset(void **state) {
  (void)state;
  struct pair *pair = world();
  unsigned count = frames(pair);
  assert_in_range(count, 20, 60);
  for (unsigned loss = 0; loss <= count; loss++) {
    for (unsigned twice = 0; twice <= count; twice++) {
      for (unsigned late = 0; late <= count; late++) {
        if (late == loss) continue;
        for (unsigned reset = (loss + twice) % STRIDE; reset <= count; reset += STRIDE) {
          expect(pair, &(struct fate){loss, twice, late, reset, NEVER, NOBODY});
        }
      }
    }
  }
  pair_free(pair);
}

static void test_death(void **state) {
  (void)state;
  struct pair *pair = world();
  unsigned count = frames(pair);
  for (unsigned death = 0; death <= count; death++) {
    for (int victim = 0; victim < 2; victim++) {
      for (unsigned one = 0; one <= count; one++) {
        expect(pair, &(struct fate){one, NEVER, NEVER, NEVER, death, victim});
        expect(pair, &(struct fate){NEVER, one, NEVER, death / 2, death, victim});
        expect(pair, &(struct fate){NEVER, NEVER, one, NEVER, death, victim});
      }
    }
  }
  pair_free(pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loss_duplicate_reordering_and_reset),
      cmocka_unit_test(test_death),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
