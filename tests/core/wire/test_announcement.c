/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in a TEST before a SABME: known bytes, and everything that is something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/announcement.h"

static const uint8_t known[] = {'v', 'a', 'i', 'v', 'e', 'n', 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 1};

static void test_bytes(void **state) {
  (void)state;
  const struct vv_announcement announcement = {0x01020304, 0x05060708, 0x090a0b0c, 13, 14, true};
  uint8_t bytes[VV_ANNOUNCEMENT_BYTES];
  vv_announcement_emit(&announcement, bytes);
  assert_memory_equal(bytes, known, sizeof known);
  struct vv_announcement out;
  assert_true(vv_announcement_parse(bytes, sizeof bytes, &out));
  assert_int_equal(out.nonce, announcement.nonce);
  assert_int_equal(out.incarnation, announcement.incarnation);
  assert_int_equal(out.peer, announcement.peer);
  assert_int_equal(out.epoch, 13);
  assert_int_equal(out.window, 14);
  assert_true(out.talked);
}

static void test_something_else(void **state) {
  (void)state;
  struct vv_announcement out;
  for (size_t at = 0; at < 8; at++) {
    uint8_t bytes[VV_ANNOUNCEMENT_BYTES];
    memcpy(bytes, known, sizeof known);
    bytes[at] ^= 0x40;
    assert_false(vv_announcement_parse(bytes, sizeof bytes, &out));
  }
  assert_false(vv_announcement_parse(known, sizeof known - 1, &out));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_something_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
