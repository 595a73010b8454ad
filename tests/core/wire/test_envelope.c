/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ways of a PDU in a frame, and everything that is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/envelope.h"

static struct vv_envelope of(size_t pdu_bytes) {
  return (struct vv_envelope){
      .destination = {1, 2, 3, 4, 5, 6}, .source = {7, 8, 9, 10, 11, 12}, .pdu_bytes = pdu_bytes};
}

static void test_round_trip(void **state) {
  (void)state;
  static uint8_t frame[VV_ENVELOPE_BYTES + 9000 + 46];
  const size_t sizes[] = {0, 3, 46, 1500, 1501, 9000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct vv_envelope in = of(sizes[i]), out;
    vv_envelope_emit(&in, frame);
    size_t pad = sizes[i] <= VV_FRAME_DATA_BYTES_MAX ? 46 : 0; /* the length field tells it from data */
    assert_true(vv_envelope_parse(frame, VV_ENVELOPE_BYTES + sizes[i] + pad, &out));
    assert_int_equal(out.pdu_bytes, sizes[i]);
    assert_ptr_equal(out.pdu, frame + VV_ENVELOPE_BYTES);
    assert_memory_equal(out.destination, in.destination, VV_MAC_BYTES);
    assert_memory_equal(out.source, in.source, VV_MAC_BYTES);
  }
}

static void test_what_is_no_frame_of_llc(void **state) {
  (void)state;
  uint8_t frame[VV_ENVELOPE_BYTES + 100] = {0};
  struct vv_envelope out;
  for (unsigned field = 0; field < 0x10000; field++) {
    frame[12] = (uint8_t)(field >> 8);
    frame[13] = (uint8_t)field;
    assert_int_equal(vv_envelope_parse(frame, sizeof frame, &out),
                     field <= 100); /* a length that lies; VLAN tags; types */
  }
  assert_false(vv_envelope_parse(frame, VV_ENVELOPE_BYTES - 1, &out));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_what_is_no_frame_of_llc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
