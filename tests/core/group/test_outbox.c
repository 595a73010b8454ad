/* SPDX-License-Identifier: BSD-3-Clause */
/* The outbox: in order, one of a kind for each rank, bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/group/outbox.h"

static void test_in_order_and_one_of_a_kind(void **state) {
  (void)state;
  struct vv_outbox outbox = {0};
  const uint8_t bitmap[] = {1, 2};
  struct vv_gpdu ask = {.kind = VV_GPDU_ASK, .position = 1, .data = bitmap, .data_bytes = 2};
  struct vv_gpdu state_pdu = {.kind = VV_GPDU_STATE, .position = 2};
  vv_outbox_put(&outbox, 3, &ask);
  vv_outbox_put(&outbox, VV_OUTBOX_ALL, &state_pdu);
  vv_outbox_put(&outbox, 4, &state_pdu);
  state_pdu.position = 9;
  vv_outbox_put(&outbox, VV_OUTBOX_ALL, &state_pdu); /* newer news in the same place */
  const struct vv_outbox_letter *letter = vv_outbox_take(&outbox);
  assert_true(letter->rank == 3 && letter->pdu.kind == VV_GPDU_ASK && letter->pdu.data != bitmap);
  assert_memory_equal(letter->pdu.data, bitmap, 2);
  letter = vv_outbox_take(&outbox);
  assert_true(letter->rank == VV_OUTBOX_ALL && letter->pdu.position == 9);
  assert_int_equal(vv_outbox_take(&outbox)->rank, 4);
  assert_null(vv_outbox_take(&outbox));
}

static void test_what_does_not_fit_is_forgotten(void **state) {
  (void)state;
  struct vv_outbox outbox = {0};
  for (uint32_t rank = 0; rank < 2 * VV_OUTBOX_ROOM; rank++) {
    struct vv_gpdu pdu = {.kind = VV_GPDU_STATE, .position = rank};
    vv_outbox_put(&outbox, rank, &pdu);
  }
  for (uint32_t rank = 0; rank < VV_OUTBOX_ROOM; rank++) assert_int_equal(vv_outbox_take(&outbox)->rank, rank);
  assert_null(vv_outbox_take(&outbox));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_order_and_one_of_a_kind),
      cmocka_unit_test(test_what_does_not_fit_is_forgotten),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
