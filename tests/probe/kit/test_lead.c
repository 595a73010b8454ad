/* SPDX-License-Identifier: BSD-3-Clause */
/* A lead grows when somebody was late, not with every round after that. */
#include "probe/kit/lead.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_round_that_was_late_doubles_the_lead_once(void **state) {
  (void)state;
  struct vv_lead lead = {0};
  assert_int_equal(vv_lead_next(&lead, 0), VV_LEAD_NS);
  assert_int_equal(vv_lead_next(&lead, 1), 2 * VV_LEAD_NS);
  for (int i = 0; i < 100; i++) assert_int_equal(vv_lead_next(&lead, 1), 2 * VV_LEAD_NS);
  assert_int_equal(vv_lead_next(&lead, 2), 4 * VV_LEAD_NS);
}

static void a_new_series_keeps_the_lead_and_counts_anew(void **state) {
  (void)state;
  struct vv_lead lead = {0};
  vv_lead_next(&lead, 3);
  assert_int_equal(vv_lead_next(&lead, 0), 2 * VV_LEAD_NS);
  assert_int_equal(vv_lead_next(&lead, 1), 4 * VV_LEAD_NS);
}

static void it_has_an_end(void **state) {
  (void)state;
  struct vv_lead lead = {0};
  for (uint32_t late = 1; late < 100; late++) vv_lead_next(&lead, late);
  assert_int_equal(lead.ns, VV_LEAD_NS_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_round_that_was_late_doubles_the_lead_once),
      cmocka_unit_test(a_new_series_keeps_the_lead_and_counts_anew),
      cmocka_unit_test(it_has_an_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
