/* SPDX-License-Identifier: BSD-3-Clause */
/* Cards of ranks: written and read, and who reaches whom by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/btl/card.h"

static const struct vv_card one = {.address = {.mac = {2, 0x76, 0x76, 0, 0, 1}, .sap = 0x10},
                                   .mtu_bytes = 1500,
                                   .prefix = 24,
                                   .nonce = 0x12345678,
                                   .network = 0x0a010000};

static struct vv_card neighbour(void) {
  struct vv_card card = one;
  card.address.mac[5] = 2;
  return card;
}

static void a_card_is_read_as_it_was_written(void **state) {
  (void)state;
  uint8_t bytes[VV_CARD_BYTES];
  struct vv_card read;
  vv_card_emit(&one, bytes);
  static const uint8_t expected[VV_CARD_BYTES] = {1,  0x10, 2,    0x76, 0x76, 0,    0,  1, 5, 0xdc,
                                                  24, 0,    0x12, 0x34, 0x56, 0x78, 10, 1, 0, 0};
  assert_memory_equal(bytes, expected, sizeof expected);
  assert_true(vv_card_parse(bytes, sizeof bytes, &read));
  assert_int_equal(vv_llc_address_compare(&read.address, &one.address), 0);
  assert_true(read.mtu_bytes == one.mtu_bytes && read.prefix == one.prefix && read.nonce == one.nonce &&
              read.network == one.network);
}

static void what_is_no_card_of_ours_is_refused(void **state) {
  (void)state;
  uint8_t bytes[VV_CARD_BYTES];
  struct vv_card read = {.nonce = 7};
  vv_card_emit(&one, bytes);
  assert_false(vv_card_parse(bytes, sizeof bytes - 1, &read));
  assert_false(vv_card_parse(bytes, 0, &read));
  bytes[0]++;
  assert_false(vv_card_parse(bytes, sizeof bytes, &read));
  assert_int_equal(read.nonce, 7);
}

static void neighbours_of_one_job_reach_each_other_and_nobody_else(void **state) {
  (void)state;
  struct vv_card other = neighbour();
  assert_true(vv_card_reaches(&one, &other));
  other.nonce++; /* another job */
  assert_false(vv_card_reaches(&one, &other));
  other = neighbour();
  other.mtu_bytes = 1400; /* full frames would not arrive */
  assert_false(vv_card_reaches(&one, &other));
  other = neighbour();
  other.network += 256; /* behind a router */
  assert_false(vv_card_reaches(&one, &other));
  other = neighbour();
  other.prefix = 16;
  assert_false(vv_card_reaches(&one, &other));
  other = one; /* another rank of one host */
  other.address.sap = 0x14;
  assert_false(vv_card_reaches(&one, &other));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_card_is_read_as_it_was_written),
      cmocka_unit_test(what_is_no_card_of_ours_is_refused),
      cmocka_unit_test(neighbours_of_one_job_reach_each_other_and_nobody_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
