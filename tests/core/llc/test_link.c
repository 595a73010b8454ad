/* SPDX-License-Identifier: BSD-3-Clause */
/* What the links of a station share: how many I PDUs may be under way to all peers together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/llc/state.h"
#include "pair.h"

enum { BYTES = 20 * 1490 };
static const uint8_t bytes[BYTES] = {1, 2, 3};

/* Two stations that are connected; the first thinks that its other links have all under way that it may have. */
static struct pair *beside_others(void) {
  struct vv_llc_station_config a = pair_config(0), b = pair_config(1);
  a.window = 127;
  struct pair *pair = pair_new(&a, &b);
  pair_connect(pair);
  pair->stations[0].flight += VV_LLC_STATION_FLIGHT_MAX;
  return pair;
}

static void send(struct pair *pair) {
  assert_true(vv_llc_station_send(&pair->stations[0], pair->now_ns, pair->links[0], bytes, BYTES, 1));
}

/* Whatever the others have a link goes on, and what was acknowledged is under way no more. */
static void test_a_link_goes_on_beside_others(void **state) {
  (void)state;
  struct pair *pair = beside_others();
  send(pair);
  pair_send(pair, 0);
  assert_int_equal(pair->count[1], VV_LLC_LINK_FLIGHT_MIN);
  pair_sleep(pair, 50 * VV_MS);
  assert_int_equal(pair->told[0][VV_LLC_STATION_SENT], 1);
  assert_int_equal(pair->got_bytes[1], BYTES);
  assert_int_equal(pair->stations[0].flight, VV_LLC_STATION_FLIGHT_MAX);
  pair_free(pair);
}

/* With the others' end it has more; of a link that ends nothing stays. */
static void test_what_is_free_is_for_all(void **state) {
  (void)state;
  struct pair *pair = beside_others();
  struct vv_llc_station *near = &pair->stations[0];
  send(pair);
  pair_send(pair, 0);
  near->flight -= VV_LLC_STATION_FLIGHT_MAX;
  while (pair_deliver(pair, 1)) continue;
  pair_send(pair, 1);
  while (pair_deliver(pair, 0)) continue;
  pair_send(pair, 0);
  assert_true(pair->count[1] > VV_LLC_LINK_FLIGHT_MIN);
  assert_int_equal(near->flight, pair->count[1]);
  vv_llc_station_disconnect(near, pair->now_ns, pair->links[0]);
  pair_sleep(pair, 20 * VV_MS);
  assert_int_equal(near->flight, 0);
  pair_free(pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_link_goes_on_beside_others),
      cmocka_unit_test(test_what_is_free_is_for_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
