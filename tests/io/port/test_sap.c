/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/wire/lpdu.h"
#include "io/port/sap.h"

enum { IFACE = 1000001 }; /* of no interface, and different from what other tests claim */

static void fifty_two_are_usable(void **state) {
  (void)state;
  int usable = 0;
  for (unsigned sap = 0; sap < 256; sap++) usable += vv_sap_usable((uint8_t)sap);
  assert_int_equal(usable, 52);
  assert_true(vv_sap_usable(VV_LPDU_SAP));
  assert_false(vv_sap_usable(0x00)); /* the station */
  assert_false(vv_sap_usable(0x42)); /* spanning tree */
  assert_false(vv_sap_usable(0xAA)); /* SNAP */
  assert_false(vv_sap_usable(0xFF)); /* everybody */
}

static void a_sap_is_claimed_once_per_interface(void **state) {
  (void)state;
  struct vv_error error = {0};
  uint8_t sap = 0x20;
  int first = vv_sap_claim(IFACE, &sap, &error);
  assert_true(first >= 0);
  assert_int_equal(vv_sap_claim(IFACE, &sap, &error), -1);
  assert_string_equal(error.code, "sap-taken");
  int elsewhere = vv_sap_claim(IFACE + 1, &sap, &error);
  assert_true(elsewhere >= 0);
  close(first);
  int second = vv_sap_claim(IFACE, &sap, &error);
  assert_true(second >= 0);
  close(second);
  close(elsewhere);
}

static void an_unusable_sap_is_refused(void **state) {
  (void)state;
  for (unsigned one = 1; one < 256; one++) {
    struct vv_error error = {0};
    uint8_t sap = (uint8_t)one;
    if (vv_sap_usable(sap)) continue;
    assert_int_equal(vv_sap_claim(IFACE, &sap, &error), -1);
    assert_string_equal(error.code, "bad-sap");
  }
}

static void any_free_sap_is_another_each_time_until_all_are_taken(void **state) {
  (void)state;
  struct vv_error error = {0};
  bool seen[256] = {false};
  int claims[64], count = 0;
  for (;; count++) {
    uint8_t sap = 0;
    claims[count] = vv_sap_claim(IFACE, &sap, &error);
    if (claims[count] < 0) break;
    assert_true(vv_sap_usable(sap) && !seen[sap] && sap != VV_LPDU_SAP);
    seen[sap] = true;
  }
  assert_int_equal(count, 51); /* all but that of eth */
  assert_string_equal(error.code, "sap-taken");
  while (count > 0) close(claims[--count]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fifty_two_are_usable),
      cmocka_unit_test(a_sap_is_claimed_once_per_interface),
      cmocka_unit_test(an_unusable_sap_is_refused),
      cmocka_unit_test(any_free_sap_is_another_each_time_until_all_are_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
