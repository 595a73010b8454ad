/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of addresses: who gives way when both connect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/llc/address.h"

static void test_order(void **state) {
  (void)state;
  const struct vv_llc_address low = {{2, 0, 0, 0, 0, 1}, 0x68}, high = {{2, 0, 0, 0, 0, 2}, 0x64};
  struct vv_llc_address other = low;
  assert_true(vv_llc_address_compare(&low, &high) < 0 && vv_llc_address_compare(&high, &low) > 0);
  assert_int_equal(vv_llc_address_compare(&low, &other), 0);
  other.sap += 4;
  assert_true(vv_llc_address_compare(&low, &other) < 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
