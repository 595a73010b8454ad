/* SPDX-License-Identifier: BSD-3-Clause */
/* A hot slot is as long as its message; a cold ring is kept from size to size, and its slots follow on each other. */
#include "probe/link/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "io/os/host.h"

static struct vv_error error;

static size_t offset(const struct vv_slots *ring, uint64_t seq) {
  return (size_t)(vv_slots_at(ring, seq) - ring->memory);
}

static void a_hot_slot_is_as_long_as_its_message(void **state) {
  (void)state;
  struct vv_slots slot = {0};
  assert_int_equal(vv_slots_cut(&slot, VV_PROBE_BUFFERS_HOT, 1000000, 0, &error), 1);
  assert_in_range(slot.bytes, 1000000, 1000000 + 4096);
  assert_ptr_equal(vv_slots_at(&slot, 0), vv_slots_at(&slot, 1));
  assert_int_equal(vv_slots_cut(&slot, VV_PROBE_BUFFERS_HOT, 1000000, 1, &error), 0);
  assert_int_equal(vv_slots_cut(&slot, VV_PROBE_BUFFERS_HOT, 8, 2, &error), 1);
  assert_in_range(slot.bytes, 8, 4096);
  vv_slots_close(&slot);
  assert_null(slot.memory);
}

static void a_cold_ring_is_kept_from_size_to_size(void **state) {
  (void)state;
  struct vv_slots ring = {0};
  assert_int_equal(vv_slots_cut(&ring, VV_PROBE_BUFFERS_COLD, 1, 0, &error), 1);
  assert_int_equal(ring.bytes, 2 * vv_host_cache_bytes());
  const uint8_t *memory = ring.memory;
  assert_int_equal(vv_slots_cut(&ring, VV_PROBE_BUFFERS_COLD, 60000, 5, &error), 1);
  assert_ptr_equal(ring.memory, memory);
  const uint8_t *place = vv_slots_at(&ring, 7);
  assert_int_equal(vv_slots_cut(&ring, VV_PROBE_BUFFERS_COLD, 60000, 7, &error), 0);
  assert_ptr_equal(vv_slots_at(&ring, 7), place);
  vv_slots_close(&ring);
}

/* Else the first messages of a size would lie where a cache still has the last ones of the size before. */
static void the_slots_of_a_size_follow_on_those_before(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 3000, 60000, 64, 0, 7}; /* 50 of each lie in any ring */
  struct vv_slots ring = {0};
  uint64_t seq = 40;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    size_t before = ring.memory ? offset(&ring, seq) : 0;
    assert_int_equal(vv_slots_cut(&ring, VV_PROBE_BUFFERS_COLD, sizes[i], seq, &error), 1);
    assert_in_range(offset(&ring, seq), before, before + ring.stride - 1);
    for (uint64_t last = seq + 50; seq < last; seq++) {
      assert_int_equal(offset(&ring, seq + 1), (offset(&ring, seq) + ring.stride) % (ring.slots * ring.stride));
      assert_true(offset(&ring, seq) + sizes[i] <= ring.bytes);
    }
  }
  vv_slots_close(&ring);
}

static void a_ring_is_used_all_round(void **state) {
  (void)state;
  struct vv_slots ring = {0};
  assert_int_equal(vv_slots_cut(&ring, VV_PROBE_BUFFERS_COLD, 1000000, 3, &error), 1);
  assert_int_equal(offset(&ring, 3), 0);
  assert_int_equal(offset(&ring, 3 + ring.slots), 0);
  assert_int_equal(offset(&ring, 2 + ring.slots), (ring.slots - 1) * ring.stride);
  assert_int_equal(vv_slots_cut(&ring, VV_PROBE_BUFFERS_COLD, 100, 2 + ring.slots, &error), 1);
  assert_true(offset(&ring, ring.seq) + 100 <= ring.bytes);
  vv_slots_close(&ring);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hot_slot_is_as_long_as_its_message),
      cmocka_unit_test(a_cold_ring_is_kept_from_size_to_size),
      cmocka_unit_test(the_slots_of_a_size_follow_on_those_before),
      cmocka_unit_test(a_ring_is_used_all_round),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
