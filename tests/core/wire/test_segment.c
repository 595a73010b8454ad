/* SPDX-License-Identifier: BSD-3-Clause */
/* The marks of I PDUs: known bytes, and nothing read beyond what is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/segment.h"

static void test_bytes(void **state) {
  (void)state;
  const struct vv_segment segment = {0xab, 0xcd, 0, 0x01020304, 0x05060708, 0x090a0b0c};
  const uint8_t known[] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  uint8_t marks[VV_SEGMENT_BYTES_MAX];
  assert_int_equal(vv_segment_emit(&segment, true, marks), sizeof known);
  assert_memory_equal(marks, known, sizeof known);
  assert_int_equal(vv_segment_emit(&segment, false, marks), VV_SEGMENT_BYTES);
  struct vv_segment out = {0};
  assert_true(vv_segment_parse(known, sizeof known, &out) && vv_segment_parse_first(known, sizeof known, &out));
  assert_true(out.epoch == segment.epoch && out.round == segment.round && out.number == segment.number);
  assert_true(out.nonce == segment.nonce && out.message_bytes == segment.message_bytes);
}

static void test_an_s_pdu_has_the_least(void **state) {
  (void)state;
  const struct vv_segment segment = {.epoch = 0xab, .round = 0xcd, .enquiry = 0xef};
  uint8_t marks[VV_SEGMENT_BYTES_MIN + 1] = {0};
  struct vv_segment out = {0};
  vv_segment_emit_least(&segment, marks);
  assert_true(marks[0] == 0xab && marks[1] == 0xcd && marks[2] == 0xef && marks[3] == 0);
  assert_true(vv_segment_parse_least(marks, VV_SEGMENT_BYTES_MIN, &out));
  assert_true(out.epoch == segment.epoch && out.round == segment.round && out.enquiry == segment.enquiry);
  for (size_t count = 0; count <= sizeof marks; count++)
    assert_int_equal(vv_segment_parse_least(marks, count, &out), count == VV_SEGMENT_BYTES_MIN);
}

static void test_too_short(void **state) {
  (void)state;
  const uint8_t bytes[VV_SEGMENT_BYTES_MAX] = {0};
  struct vv_segment out;
  for (size_t count = 0; count <= sizeof bytes; count++) {
    assert_int_equal(vv_segment_parse(bytes, count, &out), count >= VV_SEGMENT_BYTES);
    assert_int_equal(vv_segment_parse_first(bytes, count, &out), count == VV_SEGMENT_BYTES_MAX);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_an_s_pdu_has_the_least),
      cmocka_unit_test(test_too_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
