/* SPDX-License-Identifier: BSD-3-Clause */
/* What came early: kept once, in order, as long as there is a place, and every place given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/llc/early.h"

enum { PLACES = 8, ROOM = 4, CHAINS = 3 };

struct world {
  struct vv_llc_early early;
  struct vv_llc_early_pdu pdus[PLACES];
  uint8_t bytes[PLACES * ROOM];
  uint32_t chains[CHAINS];
};

static void make(struct world *world) {
  *world = (struct world){.early = {.room_bytes = ROOM}};
  world->early.pdus = world->pdus;
  world->early.bytes = world->bytes;
  vv_llc_early_init(&world->early, PLACES);
  for (int i = 0; i < CHAINS; i++) world->chains[i] = VV_LLC_NO_EARLY;
}

/* Keeps a number, whose bytes tell it. */
static void keep(struct world *world, int chain, uint32_t number) {
  uint8_t bytes[ROOM];
  memcpy(bytes, &number, sizeof bytes);
  vv_llc_early_keep(&world->early, &world->chains[chain], number, bytes, sizeof bytes);
}

static uint32_t number_at(const struct world *world, uint32_t place) {
  uint32_t number;
  assert_int_equal(world->pdus[place].count, sizeof number);
  memcpy(&number, vv_llc_early_bytes(&world->early, place), sizeof number);
  assert_int_equal(world->pdus[place].number, number);
  return number;
}

static uint32_t free_places(const struct world *world) {
  uint32_t count = 0;
  for (uint32_t place = world->early.free; place != VV_LLC_NO_EARLY; place = world->pdus[place].next) count++;
  return count;
}

static void test_order(void **state) {
  (void)state;
  struct world world;
  make(&world);
  keep(&world, 0, 1);
  keep(&world, 0, UINT32_MAX); /* before 1: numbers wrap */
  keep(&world, 0, 4);
  keep(&world, 0, 0);
  keep(&world, 0, 1); /* again: kept once */
  assert_int_equal(free_places(&world), PLACES - 4);
  const uint32_t order[] = {UINT32_MAX, 0, 1, 4};
  for (size_t i = 0; i < 4; i++) {
    uint32_t first = vv_llc_early_first(&world.early, &world.chains[0], UINT32_MAX);
    assert_int_equal(number_at(&world, first), order[i]);
    vv_llc_early_pop(&world.early, &world.chains[0]);
  }
  assert_int_equal(vv_llc_early_first(&world.early, &world.chains[0], 0), VV_LLC_NO_EARLY);
  assert_int_equal(free_places(&world), PLACES);
}

static void test_what_is_before_is_given_up(void **state) {
  (void)state;
  struct world world;
  make(&world);
  for (uint32_t number = 10; number < 15; number++) keep(&world, 0, number);
  assert_int_equal(number_at(&world, vv_llc_early_first(&world.early, &world.chains[0], 13)), 13);
  assert_int_equal(free_places(&world), PLACES - 2);
  assert_int_equal(vv_llc_early_first(&world.early, &world.chains[0], 15), VV_LLC_NO_EARLY);
  assert_int_equal(free_places(&world), PLACES);
}

static void test_no_place(void **state) {
  (void)state;
  struct world world;
  make(&world);
  for (uint32_t number = 0; number < PLACES; number++) keep(&world, 0, 2 * number);
  keep(&world, 0, 3);
  keep(&world, 1, 7); /* the places are those of all */
  assert_int_equal(free_places(&world), 0);
  assert_int_equal(world.chains[1], VV_LLC_NO_EARLY);
  vv_llc_early_clear(&world.early, &world.chains[0]);
  assert_int_equal(world.chains[0], VV_LLC_NO_EARLY);
  keep(&world, 1, 7);
  assert_int_equal(number_at(&world, world.chains[1]), 7);
}

static void test_none_at_all(void **state) {
  (void)state;
  struct vv_llc_early early = {.room_bytes = ROOM};
  uint32_t chain = VV_LLC_NO_EARLY;
  vv_llc_early_init(&early, 0);
  vv_llc_early_keep(&early, &chain, 1, (const uint8_t *)"abcd", ROOM);
  assert_int_equal(vv_llc_early_first(&early, &chain, 0), VV_LLC_NO_EARLY);
}

/* Whatever is done: chains are in order, hold nothing twice, and no place is lost. */
static void test_at_random(void **state) {
  (void)state;
  struct world world;
  struct vv_rng rng = {1};
  make(&world);
  for (int turn = 0; turn < 20000; turn++) {
    int chain = (int)(vv_rng_next(&rng) % CHAINS);
    uint32_t number = (uint32_t)turn / 8 + (uint32_t)(vv_rng_next(&rng) % 16);
    unsigned what = vv_rng_next(&rng) % 16;
    if (what == 0) vv_llc_early_clear(&world.early, &world.chains[chain]);
    if (what < 4) vv_llc_early_first(&world.early, &world.chains[chain], (uint32_t)turn / 8);
    if (what >= 4) keep(&world, chain, number);
    uint32_t used = 0;
    for (int i = 0; i < CHAINS; i++) {
      for (uint32_t at = world.chains[i]; at != VV_LLC_NO_EARLY; at = world.pdus[at].next, used++) {
        uint32_t next = world.pdus[at].next;
        assert_true(next == VV_LLC_NO_EARLY || number_at(&world, at) < number_at(&world, next));
      }
    }
    assert_int_equal(used + free_places(&world), PLACES);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),     cmocka_unit_test(test_what_is_before_is_given_up),
      cmocka_unit_test(test_no_place),  cmocka_unit_test(test_none_at_all),
      cmocka_unit_test(test_at_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
