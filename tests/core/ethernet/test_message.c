/* SPDX-License-Identifier: BSD-3-Clause */
/* The Ethernet model against arithmetic done by hand; every number here can be checked on paper. */
#include "core/ethernet/message.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct known {
  enum vv_path path;
  size_t size_bytes;
  size_t mtu_bytes;
  uint32_t frames;
  uint64_t bytes;
  uint32_t frame_bytes_max;
};

static const struct known known[] = {
    /* One frame: header bytes + payload + 38, and never less than 84. */
    {VV_PATH_TCP, 1, 1500, 1, 20 + 32 + 1 + 38, 91},
    {VV_PATH_TCP, 1448, 1500, 1, 1538, 1538},
    {VV_PATH_TCP, 0, 1500, 0, 0, 0},
    {VV_PATH_UDP, 0, 1500, 1, 84, 84},
    {VV_PATH_UDP, 18, 1500, 1, 84, 84},
    {VV_PATH_UDP, 19, 1500, 1, 85, 85},
    {VV_PATH_UDP, 1472, 1500, 1, 1538, 1538},
    {VV_PATH_ICMP, 56, 1500, 1, 20 + 8 + 56 + 38, 122},
    {VV_PATH_LLC_UI, 0, 1500, 1, 84, 84},
    {VV_PATH_LLC_UI, 27, 1500, 1, 84, 84},
    {VV_PATH_LLC_UI, 28, 1500, 1, 85, 85},
    {VV_PATH_LLC_UI, 1481, 1500, 1, 1538, 1538},
    /* LLC type 2: 4, and marks of 14 in the first frame, of 6 in the others; the kernel's has no marks. */
    {VV_PATH_LLC_I, 0, 1500, 1, 84, 84},
    {VV_PATH_LLC_I, 28, 1500, 1, 84, 84},
    {VV_PATH_LLC_I, 29, 1500, 1, 85, 85},
    {VV_PATH_LLC_I, 1482, 1500, 1, 1538, 1538},
    {VV_PATH_LLC_I, 1483, 1500, 2, 1538 + 84, 1538},
    {VV_PATH_LLC_I, 1482 + 1490, 9000, 2, 2 * 1538, 1538},
    {VV_PATH_LLC_KERNEL, 1496, 1500, 1, 1538, 1538},
    {VV_PATH_LLC_KERNEL, 1497, 1500, 2, 1538 + 84, 1538},
    {VV_PATH_NONE, 1000, 1500, 0, 0, 0},
    /* The step at the frame limit: the byte too much rides in a frame of its own. */
    {VV_PATH_TCP, 1449, 1500, 2, 1538 + 91, 1538},
    {VV_PATH_UDP, 1473, 1500, 2, 1538 + 84, 1538},
    {VV_PATH_LLC_UI, 1482, 1500, 2, 1538 + 84, 1538},
    /* 10^6 bytes: 690 x 1448 + 880; 675 x 1481 + 325. */
    {VV_PATH_TCP, 1000000, 1500, 691, 690 * 1538 + 880 + 52 + 38, 1538},
    {VV_PATH_LLC_UI, 1000000, 1500, 676, 675 * 1538 + 325 + 19 + 38, 1538},
    /* ping -s 60000: 60008 = 40 x 1480 + 808, 41 fragments. ping -s 30000: 30008 = 20 x 1480 + 408. */
    {VV_PATH_ICMP, 60000, 1500, 41, 40 * 1538 + 808 + 20 + 38, 1538},
    {VV_PATH_ICMP, 30000, 1500, 21, 20 * 1538 + 408 + 20 + 38, 1538},
    /* The largest datagram: 65507 + 8 = 44 x 1480 + 395. */
    {VV_PATH_UDP, 65507, 1500, 45, 44 * 1538 + 395 + 20 + 38, 1538},
    /* MTU 576: 556 bytes of room, of which all fragments but the last use 552. */
    {VV_PATH_UDP, 548, 576, 1, 576 + 38, 614},
    {VV_PATH_UDP, 549, 576, 2, 552 + 20 + 38 + 84, 610},
    {VV_PATH_UDP, 552 + 556 - 8, 576, 2, 552 + 20 + 38 + 614, 614},
    {VV_PATH_UDP, 552 + 556 - 7, 576, 3, 2 * 610 + 84, 610},
    {VV_PATH_TCP, 524, 576, 1, 614, 614},
    {VV_PATH_TCP, 525, 576, 2, 614 + 91, 614},
    {VV_PATH_LLC_UI, 557, 576, 1, 614, 614},
    {VV_PATH_LLC_UI, 558, 576, 2, 614 + 84, 614},
    /* MTU 9000: IP uses it, a length field cannot say more than 1500. */
    {VV_PATH_TCP, 8948, 9000, 1, 9038, 9038},
    {VV_PATH_UDP, 8972, 9000, 1, 9038, 9038},
    {VV_PATH_UDP, 8973, 9000, 2, 20 + 8976 + 38 + 84, 9034},
    {VV_PATH_LLC_UI, 1482, 9000, 2, 1538 + 84, 1538},
    {VV_PATH_LLC_JUMBO, 1482, 1500, 1, 1538, 1538},
    {VV_PATH_LLC_JUMBO, 8982, 9000, 1, 9038, 9038},
    {VV_PATH_LLC_JUMBO, 8983, 9000, 2, 9038 + 84, 9038},
    {VV_PATH_LLC_JUMBO, 9198, 65000, 1, 9254, 9254}, /* no frame is longer than they are taken to be */
};

static void test_a_message_costs_what_paper_says(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const struct known *want = &known[i];
    struct vv_message_cost cost = vv_message_cost(want->path, want->size_bytes, want->mtu_bytes);
    if (cost.frames != want->frames || cost.bytes != want->bytes || cost.frame_bytes_max != want->frame_bytes_max) {
      fail_msg("path %d, %zu bytes, MTU %zu: %u frames, %lu bytes, max %u", (int)want->path, want->size_bytes,
               want->mtu_bytes, cost.frames, (unsigned long)cost.bytes, cost.frame_bytes_max);
    }
  }
}

/* What counters of an interface see: whole frames without preamble, pad, check sequence and gap. */
static void test_headers_and_what_stands_behind_them(void **state) {
  (void)state;
  const struct vv_message_cost udp = vv_message_cost(VV_PATH_UDP, 1473, 1500);
  const struct vv_message_cost tcp = vv_message_cost(VV_PATH_TCP, 1449, 1500);
  const struct vv_message_cost llc = vv_message_cost(VV_PATH_LLC_KERNEL, 1497, 1500);
  const struct vv_message_cost none = vv_message_cost(VV_PATH_TCP, 0, 1500);
  assert_true(udp.header_bytes == 14 + 20 && udp.data_bytes == 1473 + 8);
  assert_true(tcp.header_bytes == 14 + 20 + 32 && tcp.data_bytes == 1449);
  assert_true(llc.header_bytes == 14 + 4 && llc.data_bytes == 1497);
  assert_true(none.header_bytes == 0 && none.data_bytes == 0);
  for (enum vv_path path = VV_PATH_ICMP; path <= VV_PATH_LLC_KERNEL; path++) {
    const struct vv_message_cost full = vv_message_cost(path, 5000, 576);
    assert_int_equal(full.data_bytes + (uint64_t)full.frames * (full.header_bytes + 24), full.bytes);
  }
}

/* The packet arithmetic of the papers: 1460 bytes of data, 66 of headers, 1526; 12 more for the gap. */
static void test_the_papers_packet(void **state) {
  (void)state;
  uint32_t frame = vv_message_cost(VV_PATH_TCP, 1448, 1500).frame_bytes_max;
  uint32_t timestamps = 12, gap = 12;
  assert_int_equal(frame, 1538);
  assert_int_equal(frame - gap, 1526);
  assert_int_equal(1448 + timestamps, 1460);
  assert_int_equal(frame - gap - (1448 + timestamps), 66);
}

static void test_an_idle_path_of_links(void **state) {
  (void)state;
  struct vv_message_cost small = vv_message_cost(VV_PATH_UDP, 1, 1500);
  struct vv_message_cost full = vv_message_cost(VV_PATH_UDP, 1472, 1500);
  struct vv_message_cost two = vv_message_cost(VV_PATH_UDP, 1473, 1500);
  assert_int_equal(vv_message_ns(&small, 10000000, 1), 67200);
  assert_int_equal(vv_message_ns(&small, 1000000000, 1), 672);
  assert_int_equal(vv_message_ns(&full, 10000000, 1), 1230400);
  assert_int_equal(vv_message_ns(&full, 100000000, 2), 246080);
  assert_int_equal(vv_message_ns(&full, 1000000000, 3), 3 * 12304);
  /* The short frame catches up behind the long one: 1538 + 84 on the first link, 84 more behind 1538 on the second. */
  assert_int_equal(vv_message_ns(&two, 100000000, 2), (1538 + 84 + 1538) * 80);
  assert_int_equal(vv_message_ns(&small, 3000000, 1), 224000);
  assert_int_equal(vv_message_ns(&full, 7000000, 1), 1757714); /* 12304 / 7 us, to the nearest */
}

/* Frame by frame through store-and-forward links, against the closed form. */
static vv_ns simulated_ns(size_t size_bytes, size_t mtu_bytes, uint64_t rate_bps, unsigned hops) {
  vv_ns free_ns[8] = {0};
  vv_ns arrived_ns = 0;
  size_t step = (mtu_bytes - 20) / 8 * 8;
  for (size_t left = size_bytes + 8; left > 0;) {
    size_t now = left > mtu_bytes - 20 ? step : left;
    vv_ns frame_ns = ((now + 20 < 46 ? 46 : now + 20) + 38) * UINT64_C(8000000000) / rate_bps;
    arrived_ns = 0;
    for (unsigned hop = 0; hop < hops; hop++) {
      vv_ns start_ns = arrived_ns > free_ns[hop] ? arrived_ns : free_ns[hop];
      free_ns[hop] = arrived_ns = start_ns + frame_ns;
    }
    left -= now;
  }
  return arrived_ns;
}

static void test_time_agrees_with_frames_followed_one_by_one(void **state) {
  (void)state;
  static const size_t mtus[] = {68, 576, 1006, 1500, 9000};
  for (size_t m = 0; m < sizeof mtus / sizeof *mtus; m++) {
    for (size_t size = 0; size < 65000; size = size * 3 / 2 + 1) {
      for (unsigned hops = 1; hops <= 4; hops++) {
        struct vv_message_cost cost = vv_message_cost(VV_PATH_UDP, size, mtus[m]);
        assert_int_equal(vv_message_ns(&cost, 100000000, hops), simulated_ns(size, mtus[m], 100000000, hops));
      }
    }
  }
}

static void test_one_byte_more_never_costs_less(void **state) {
  (void)state;
  for (enum vv_path path = VV_PATH_ICMP; path <= VV_PATH_LLC_KERNEL; path++) {
    struct vv_message_cost before = {0};
    for (size_t size = 0; size < 20000; size++) {
      struct vv_message_cost cost = vv_message_cost(path, size, 576);
      assert_true(cost.bytes >= before.bytes && cost.frames >= before.frames && cost.frames <= before.frames + 1);
      assert_true(cost.bytes >= size && cost.bytes <= (uint64_t)cost.frames * cost.frame_bytes_max);
      before = cost;
    }
  }
}

/* What an endless stream of full frames carries: payload / 1538 of the line. */
static void test_ceilings(void **state) {
  (void)state;
  static const uint64_t rates[] = {10000000, 100000000, 1000000000};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(vv_message_ceiling_bps(VV_PATH_TCP, 1500, rates[i]), rates[i] * 1448 / 1538);
    assert_int_equal(vv_message_ceiling_bps(VV_PATH_UDP, 1500, rates[i]), rates[i] * 1472 / 1538);
    assert_int_equal(vv_message_ceiling_bps(VV_PATH_LLC_UI, 1500, rates[i]), rates[i] * 1481 / 1538);
  }
  assert_int_equal(vv_message_ceiling_bps(VV_PATH_TCP, 1500, 100000000), 94148244);
  assert_int_equal(vv_message_ceiling_bps(VV_PATH_NONE, 1500, 100000000), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_message_costs_what_paper_says),
      cmocka_unit_test(test_headers_and_what_stands_behind_them),
      cmocka_unit_test(test_the_papers_packet),
      cmocka_unit_test(test_an_idle_path_of_links),
      cmocka_unit_test(test_time_agrees_with_frames_followed_one_by_one),
      cmocka_unit_test(test_one_byte_more_never_costs_less),
      cmocka_unit_test(test_ceilings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
