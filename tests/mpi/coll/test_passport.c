/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks tell each other before they meet: written and read, and which network all have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/coll/passport.h"

#define NETWORK(a, b, c, d, prefix)                                                                                    \
  { (uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d), prefix }

static const struct vv_passport one = {.threads = true,
                                       .family = 0x0102030405060708,
                                       .offer = 0x1112131415161718,
                                       .networks_count = 2,
                                       .networks = {NETWORK(10, 1, 0, 1, 16), NETWORK(192, 168, 7, 9, 24)}};

static void a_passport_is_read_as_it_was_written(void **state) {
  (void)state;
  uint8_t bytes[VV_PASSPORT_BYTES];
  struct vv_passport read;
  static const uint8_t expected[36] = {1,    1,    2,    0,    1,    2,    3,    4,    5,  6, 7, 8,
                                       0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 10, 1, 0, 1,
                                       16,   0,    0,    0,    192,  168,  7,    9,    24, 0, 0, 0};
  vv_passport_emit(&one, bytes);
  assert_memory_equal(bytes, expected, sizeof expected);
  assert_true(vv_passport_parse(bytes, &read));
  assert_true(read.threads == one.threads && read.unwilling == one.unwilling && read.family == one.family &&
              read.offer == one.offer && read.networks_count == one.networks_count);
  for (size_t i = 0; i < one.networks_count; i++) {
    assert_int_equal(read.networks[i].address, one.networks[i].address);
    assert_int_equal(read.networks[i].prefix, one.networks[i].prefix);
  }
}

static void what_is_no_passport_is_refused(void **state) {
  (void)state;
  uint8_t bytes[VV_PASSPORT_BYTES];
  struct vv_passport read;
  static const struct {
    size_t at;
    uint8_t is;
  } wrong[] = {{0, 2}, {0, 0}, {2, 5}, {24, 0}, {32, 33}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    vv_passport_emit(&one, bytes);
    bytes[wrong[i].at] = wrong[i].is;
    assert_false(vv_passport_parse(bytes, &read));
  }
}

static void the_first_network_that_all_have_is_taken(void **state) {
  (void)state;
  uint32_t addresses[3];
  struct vv_passport all[3] = {
      one,
      {.networks_count = 2, .networks = {NETWORK(192, 168, 7, 2, 24), NETWORK(10, 1, 4, 4, 16)}},
      {.networks_count = 1, .networks = {NETWORK(192, 168, 7, 3, 24)}},
  };
  assert_true(vv_passport_common(all, 3, addresses));
  assert_true(addresses[0] == 0xc0a80709 && addresses[1] == 0xc0a80702 && addresses[2] == 0xc0a80703);
  assert_true(vv_passport_common(all, 2, addresses));
  assert_true(addresses[0] == 0x0a010001 && addresses[1] == 0x0a010404);
  all[2].networks[0].prefix = 25; /* of another size is another one */
  assert_false(vv_passport_common(all, 3, addresses));
  all[0].networks_count = 0;
  assert_false(vv_passport_common(all, 3, addresses));
}

static void hosts_are_counted_until_there_are_enough(void **state) {
  (void)state;
  static const uint32_t addresses[] = {1, 2, 1, 2, 3, 4};
  assert_int_equal(vv_passport_hosts(addresses, 4, 3), 2);
  assert_int_equal(vv_passport_hosts(addresses, 5, 3), 3);
  assert_int_equal(vv_passport_hosts(addresses, 6, 3), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_passport_is_read_as_it_was_written),
      cmocka_unit_test(what_is_no_passport_is_refused),
      cmocka_unit_test(the_first_network_that_all_have_is_taken),
      cmocka_unit_test(hosts_are_counted_until_there_are_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
