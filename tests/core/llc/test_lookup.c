/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses to numbers: all are found, no other is, however they collide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/llc/lookup.h"

enum { LINKS = 1000 };

static struct vv_llc_address address(unsigned i) {
  return (struct vv_llc_address){{2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i}, (uint8_t)(i % 5 * 4)};
}

static void test_all_are_found(void **state) {
  (void)state;
  static uint32_t places[4096];
  static struct vv_llc_address addresses[LINKS];
  struct vv_llc_lookup lookup;
  assert_in_range(vv_llc_lookup_places(LINKS), 2 * LINKS, 4096);
  assert_in_range(vv_llc_lookup_places(1), 2, 2);
  vv_llc_lookup_init(&lookup, places, LINKS);
  for (uint32_t i = 0; i < LINKS; i++) {
    addresses[i] = address(i);
    assert_int_equal(vv_llc_lookup_find(&lookup, &addresses[i], addresses, sizeof *addresses), VV_LLC_LOOKUP_NONE);
    vv_llc_lookup_add(&lookup, &addresses[i], i);
  }
  for (uint32_t i = 0; i < 2 * LINKS; i++) {
    struct vv_llc_address asked = address(i);
    uint32_t should = i < LINKS ? i : VV_LLC_LOOKUP_NONE;
    assert_int_equal(vv_llc_lookup_find(&lookup, &asked, addresses, sizeof *addresses), should);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
