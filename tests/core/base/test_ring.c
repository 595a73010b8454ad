/* SPDX-License-Identifier: BSD-3-Clause */
/* First in, first out, for rings of every small size and every order of pushing and taking. */
#include "core/base/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/rng.h"

static void one_life(uint32_t room, uint64_t seed) {
  uint32_t values[8];
  struct vv_ring ring = {.values = values, .room = room};
  struct vv_rng rng = {.state = seed};
  uint32_t pushed = 0, taken = 0;
  for (int step = 0; step < 200; step++) {
    if (vv_rng_next(&rng) % 2 == 0) {
      bool fits = pushed - taken < room;
      assert_int_equal(vv_ring_push(&ring, pushed), fits);
      if (fits) pushed++;
    } else if (taken < pushed) {
      assert_int_equal(vv_ring_first(&ring), taken);
      assert_int_equal(vv_ring_pop(&ring), taken);
      taken++;
    }
    assert_int_equal(ring.count, pushed - taken);
  }
}

static void test_first_in_first_out(void **state) {
  (void)state;
  for (uint32_t room = 0; room <= 8; room++) {
    for (uint64_t seed = 0; seed < 50; seed++) one_life(room, seed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_in_first_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
