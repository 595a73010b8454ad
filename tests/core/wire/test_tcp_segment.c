/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments as they were sent, and frames that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/bytes.h"
#include "core/wire/tcp_segment.h"

enum { DATA = 5, IPV4 = 14 + 20, IPV6 = 14 + 40, OPTIONS = 12 };

/* Port 40000 to 5000, sequence 1000, acknowledging 2000, timestamps, five bytes of data. Its length. */
static size_t put_tcp(uint8_t *at, uint8_t flags) {
  vv_put16(at, 40000);
  vv_put16(at + 2, 5000);
  vv_put32(at + 4, 1000);
  vv_put32(at + 8, 2000);
  at[12] = (20 + OPTIONS) / 4 << 4;
  at[13] = flags;
  return 20 + OPTIONS + DATA;
}

static size_t make_ipv4(uint8_t frame[128], uint8_t flags) {
  memset(frame, 0, 128);
  size_t tcp_bytes = put_tcp(frame + IPV4, flags);
  vv_put16(frame + 12, 0x0800);
  frame[14] = 0x45;
  vv_put16(frame + 16, (uint16_t)(20 + tcp_bytes));
  vv_put16(frame + 20, 0x4000); /* do not fragment */
  frame[23] = 6;
  return IPV4 + tcp_bytes;
}

static size_t make_ipv6(uint8_t frame[128], uint8_t flags) {
  memset(frame, 0, 128);
  size_t tcp_bytes = put_tcp(frame + IPV6, flags);
  vv_put16(frame + 12, 0x86dd);
  frame[14] = 0x60;
  vv_put16(frame + 18, (uint16_t)tcp_bytes);
  frame[20] = 6;
  return IPV6 + tcp_bytes;
}

static void assert_whole(const struct vv_tcp_segment *segment, bool syn) {
  assert_int_equal(segment->from_port, 40000);
  assert_int_equal(segment->to_port, 5000);
  assert_int_equal(segment->seq, 1000);
  assert_int_equal(segment->ack, 2000);
  assert_int_equal(segment->data_bytes, DATA);
  assert_true(segment->acks);
  assert_int_equal(segment->syn, syn);
}

static void test_a_segment_is_placed_in_its_stream(void **state) {
  (void)state;
  uint8_t frame[128];
  struct vv_tcp_segment segment;
  size_t count = make_ipv4(frame, 0x18);
  assert_true(vv_tcp_segment_parse(frame, count, count, &segment));
  assert_whole(&segment, false);
  assert_true(vv_tcp_segment_parse(frame, count + 6, count + 6, &segment)); /* the pad is no data */
  assert_whole(&segment, false);
  count = make_ipv6(frame, 0x12);
  assert_true(vv_tcp_segment_parse(frame, count, count, &segment));
  assert_whole(&segment, true);
}

static void test_its_head_is_enough(void **state) {
  (void)state;
  uint8_t frame[128];
  struct vv_tcp_segment segment;
  size_t whole = make_ipv4(frame, 0x10);
  assert_true(vv_tcp_segment_parse(frame, IPV4 + 20, whole, &segment));
  assert_whole(&segment, false);
  assert_false(vv_tcp_segment_parse(frame, IPV4 + 19, whole, &segment));
}

static void test_a_batch_says_nothing_of_its_length(void **state) {
  (void)state;
  uint8_t frame[128];
  struct vv_tcp_segment segment;
  size_t count = make_ipv4(frame, 0x10);
  vv_put16(frame + 16, 0);
  assert_true(vv_tcp_segment_parse(frame, count, count + 100000, &segment));
  assert_int_equal(segment.data_bytes, DATA + 100000);
}

static void test_other_frames_are_none(void **state) {
  (void)state;
  uint8_t frame[128];
  struct vv_tcp_segment segment;
  const struct {
    size_t at;
    uint8_t value;
  } wrong[] = {
      {12, 0x81},          /* another type */
      {14, 0x65},          /* version 6 in a frame of IPv4 */
      {14, 0x44},          /* an IP header of 16 bytes */
      {14, 0x4f},          /* one that ends behind the frame */
      {20, 0x20},          /* more fragments */
      {21, 0x01},          /* a later fragment */
      {23, 17},            /* UDP */
      {17, 0xff},          /* longer than the frame */
      {IPV4 + 12, 4 << 4}, /* a TCP header of 16 bytes */
      {IPV4 + 12, 0xf0},   /* one of 60, in a packet of 57 */
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    size_t count = make_ipv4(frame, 0x10);
    frame[wrong[i].at] = wrong[i].value;
    assert_false(vv_tcp_segment_parse(frame, count, count, &segment));
  }
  size_t count = make_ipv6(frame, 0x10);
  frame[20] = 0; /* hop-by-hop options between */
  assert_false(vv_tcp_segment_parse(frame, count, count, &segment));
}

static void test_no_part_of_a_frame_is_read_beyond_its_end(void **state) {
  (void)state;
  uint8_t frame[128];
  struct vv_tcp_segment segment;
  size_t whole = make_ipv6(frame, 0x10);
  for (size_t count = 0; count < IPV6 + 20; count++) {
    assert_false(vv_tcp_segment_parse(frame, count, whole, &segment));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_segment_is_placed_in_its_stream),         cmocka_unit_test(test_its_head_is_enough),
      cmocka_unit_test(test_a_batch_says_nothing_of_its_length),        cmocka_unit_test(test_other_frames_are_none),
      cmocka_unit_test(test_no_part_of_a_frame_is_read_beyond_its_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
