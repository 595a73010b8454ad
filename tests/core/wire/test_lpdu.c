/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames, LLC UI PDUs and fragments: known bytes, refused bytes, and parse(emit(x)) == x for random x. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/wire/fragment.h"
#include "core/wire/frame.h"
#include "core/wire/lpdu.h"

/* A heap copy of exactly that many bytes, so that reading one more is caught. */
static uint8_t *copy_of(const uint8_t *bytes, size_t count) {
  uint8_t *copy = malloc(count + (count == 0));
  assert_non_null(copy);
  if (count > 0) memcpy(copy, bytes, count);
  return copy;
}

static void fill(struct vv_rng *rng, uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)vv_rng_next(rng);
}

static void test_known_bytes(void **state) {
  (void)state;
  static const uint8_t bytes[] = {
      2,    0,    0,    0,    0, 2, 2, 0, 0, 0, 0, 1, 0x00, 0x15,       /* to 2, from 1, 21 bytes of data */
      0x64, 0x64, 0x03,                                                 /* SAP 64 to SAP 64, UI */
      0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 0, 0, 1, 0, 0,    2,    0, 3, /* launch, end, message 256, fragment 2 of 3 */
      'h',  'i',  0,    0,    0,                                        /* data, pad */
  };
  struct vv_frame_view frame_view;
  struct vv_frame frame;
  assert_true(vv_frame_view(bytes, sizeof bytes, &frame_view));
  vv_frame_parse(frame_view, &frame);
  assert_memory_equal(frame.destination, bytes, 6);
  assert_memory_equal(frame.source, bytes + 6, 6);
  assert_ptr_equal(frame.data, bytes + 14);
  assert_int_equal(frame.data_bytes, 21);
  struct vv_lpdu_view llc_view;
  struct vv_lpdu_ui ui;
  assert_true(vv_lpdu_view(frame.data, frame.data_bytes, &llc_view));
  assert_true(vv_lpdu_ui_parse(llc_view, &ui));
  assert_int_equal(ui.dsap, VV_LPDU_SAP);
  assert_int_equal(ui.ssap, VV_LPDU_SAP);
  assert_int_equal(ui.data_bytes, 18);
  struct vv_fragment_view fragment_view;
  struct vv_fragment fragment;
  assert_true(vv_fragment_view(ui.data, ui.data_bytes, &fragment_view));
  assert_true(vv_fragment_parse(fragment_view, &fragment));
  assert_int_equal(fragment.launch, 0xdeadbeef);
  assert_int_equal(fragment.end, 0x01020304);
  assert_int_equal(fragment.message, 256);
  assert_int_equal(fragment.index, 2);
  assert_int_equal(fragment.count, 3);
  assert_int_equal(fragment.data_bytes, 2);
  assert_memory_equal(fragment.data, "hi", 2);
}

static void test_what_is_no_frame_is_refused(void **state) {
  (void)state;
  uint8_t bytes[1600] = {0};
  struct vv_frame_view view;
  for (size_t count = 0; count < 14; count++) assert_false(vv_frame_view(bytes, count, &view));
  assert_true(vv_frame_view(bytes, 14, &view));
  bytes[13] = 1;
  assert_false(vv_frame_view(bytes, 14, &view)); /* longer than what came */
  assert_true(vv_frame_view(bytes, 15, &view));
  bytes[12] = 1500 >> 8, bytes[13] = 1500 & 0xff;
  assert_true(vv_frame_view(bytes, 1514, &view));
  assert_false(vv_frame_view(bytes, 1513, &view));
  bytes[13]++; /* 1501 is neither a length nor a type */
  assert_false(vv_frame_view(bytes, sizeof bytes, &view));
  bytes[12] = 0x08, bytes[13] = 0x00; /* IPv4 */
  assert_false(vv_frame_view(bytes, sizeof bytes, &view));
}

static void test_what_is_no_ui_command_is_refused(void **state) {
  (void)state;
  uint8_t bytes[3] = {VV_LPDU_SAP, VV_LPDU_SAP, 0x03};
  struct vv_lpdu_view view;
  struct vv_lpdu_ui ui = {.dsap = 7};
  assert_false(vv_lpdu_view(bytes, 2, &view));
  for (unsigned control = 0; control < 256; control++) {
    bytes[2] = (uint8_t)control;
    assert_true(vv_lpdu_view(bytes, 3, &view));
    assert_int_equal(vv_lpdu_ui_parse(view, &ui), control == 0x03);
  }
  bytes[2] = 0x03;
  bytes[1] |= 1; /* a response */
  ui.dsap = 7;
  assert_false(vv_lpdu_ui_parse(view, &ui));
  assert_int_equal(ui.dsap, 7);
}

static void test_what_is_no_fragment_is_refused(void **state) {
  (void)state;
  uint8_t bytes[16] = {0};
  struct vv_fragment_view view;
  struct vv_fragment fragment;
  assert_false(vv_fragment_view(bytes, 15, &view));
  assert_true(vv_fragment_view(bytes, 16, &view));
  assert_false(vv_fragment_parse(view, &fragment)); /* of 0 */
  bytes[15] = 1;
  assert_true(vv_fragment_parse(view, &fragment));
  bytes[13] = 1; /* 1 of 0..0 */
  assert_false(vv_fragment_parse(view, &fragment));
}

static void test_emit_and_parse_are_inverse(void **state) {
  (void)state;
  struct vv_rng rng = {1};
  for (int round = 0; round < 5000; round++) {
    uint8_t bytes[14 + 3 + 16 + 1481 + 46];
    size_t size = vv_rng_next(&rng) % 1482, pad = vv_rng_next(&rng) % 47;
    fill(&rng, bytes, sizeof bytes);
    struct vv_fragment fragment = {
        .launch = (uint32_t)vv_rng_next(&rng),
        .end = (uint32_t)vv_rng_next(&rng),
        .message = (uint32_t)vv_rng_next(&rng),
        .count = (uint16_t)(vv_rng_next(&rng) % 65535 + 1),
        .data = bytes + 33,
        .data_bytes = size,
    };
    fragment.index = (uint16_t)(vv_rng_next(&rng) % fragment.count);
    struct vv_lpdu_ui ui = {(uint8_t)vv_rng_next(&rng), vv_rng_next(&rng) & 0xfe, bytes + 17, 16 + size};
    struct vv_frame frame = {.data = bytes + 14, .data_bytes = 3 + 16 + size};
    fill(&rng, frame.destination, 6);
    fill(&rng, frame.source, 6);
    vv_frame_emit(&frame, bytes);
    vv_lpdu_ui_emit(&ui, bytes + 14);
    vv_fragment_emit(&fragment, bytes + 17);

    struct vv_frame_view frame_view;
    struct vv_frame frame_back;
    assert_true(vv_frame_view(bytes, 33 + size + pad, &frame_view));
    memset(&frame_back, 0xff, sizeof frame_back);
    vv_frame_parse(frame_view, &frame_back);
    assert_memory_equal(frame_back.destination, frame.destination, 6);
    assert_memory_equal(frame_back.source, frame.source, 6);
    assert_true(frame_back.data == frame.data && frame_back.data_bytes == frame.data_bytes);
    struct vv_lpdu_view llc_view;
    struct vv_lpdu_ui ui_back;
    assert_true(vv_lpdu_view(frame_back.data, frame_back.data_bytes, &llc_view) &&
                vv_lpdu_ui_parse(llc_view, &ui_back));
    assert_true(ui_back.dsap == ui.dsap && ui_back.ssap == ui.ssap);
    assert_true(ui_back.data == ui.data && ui_back.data_bytes == ui.data_bytes);
    struct vv_fragment_view view;
    struct vv_fragment back;
    assert_true(vv_fragment_view(ui_back.data, ui_back.data_bytes, &view) && vv_fragment_parse(view, &back));
    assert_true(back.launch == fragment.launch && back.end == fragment.end && back.message == fragment.message);
    assert_true(back.index == fragment.index && back.count == fragment.count);
    assert_true(back.data == fragment.data && back.data_bytes == fragment.data_bytes);
  }
}

/* Random bytes, mostly almost right: nothing is read outside them, and whatever is accepted lies inside them. */
static void test_any_bytes_are_judged_within_their_bounds(void **state) {
  (void)state;
  struct vv_rng rng = {2};
  size_t accepted = 0;
  for (int round = 0; round < 50000; round++) {
    uint8_t bytes[80];
    size_t count = vv_rng_next(&rng) % (sizeof bytes + 1);
    fill(&rng, bytes, sizeof bytes);
    if (vv_rng_next(&rng) % 4 > 0) bytes[12] = 0, bytes[13] = (uint8_t)(vv_rng_next(&rng) % 70);
    if (vv_rng_next(&rng) % 4 > 0) bytes[15] &= 0xfe, bytes[16] = 0x03;
    if (vv_rng_next(&rng) % 4 > 0) bytes[29] = 0, bytes[30] = 1, bytes[31] = 1;
    uint8_t *copy = copy_of(bytes, count);
    struct vv_frame_view frame_view;
    struct vv_lpdu_view llc_view;
    struct vv_fragment_view view;
    struct vv_frame frame;
    struct vv_lpdu_ui ui;
    struct vv_fragment fragment;
    if (vv_frame_view(copy, count, &frame_view)) {
      vv_frame_parse(frame_view, &frame);
      assert_true(frame.data + frame.data_bytes <= copy + count);
      if (vv_lpdu_view(frame.data, frame.data_bytes, &llc_view) && vv_lpdu_ui_parse(llc_view, &ui) &&
          vv_fragment_view(ui.data, ui.data_bytes, &view) && vv_fragment_parse(view, &fragment)) {
        assert_true(fragment.index < fragment.count);
        assert_true(fragment.data + fragment.data_bytes == frame.data + frame.data_bytes);
        accepted++;
      }
    }
    free(copy);
  }
  assert_true(accepted > 1000);
}

static void test_units_and_counts(void **state) {
  (void)state;
  assert_int_equal(vv_fragment_unit(1500), 1481);
  assert_int_equal(vv_fragment_unit(9000), 1481);
  assert_int_equal(vv_fragment_unit(576), 557);
  assert_int_equal(vv_fragment_unit(68), 49);
  assert_int_equal(vv_fragment_count(0, 1481), 1);
  assert_int_equal(vv_fragment_count(1481, 1481), 1);
  assert_int_equal(vv_fragment_count(1482, 1481), 2);
  assert_int_equal(vv_fragment_count(VV_FRAGMENTED_BYTES_MAX, 49), VV_FRAGMENTS_MAX);
  assert_true(VV_FRAGMENTS_MAX <= UINT16_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_bytes),
      cmocka_unit_test(test_what_is_no_frame_is_refused),
      cmocka_unit_test(test_what_is_no_ui_command_is_refused),
      cmocka_unit_test(test_what_is_no_fragment_is_refused),
      cmocka_unit_test(test_emit_and_parse_are_inverse),
      cmocka_unit_test(test_any_bytes_are_judged_within_their_bounds),
      cmocka_unit_test(test_units_and_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
