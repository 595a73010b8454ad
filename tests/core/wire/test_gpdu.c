/* SPDX-License-Identifier: BSD-3-Clause */
/* The PDUs of group: parse(emit(x)) == x for every kind, known bytes, and nothing wrong gets in. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/wire/gpdu.h"

enum { STREAM = 0x123456, DATAGRAM_MAX = 1472 };
static const uint8_t key[VV_KEY_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* The datagram of that PDU, data included. */
static size_t datagram(uint32_t stream, const struct vv_gpdu *pdu, uint8_t bytes[DATAGRAM_MAX]) {
  struct vv_gpdu_keys keys;
  uint8_t header[VV_GPDU_CONTROL_BYTES];
  vv_gpdu_keys_init(&keys, key, stream);
  size_t count = vv_gpdu_emit(&keys, stream, pdu, header);
  memcpy(bytes, header, count);
  if (pdu->kind > VV_GPDU_DATA) return count;
  if (pdu->data_bytes > 0) memcpy(bytes + count, pdu->data, pdu->data_bytes);
  return count + pdu->data_bytes;
}

static bool parse(uint64_t near, const uint8_t *bytes, size_t count, struct vv_gpdu *pdu) {
  struct vv_gpdu_keys keys;
  vv_gpdu_keys_init(&keys, key, STREAM);
  return vv_gpdu_parse(&keys, STREAM, near, bytes, count, pdu);
}

static const uint8_t data[40] = "forty bytes of data, forty bytes of dat";
static const struct vv_gpdu samples[] = {
    {.kind = VV_GPDU_HEAD,
     .position = 0x1fffffffe,
     .rank = UINT16_MAX,
     .size_bytes = UINT64_C(1) << 39,
     .horizon = 0x1fffeffff,
     .representation = 0x21,
     .data = data,
     .data_bytes = 40},
    {.kind = VV_GPDU_DATA, .position = 0x1ffffffff, .data = data, .data_bytes = 39},
    {.kind = VV_GPDU_DATA, .position = 0x200000000, .data = data, .data_bytes = 0},
    {.kind = VV_GPDU_ASK,
     .position = 0x1fffffffd,
     .source = 9,
     .operation = 7,
     .rank = 3,
     .flags = VV_GPDU_ASK_DEAF | VV_GPDU_ASK_MORE,
     .data = data,
     .data_bytes = 32},
    {.kind = VV_GPDU_ACK, .position = 0x1fffffff1, .source = 1, .rank = 2, .target = 3},
    {.kind = VV_GPDU_POLL, .position = 0x1fffffff1, .source = 1, .operation = UINT32_MAX, .edge = 0x200000001},
    {.kind = VV_GPDU_STATE,
     .position = 0x200000001,
     .source = 1,
     .edge = 0x200000002,
     .horizon = 0x1fffffff0,
     .beyond = 0x80000001},
    {.kind = VV_GPDU_PART,
     .position = 0x1fffffffe,
     .rank = 31,
     .size_bytes = 40,
     .horizon = 0x1fffffff0,
     .representation = 0x21,
     .data = data,
     .data_bytes = 40},
    {.kind = VV_GPDU_PART, .position = 0x200000000, .rank = 2, .horizon = 0x1fffffff0, .data = data},
    {.kind = VV_GPDU_FAIL, .position = 0x200000001, .source = 1, .operation = 6, .rank = 5, .why = VV_GPDU_LEFT},
};

enum { SAMPLES = sizeof samples / sizeof *samples };
#define NEAR UINT64_C(0x1fffffff8)

static void assert_same(const struct vv_gpdu *a, const struct vv_gpdu *b) {
  assert_true(a->kind == b->kind && a->position == b->position && a->source == b->source);
  assert_true(a->operation == b->operation && a->rank == b->rank && a->target == b->target);
  assert_true(a->size_bytes == b->size_bytes && a->edge == b->edge && a->horizon == b->horizon);
  assert_true(a->representation == b->representation && a->flags == b->flags && a->why == b->why);
  assert_int_equal(a->beyond, b->beyond);
  assert_int_equal(a->data_bytes, b->data_bytes);
  if (a->data_bytes > 0) assert_memory_equal(a->data, b->data, a->data_bytes);
}

static void test_every_kind_comes_back(void **state) {
  (void)state;
  for (size_t i = 0; i < SAMPLES; i++) {
    uint8_t bytes[DATAGRAM_MAX];
    struct vv_gpdu pdu;
    size_t count = datagram(STREAM, &samples[i], bytes);
    assert_true(parse(NEAR, bytes, count, &pdu));
    assert_same(&pdu, &samples[i]);
  }
}

static void test_the_bulk_header_is_16_bytes(void **state) {
  (void)state;
  uint8_t bytes[DATAGRAM_MAX];
  assert_int_equal(datagram(STREAM, &samples[1], bytes), 16 + 39);
  const uint8_t first[] = {0xa3, 0x12, 0x34, 0x56, 0xff, 0xff, 0xff, 0xff};
  assert_memory_equal(bytes, first, sizeof first);
  assert_memory_equal(bytes + 16, data, 39);
}

static void test_no_bit_may_be_wrong(void **state) {
  (void)state;
  for (size_t i = 0; i < SAMPLES; i++) {
    uint8_t bytes[DATAGRAM_MAX];
    struct vv_gpdu pdu = {.rank = 99};
    size_t count = datagram(STREAM, &samples[i], bytes);
    for (size_t bit = 0; bit < 8 * count; bit++) {
      bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
      assert_false(parse(NEAR, bytes, count, &pdu));
      bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(pdu.rank, 99);
  }
}

static void test_no_byte_may_be_missing_or_too_many(void **state) {
  (void)state;
  for (size_t i = 0; i < SAMPLES; i++) {
    uint8_t bytes[DATAGRAM_MAX] = {0};
    struct vv_gpdu pdu;
    size_t count = datagram(STREAM, &samples[i], bytes);
    for (size_t cut = 0; cut < count; cut++) assert_false(parse(NEAR, bytes, cut, &pdu));
    assert_false(parse(NEAR, bytes, count + 1, &pdu));
  }
}

static void test_other_streams_and_old_positions_are_foreign(void **state) {
  (void)state;
  uint8_t bytes[DATAGRAM_MAX];
  struct vv_gpdu pdu;
  size_t count = datagram(STREAM + 1, &samples[1], bytes);
  assert_false(parse(NEAR, bytes, count, &pdu));
  bytes[3]--; /* the right stream, another stream's tag */
  assert_false(parse(NEAR, bytes, count, &pdu));
  count = datagram(STREAM, &samples[1], bytes);
  assert_true(parse(NEAR, bytes, count, &pdu));
  assert_false(parse(NEAR + (UINT64_C(1) << 32), bytes, count, &pdu)); /* 2^32 positions later */
}

static void test_positions_are_the_nearest(void **state) {
  (void)state;
  assert_true(vv_gpdu_expand(5, 0) == 5);
  assert_true(vv_gpdu_expand(0xfffffff0u, 3) == 0xfffffff0u); /* never below 0 */
  assert_true(vv_gpdu_expand(2, 0xfffffffeu) == UINT64_C(0x100000002));
  assert_true(vv_gpdu_expand(0xfffffffeu, UINT64_C(0x100000002)) == 0xfffffffeu);
}

static void test_a_stored_body_is_the_datagrams_own(void **state) {
  (void)state;
  uint8_t bytes[DATAGRAM_MAX], body[VV_GPDU_HEAD_BYTES];
  struct vv_gpdu pdu;
  size_t count = datagram(STREAM, &samples[0], bytes);
  assert_true(vv_gpdu_body_parse(VV_GPDU_HEAD, samples[0].position, bytes + 16, count - 16, &pdu));
  assert_same(&pdu, &samples[0]);
  vv_gpdu_head_emit(&pdu, body);
  assert_memory_equal(body, bytes + 16, sizeof body);
  assert_false(vv_gpdu_body_parse(VV_GPDU_HEAD, 0, bytes + 16, VV_GPDU_HEAD_BYTES - 1, &pdu));
}

/* A part is one datagram, and its round begins at no negative position. */
static void test_a_part_is_whole(void **state) {
  (void)state;
  struct vv_gpdu part = {
      .kind = VV_GPDU_PART, .position = 7, .rank = 7, .size_bytes = 40, .data = data, .data_bytes = 40};
  uint8_t bytes[DATAGRAM_MAX];
  struct vv_gpdu pdu;
  assert_true(parse(NEAR, bytes, datagram(STREAM, &samples[SAMPLES - 2], bytes), &pdu));
  assert_true(parse(0, bytes, datagram(STREAM, &part, bytes), &pdu));
  part.size_bytes = 41;
  assert_false(parse(0, bytes, datagram(STREAM, &part, bytes), &pdu));
  part.size_bytes = 40, part.rank = 8;
  assert_false(parse(0, bytes, datagram(STREAM, &part, bytes), &pdu));
}

static void test_noise_is_foreign(void **state) {
  (void)state;
  struct vv_rng rng = {.state = 5};
  struct vv_gpdu pdu;
  for (int i = 0; i < 20000; i++) {
    uint8_t bytes[64];
    for (size_t j = 0; j < sizeof bytes; j++) bytes[j] = (uint8_t)vv_rng_next(&rng);
    bytes[0] = (uint8_t)(VV_GPDU_HEAD + i % 8);
    bytes[1] = 0x12, bytes[2] = 0x34, bytes[3] = 0x56;
    assert_false(parse(NEAR, bytes, vv_rng_next(&rng) % (sizeof bytes + 1), &pdu));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kind_comes_back),
      cmocka_unit_test(test_the_bulk_header_is_16_bytes),
      cmocka_unit_test(test_no_bit_may_be_wrong),
      cmocka_unit_test(test_no_byte_may_be_missing_or_too_many),
      cmocka_unit_test(test_other_streams_and_old_positions_are_foreign),
      cmocka_unit_test(test_positions_are_the_nearest),
      cmocka_unit_test(test_a_stored_body_is_the_datagrams_own),
      cmocka_unit_test(test_a_part_is_whole),
      cmocka_unit_test(test_noise_is_foreign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
