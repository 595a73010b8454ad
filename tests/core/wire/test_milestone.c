/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers on a road: what is written is read, and what is none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/milestone.h"

static void test_what_is_written_is_read(void **state) {
  (void)state;
  const struct vv_milestone all[] = {{VV_MILESTONE_EAGER, UINT64_C(0x0123456789abcdef), 16384},
                                     {VV_MILESTONE_OFFER, 0, UINT64_MAX},
                                     {VV_MILESTONE_GO, 7, 0},
                                     {VV_MILESTONE_DATA, UINT64_MAX, 1},
                                     {VV_MILESTONE_CREDIT, 4096, 0}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    uint8_t bytes[VV_MILESTONE_BYTES];
    struct vv_milestone read;
    vv_milestone_emit(&all[i], bytes);
    assert_true(vv_milestone_parse(bytes, &read));
    assert_true(read.kind == all[i].kind && read.what == all[i].what && read.size_bytes == all[i].size_bytes);
  }
}

static void test_bytes_in_network_order(void **state) {
  (void)state;
  uint8_t bytes[VV_MILESTONE_BYTES];
  vv_milestone_emit(&(struct vv_milestone){VV_MILESTONE_GO, 0x0102, 0x0304}, bytes);
  const uint8_t expected[VV_MILESTONE_BYTES] = {'g', [14] = 1, [15] = 2, [22] = 3, [23] = 4};
  assert_memory_equal(bytes, expected, sizeof expected);
}

static void test_what_is_no_header_is_refused(void **state) {
  (void)state;
  uint8_t bytes[VV_MILESTONE_BYTES];
  struct vv_milestone read = {VV_MILESTONE_GO, 1, 2};
  vv_milestone_emit(&(struct vv_milestone){VV_MILESTONE_CREDIT, 5, 6}, bytes);
  assert_false(vv_milestone_parse(bytes, &read));
  vv_milestone_emit(&(struct vv_milestone){VV_MILESTONE_EAGER, 5, 6}, bytes);
  bytes[7] = 1;
  assert_false(vv_milestone_parse(bytes, &read));
  memset(bytes, 0, sizeof bytes);
  assert_false(vv_milestone_parse(bytes, &read));
  bytes[0] = 'x';
  assert_false(vv_milestone_parse(bytes, &read));
  assert_true(read.what == 1 && read.size_bytes == 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_written_is_read),
      cmocka_unit_test(test_bytes_in_network_order),
      cmocka_unit_test(test_what_is_no_header_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
