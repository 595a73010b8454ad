/* SPDX-License-Identifier: BSD-3-Clause */
/* A flood is told once, deafness once and its end; and no deafness where a flood may be the reason. */
#include "io/job/hearing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BEGIN_NS (5 * VV_SEC)

static void a_flood_is_told_once_in_ten_seconds(void **state) {
  (void)state;
  struct vv_hearing hearing = {0};
  assert_false(vv_hearing_minds(&hearing, 0));
  assert_true(vv_hearing_minds(&hearing, 5));
  assert_int_equal(vv_hearing_count(&hearing, BEGIN_NS, 5), 0); /* the first second is over, and had five */
  assert_int_equal(vv_hearing_count(&hearing, BEGIN_NS + VV_SEC / 2, 105), 199);
  assert_int_equal(vv_hearing_count(&hearing, BEGIN_NS + VV_SEC, 1105), 0);
  assert_int_equal(vv_hearing_count(&hearing, BEGIN_NS + 11 * VV_SEC, 31105), 2999);
}

static void deafness_is_told_once_and_so_is_its_end(void **state) {
  (void)state;
  struct vv_hearing hearing = {0};
  assert_false(vv_hearing_is_deaf(&hearing, BEGIN_NS));
  assert_false(vv_hearing_turn(&hearing, true));
  assert_true(vv_hearing_is_deaf(&hearing, BEGIN_NS));
  assert_false(vv_hearing_is_deaf(&hearing, BEGIN_NS + VV_MS));
  assert_true(vv_hearing_turn(&hearing, false));
  assert_false(vv_hearing_turn(&hearing, false));
  vv_hearing_turn(&hearing, true);
  assert_false(vv_hearing_is_deaf(&hearing, BEGIN_NS + VV_SEC)); /* soon after */
  assert_true(vv_hearing_is_deaf(&hearing, BEGIN_NS + 10 * VV_SEC));
}

static void a_flood_and_its_beginning_explain_deafness(void **state) {
  (void)state;
  struct vv_hearing hearing = {0};
  vv_hearing_turn(&hearing, true);
  vv_hearing_count(&hearing, BEGIN_NS, 0);
  hearing.since_ns = BEGIN_NS;
  assert_int_equal(vv_hearing_count(&hearing, BEGIN_NS + VV_MS, 10), 0);
  assert_false(vv_hearing_is_deaf(&hearing, BEGIN_NS + VV_MS));
  assert_true(vv_hearing_count(&hearing, BEGIN_NS + 2 * VV_MS, 200) > 0);
  assert_false(vv_hearing_is_deaf(&hearing, BEGIN_NS + VV_SEC));
  assert_int_equal(vv_hearing_count(&hearing, BEGIN_NS + 20 * VV_SEC, 200), 0);
  assert_true(vv_hearing_is_deaf(&hearing, BEGIN_NS + 20 * VV_SEC));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flood_is_told_once_in_ten_seconds),
      cmocka_unit_test(deafness_is_told_once_and_so_is_its_end),
      cmocka_unit_test(a_flood_and_its_beginning_explain_deafness),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
