/* SPDX-License-Identifier: BSD-3-Clause */
/* A payload passes as itself and as nothing else. */
#include "core/base/payload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ROOM 4096

static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 64, 1000, 1461, ROOM};
#define SIZES (sizeof sizes / sizeof sizes[0])

static struct vv_payload payload;
static uint8_t message[ROOM + 8];

static int set_up(void **state) {
  (void)state;
  const uint8_t key[VV_KEY_BYTES] = {3, 1, 4, 1, 5, 9, 2, 6};
  vv_payload_init(&payload, key, false);
  return 0;
}

static void passes_as_itself(void **state) {
  (void)state;
  for (size_t i = 0; i < SIZES; i++) {
    memset(message, 0xee, sizeof message);
    vv_payload_fill(&payload, 1000 + i, message, sizes[i]);
    assert_true(vv_payload_check(&payload, 1000 + i, message, sizes[i]));
    assert_int_equal(vv_payload_age(&payload, 1000 + i, message, sizes[i]), 0);
    for (size_t j = 0; j < 8; j++) assert_int_equal(message[sizes[i] + j], 0xee);
  }
}

static void any_bit_spoils_it(void **state) {
  (void)state;
  for (size_t i = 0; i < SIZES; i++) {
    vv_payload_fill(&payload, 5, message, sizes[i]);
    for (size_t bit = 0; bit < 8 * sizes[i]; bit++) {
      message[bit / 8] ^= (uint8_t)(1u << bit % 8);
      assert_false(vv_payload_check(&payload, 5, message, sizes[i]));
      message[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
  }
}

static void another_message_does_not_pass(void **state) {
  (void)state;
  const uint8_t other_key[VV_KEY_BYTES] = {3, 1, 4, 1, 5, 9, 2, 7};
  struct vv_payload other;
  vv_payload_init(&other, other_key, false);
  for (size_t i = 1; i < SIZES; i++) {
    vv_payload_fill(&payload, 5, message, sizes[i]);
    for (uint64_t seq = 6; seq < 5 + 256; seq++) assert_false(vv_payload_check(&payload, seq, message, sizes[i]));
    if (sizes[i] >= 8) assert_false(vv_payload_check(&other, 5, message, sizes[i]));
  }
}

/* What a broken network or driver does: a part shifted, swapped, zeroed, or left from the message before. */
static void damage_in_parts_does_not_pass(void **state) {
  (void)state;
  uint8_t old[ROOM];
  vv_payload_fill(&payload, 8, old, ROOM);
  for (size_t at = 8; at + 1024 <= ROOM; at += 504) {
    vv_payload_fill(&payload, 9, message, ROOM);
    memmove(message + at, message + at + 8, 512);
    assert_false(vv_payload_check(&payload, 9, message, ROOM));
    vv_payload_fill(&payload, 9, message, ROOM);
    memset(message + at, 0, 8);
    assert_false(vv_payload_check(&payload, 9, message, ROOM));
    vv_payload_fill(&payload, 9, message, ROOM);
    memcpy(message + at, old + at, 512);
    assert_false(vv_payload_check(&payload, 9, message, ROOM));
  }
}

static void age_counts_back(void **state) {
  (void)state;
  for (size_t i = 1; i < SIZES; i++) {
    for (uint64_t back = 0; back < 256; back += 5) {
      vv_payload_fill(&payload, 100000 - back, message, sizes[i]);
      assert_int_equal(vv_payload_age(&payload, 100000, message, sizes[i]), back);
    }
  }
  vv_payload_fill(&payload, 1, message, 1);
  assert_int_equal(vv_payload_age(&payload, 1 + 256, message, 1), 0);
  vv_payload_fill(&payload, 1, message, 8);
  assert_int_equal(vv_payload_age(&payload, 1 + (UINT64_C(1) << 40), message, 8), UINT64_C(1) << 40);
}

/* The bytes themselves: machines of either byte order must make the same ones. */
static void bytes_are_the_same_everywhere(void **state) {
  (void)state;
  uint8_t key[VV_KEY_BYTES];
  for (uint8_t i = 0; i < VV_KEY_BYTES; i++) key[i] = i;
  struct vv_payload known;
  vv_payload_init(&known, key, false);
  for (size_t size = 8; size <= 8 * 8; size++) {
    vv_payload_fill(&known, 0x0102030405060708u, message, size);
    uint64_t start = vv_siphash(key, message, 8);
    for (size_t i = 0; i < size; i++) {
      uint64_t word = i < 8 ? 0x0102030405060708u ^ known.mask : start + (i / 8 - 1) * known.step;
      assert_int_equal(message[i], (uint8_t)(word >> (8 * (i % 8))));
    }
  }
}

/* Of numbers whole words are this machine's, and the bytes that are left are as they always are. */
static void numbers_are_this_machines(void **state) {
  (void)state;
  const uint8_t key[VV_KEY_BYTES] = {2, 7, 1, 8};
  struct vv_payload numbers, bytes;
  vv_payload_init(&numbers, key, true);
  vv_payload_init(&bytes, key, false);
  for (size_t i = 0; i < SIZES; i++) {
    uint8_t other[ROOM];
    uint64_t first, second;
    vv_payload_fill(&numbers, 7, message, sizes[i]);
    vv_payload_fill(&bytes, 7, other, sizes[i]);
    assert_true(vv_payload_check(&numbers, 7, message, sizes[i]));
    assert_int_equal(vv_payload_age(&numbers, 9, message, sizes[i]), sizes[i] > 0 ? 2 : 0);
    size_t whole = sizes[i] - sizes[i] % 8;
    assert_memory_equal(message + whole, other + whole, sizes[i] - whole);
    if (sizes[i] < 24) continue;
    memcpy(&first, message + 8, 8);
    memcpy(&second, message + 16, 8);
    assert_true(second - first == numbers.step);
  }
}

/* Any part of a message passes as what it is, not with a wrong bit, and not as a part of another place. */
static void parts_pass_where_they_belong(void **state) {
  (void)state;
  const uint8_t key[VV_KEY_BYTES] = {1, 4, 1, 4};
  for (size_t turn = 0; turn < 2 * 60 * 60; turn++) {
    size_t size = turn % 60, offset = turn / 2 % 60 % (size + 1), count = (turn / 60) % (size - offset + 1);
    struct vv_payload its;
    vv_payload_init(&its, key, turn % 2 == 1);
    vv_payload_fill(&its, 6, message, size);
    uint8_t *part = message + offset;
    assert_true(vv_payload_check_part(&its, 6, size, offset, part, count));
    if (count >= 8 && offset >= 16) assert_false(vv_payload_check_part(&its, 6, size, offset - 8, part, count));
    if (count == 0) continue;
    part[turn % count] ^= 1;
    assert_false(vv_payload_check_part(&its, 6, size, offset, part, count));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_as_itself),
      cmocka_unit_test(any_bit_spoils_it),
      cmocka_unit_test(another_message_does_not_pass),
      cmocka_unit_test(damage_in_parts_does_not_pass),
      cmocka_unit_test(age_counts_back),
      cmocka_unit_test(bytes_are_the_same_everywhere),
      cmocka_unit_test(numbers_are_this_machines),
      cmocka_unit_test(parts_pass_where_they_belong),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
