/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians by classes of sizes, and what is foretold of a class before its first call: only what was measured carries.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpi/coll/ledger.h"

static void add(struct vv_ledger *ledger, size_t bytes, vv_ns ns, int calls) {
  for (int i = 0; i < calls; i++) assert_true(vv_ledger_add(ledger, bytes, ns, 0));
}

static void assert_near(double found, double expected) {
  assert_true(fabs(found - expected) <= 1e-6 * fabs(expected));
}

static void classes_are_powers_of_two(void **state) {
  (void)state;
  struct vv_ledger ledger = {0};
  add(&ledger, 1, 5, 1), add(&ledger, 2, 6, 1), add(&ledger, 3, 8, 1), add(&ledger, 4, 9, 1);
  add(&ledger, SIZE_MAX, 9, 1);
  assert_int_equal(ledger.classes[0]->calls, 1);
  assert_int_equal(ledger.classes[1]->calls, 2);
  assert_near(vv_ledger_bytes(ledger.classes[1]), 2.5);
  assert_near(vv_ledger_median_ns(ledger.classes[1]), 7);
  assert_int_equal(ledger.classes[2]->calls, 1);
  assert_non_null(ledger.classes[63]);
  vv_ledger_end(&ledger);
  assert_null(ledger.classes[0]);
}

/* However many calls: the median of 0, 1 .. n - 1 is in their middle, which that of the first or last ones is not. */
static void a_median_is_of_all_calls(void **state) {
  (void)state;
  static const int counts[] = {1, 2, 255, 256, 257, 1000, 30000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    struct vv_ledger ledger = {0};
    for (int n = 0; n < counts[i]; n++) assert_true(vv_ledger_add(&ledger, 100, n, 0));
    const double off = vv_ledger_median_ns(ledger.classes[6]) - (counts[i] - 1) / 2.0;
    assert_true(fabs(off) <= counts[i] / 128.0);
    assert_int_equal(ledger.classes[6]->calls, counts[i]);
    vv_ledger_end(&ledger);
  }
}

static void a_line_foretells_what_lies_on_it(void **state) {
  (void)state;
  struct vv_ledger ledger = {0};
  add(&ledger, 1000, 130000, 3);
  assert_int_equal(ledger.classes[9]->forecast.basis, VV_LEDGER_NOTHING);
  add(&ledger, 10000, 850000, 3);
  add(&ledger, 100000, 8050000, 1);
  const struct vv_ledger_class *last = ledger.classes[16];
  assert_int_equal(last->forecast.basis, VV_LEDGER_LINE);
  assert_int_equal(last->forecast.classes, 2);
  assert_near(last->forecast.alpha_ns, 50000);
  assert_near(last->forecast.ns_per_byte, 80);
  assert_near(vv_ledger_foretold_ns(last), 8050000);
  vv_ledger_end(&ledger);
}

/* It was said before: what comes later changes nothing of it. */
static void what_was_foretold_stays(void **state) {
  (void)state;
  struct vv_ledger ledger = {0};
  add(&ledger, 1000, 130000, 3), add(&ledger, 10000, 850000, 3), add(&ledger, 100000, 9999999, 50);
  add(&ledger, 1000, 500000, 50);
  assert_near(vv_ledger_foretold_ns(ledger.classes[16]), 8050000);
  vv_ledger_end(&ledger);
}

static void what_nothing_carries_is_not_foretold(void **state) {
  (void)state;
  struct vv_ledger few = {0}, near = {0}, falling = {0}, below = {0}, far = {0};
  add(&few, 1000, 130000, 2), add(&few, 10000, 850000, 3);
  assert_int_equal(vv_ledger_line(&few, 50000).basis, VV_LEDGER_NOTHING); /* two calls */
  add(&near, 1000, 130000, 9), add(&near, 1100, 140000, 9);
  assert_int_equal(vv_ledger_line(&near, 5000).basis, VV_LEDGER_NOTHING); /* sizes that hardly differ */
  add(&falling, 1000, 900000, 9), add(&falling, 10000, 850000, 9);
  assert_int_equal(vv_ledger_line(&falling, 50000).basis, VV_LEDGER_NOTHING); /* the longer the quicker */
  add(&below, 1000, 1000, 9), add(&below, 10000, 850000, 9);
  assert_int_equal(vv_ledger_line(&below, 50000).basis, VV_LEDGER_NOTHING); /* less than nothing for no bytes */
  add(&far, 1000, 130000, 9), add(&far, 10000, 850000, 9);
  assert_int_equal(vv_ledger_line(&far, 160000).basis, VV_LEDGER_LINE);
  assert_int_equal(vv_ledger_line(&far, 160001).basis, VV_LEDGER_NOTHING);
  assert_int_equal(vv_ledger_line(&far, 63).basis, VV_LEDGER_LINE);
  assert_int_equal(vv_ledger_line(&far, 62).basis, VV_LEDGER_NOTHING);
  vv_ledger_end(&few), vv_ledger_end(&near), vv_ledger_end(&falling), vv_ledger_end(&below), vv_ledger_end(&far);
}

static void the_wire_is_said_where_there_is_no_line(void **state) {
  (void)state;
  struct vv_ledger ledger = {0};
  for (int i = 0; i < 3; i++) assert_true(vv_ledger_add(&ledger, 1000, 130000, 86000));
  assert_int_equal(ledger.classes[9]->forecast.basis, VV_LEDGER_WIRE);
  assert_near(vv_ledger_foretold_ns(ledger.classes[9]), 86000);
  for (int i = 0; i < 3; i++) assert_true(vv_ledger_add(&ledger, 10000, 850000, 840000));
  assert_true(vv_ledger_add(&ledger, 100000, 1, 8400000));
  assert_int_equal(ledger.classes[16]->forecast.basis, VV_LEDGER_LINE);
  vv_ledger_end(&ledger);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(classes_are_powers_of_two),
                                     cmocka_unit_test(a_median_is_of_all_calls),
                                     cmocka_unit_test(a_line_foretells_what_lies_on_it),
                                     cmocka_unit_test(what_was_foretold_stays),
                                     cmocka_unit_test(what_nothing_carries_is_not_foretold),
                                     cmocka_unit_test(the_wire_is_said_where_there_is_no_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
