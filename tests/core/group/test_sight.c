/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known to be sent: all below an edge, and single positions beyond it, which go with the edge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/group/sight.h"

#define FAR (UINT64_C(1) << 40)

static void test_an_edge_only_rises(void **state) {
  (void)state;
  struct vv_sight sight = {0};
  vv_sight_sent(&sight, FAR);
  vv_sight_sent(&sight, 3);
  assert_true(sight.edge == FAR);
  assert_true(vv_sight_is_sent(&sight, FAR - 1) && !vv_sight_is_sent(&sight, FAR));
}

static void test_single_positions_stay_what_they_are_when_the_edge_rises(void **state) {
  (void)state;
  for (uint64_t rise = 0; rise <= 2 * VV_SIGHT_BEYOND; rise++) {
    struct vv_sight sight = {.edge = FAR};
    for (uint64_t i = 0; i < 2 * VV_SIGHT_BEYOND; i += 3) vv_sight_sent_one(&sight, FAR + i);
    vv_sight_sent(&sight, FAR + rise);
    for (uint64_t i = 0; i < 2 * VV_SIGHT_BEYOND; i++) {
      bool sent = i < rise || (i % 3 == 0 && i < VV_SIGHT_BEYOND);
      assert_int_equal(vv_sight_is_sent(&sight, FAR + i), sent);
    }
  }
}

static void test_what_is_sent_is_passed_when_the_socket_is_empty_afterwards(void **state) {
  (void)state;
  struct vv_sight sight = {.edge = 10, .passed = 4};
  vv_sight_sent_one(&sight, 12);
  assert_true(vv_sight_is_passed(&sight, 3) && !vv_sight_is_passed(&sight, 4) && !vv_sight_is_passed(&sight, 12));
  vv_sight_dry(&sight);
  vv_sight_sent_one(&sight, 11);
  assert_true(vv_sight_is_passed(&sight, 9) && vv_sight_is_passed(&sight, 12));
  assert_false(vv_sight_is_passed(&sight, 10) || vv_sight_is_passed(&sight, 11));
  vv_sight_sent(&sight, 12); /* 11 may still lie in the socket */
  assert_true(vv_sight_is_passed(&sight, 12) && !vv_sight_is_passed(&sight, 11));
}

static void test_what_is_passed_has_been_sent(void **state) {
  (void)state;
  struct vv_sight sight = {0};
  vv_sight_pass(&sight, 7);
  assert_true(sight.edge == 7 && sight.passed == 7);
  vv_sight_pass(&sight, 5);
  assert_true(sight.edge == 7 && sight.passed == 7);
}

static void test_below_zero_there_is_nothing(void **state) {
  (void)state;
  struct vv_sight sight = {.edge = 5};
  vv_sight_sent_one(&sight, 2);
  assert_int_equal(sight.sent_beyond, 0);
  assert_true(vv_sight_is_sent(&sight, 2));
  vv_sight_sent_one(&sight, UINT64_MAX);
  assert_int_equal(sight.sent_beyond, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_edge_only_rises),
      cmocka_unit_test(test_single_positions_stay_what_they_are_when_the_edge_rises),
      cmocka_unit_test(test_what_is_sent_is_passed_when_the_socket_is_empty_afterwards),
      cmocka_unit_test(test_what_is_passed_has_been_sent),
      cmocka_unit_test(test_below_zero_there_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
