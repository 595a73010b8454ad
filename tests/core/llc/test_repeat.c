/* SPDX-License-Identifier: BSD-3-Clause */
/* How many I PDUs are sent again: one for a REJ response, more of a burst, all in every other case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/llc/repeat.h"

enum { UNACKNOWLEDGED = 30, ALL = 0 };

/* How many are sent before V(S) goes on. */
static unsigned sent(struct vv_llc_repeat *repeat) {
  if (repeat->left == 0) return ALL;
  unsigned count = 1;
  while (!vv_llc_repeat_sent(repeat)) count++;
  return count;
}

static void test_one_by_one(void **state) {
  (void)state;
  const uint32_t bases[] = {0, 5, UINT32_MAX - 4}; /* numbers wrap */
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
    struct vv_llc_repeat repeat;
    uint32_t base = bases[i];
    vv_llc_repeat_init(&repeat, base);
    vv_llc_repeat_ask(&repeat, base + 1, true);
    assert_true(vv_llc_repeat_begin(&repeat, base + 1, UNACKNOWLEDGED, false, false));
    assert_int_equal(sent(&repeat), 1);
    assert_false(vv_llc_repeat_sent(&repeat)); /* a new one */
    vv_llc_repeat_ask(&repeat, base + 9, true);
    assert_true(vv_llc_repeat_begin(&repeat, base + 9, UNACKNOWLEDGED, false, false));
    assert_int_equal(sent(&repeat), 1);
  }
}

static void test_a_burst(void **state) {
  (void)state;
  struct vv_llc_repeat repeat;
  vv_llc_repeat_init(&repeat, 0);
  uint32_t number = 0;
  for (unsigned expected = 1; expected <= 16; expected *= 2) {
    vv_llc_repeat_ask(&repeat, number, true);
    assert_true(vv_llc_repeat_begin(&repeat, number, UNACKNOWLEDGED, number > 0, false));
    assert_int_equal(sent(&repeat), expected);
    for (uint32_t asked = number; asked < number + expected; asked++) { /* on its way */
      vv_llc_repeat_ask(&repeat, asked, true);
      assert_false(vv_llc_repeat_begin(&repeat, asked, UNACKNOWLEDGED, true, false));
    }
    number += expected;
  }
  vv_llc_repeat_ask(&repeat, number, true);
  assert_true(vv_llc_repeat_begin(&repeat, number, 3, true, false)); /* there are no more */
  assert_int_equal(sent(&repeat), 3);
}

static void test_what_is_lost_again(void **state) {
  (void)state;
  struct vv_llc_repeat repeat;
  vv_llc_repeat_init(&repeat, 5);
  vv_llc_repeat_ask(&repeat, 5, true);
  assert_true(vv_llc_repeat_begin(&repeat, 5, UNACKNOWLEDGED, false, false));
  assert_int_equal(sent(&repeat), 1);
  assert_true(vv_llc_repeat_begin(&repeat, 5, UNACKNOWLEDGED, true, true)); /* T1, and the answer to our enquiry */
  assert_int_equal(sent(&repeat), 2);
  vv_llc_repeat_ask(&repeat, 5, false); /* Trej, and the other end's enquiry */
  assert_true(vv_llc_repeat_begin(&repeat, 5, UNACKNOWLEDGED, true, false));
  assert_int_equal(sent(&repeat), ALL);
}

static void test_all(void **state) {
  (void)state;
  struct vv_llc_repeat repeat;
  vv_llc_repeat_init(&repeat, 7);
  assert_true(vv_llc_repeat_begin(&repeat, 7, UNACKNOWLEDGED, false, true)); /* nobody asked for one */
  assert_int_equal(sent(&repeat), ALL);
  vv_llc_repeat_ask(&repeat, 8, true);
  assert_true(vv_llc_repeat_begin(&repeat, 9, UNACKNOWLEDGED, false, true)); /* nor for this one */
  assert_int_equal(sent(&repeat), ALL);
}

static void test_the_end(void **state) {
  (void)state;
  struct vv_llc_repeat repeat;
  vv_llc_repeat_init(&repeat, 0);
  assert_false(vv_llc_repeat_end(&repeat));
  vv_llc_repeat_ask(&repeat, 0, true);
  assert_true(vv_llc_repeat_begin(&repeat, 0, UNACKNOWLEDGED, false, false));
  assert_true(vv_llc_repeat_end(&repeat));
  assert_false(vv_llc_repeat_end(&repeat));
  assert_false(vv_llc_repeat_sent(&repeat));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_by_one), cmocka_unit_test(test_a_burst), cmocka_unit_test(test_what_is_lost_again),
      cmocka_unit_test(test_all),        cmocka_unit_test(test_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
