/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct translation: bit patterns survive, equal machines convert nothing, unlike ones once, bad input changes
 * nothing. */
#include "vaiven/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"

struct body {
  double at[3];
  int32_t id;
  char name[5];
  int16_t charge;
  float weight[2];
  double wave[2]; /* complex */
};

static const struct vv_data_field body_fields[] = {
    {VV_DATA_DOUBLE, 3, offsetof(struct body, at)},    {VV_DATA_INT32, 1, offsetof(struct body, id)},
    {VV_DATA_CHAR, 5, offsetof(struct body, name)},    {VV_DATA_INT16, 1, offsetof(struct body, charge)},
    {VV_DATA_FLOAT, 2, offsetof(struct body, weight)}, {VV_DATA_COMPLEX_DOUBLE, 1, offsetof(struct body, wave)},
};
static const struct vv_data_layout body_layout = {sizeof(struct body), 6, body_fields};

/* The same record as a compiler without padding would lay it out. */
static const struct vv_data_field packed_fields[] = {
    {VV_DATA_DOUBLE, 3, 0}, {VV_DATA_INT32, 1, 24}, {VV_DATA_CHAR, 5, 28},
    {VV_DATA_INT16, 1, 33}, {VV_DATA_FLOAT, 2, 35}, {VV_DATA_COMPLEX_DOUBLE, 1, 43},
};
static const struct vv_data_layout packed_layout = {59, 6, packed_fields};

#define BODIES 9

static enum vv_data_order other_order(void) {
  return vv_data_own_order() == VV_DATA_BIG_ENDIAN ? VV_DATA_LITTLE_ENDIAN : VV_DATA_BIG_ENDIAN;
}

static struct vv_data_description described(const struct vv_data_layout *layout, uint64_t count) {
  uint8_t bytes[VV_DATA_DESCRIPTOR_BYTES_MAX];
  struct vv_data_description description;
  const size_t size = vv_data_describe(layout, count, bytes);
  assert_int_equal(vv_data_parse(bytes, size, &description), VV_DATA_OK);
  return description;
}

static void reverse(uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count / 2; i++) {
    const uint8_t first = bytes[i];
    bytes[i] = bytes[count - 1 - i];
    bytes[count - 1 - i] = first;
  }
}

/* What the other kind of machine has in its memory for the same values; written down field by field. */
static void foreign(struct body *body) {
  for (int i = 0; i < 3; i++) reverse((uint8_t *)&body->at[i], 8);
  reverse((uint8_t *)&body->id, 4);
  reverse((uint8_t *)&body->charge, 2);
  for (int i = 0; i < 2; i++) reverse((uint8_t *)&body->weight[i], 4);
  for (int i = 0; i < 2; i++) reverse((uint8_t *)&body->wave[i], 8);
}

static void put64(void *at, uint64_t bits) {
  memcpy(at, &bits, sizeof bits);
}

static void put32(void *at, uint32_t bits) {
  memcpy(at, &bits, sizeof bits);
}

static void fill(struct body bodies[BODIES]) {
  memset(bodies, 0, BODIES * sizeof *bodies);
  for (int i = 0; i < BODIES; i++) {
    put64(&bodies[i].at[0], 0x7ff4000000000000 + (uint64_t)i); /* signalling NaN with a payload */
    put64(&bodies[i].at[1], 0x8000000000000000);               /* -0 */
    put64(&bodies[i].at[2], 0xfff0000000000000);               /* -infinity */
    bodies[i].id = -1000000 - i;
    memcpy(bodies[i].name, "ab\0cd", 5);
    bodies[i].charge = (int16_t)(-300 - i);
    put32(&bodies[i].weight[0], 0x7fa00001);
    put32(&bodies[i].weight[1], 0x80000001); /* the smallest negative subnormal */
    bodies[i].wave[0] = 1.5 * i;
    put64(&bodies[i].wave[1], 0xfff8dead0000beef);
  }
}

static void test_the_order_of_this_machine(void **state) {
  (void)state;
  const uint32_t number = 0x01020304;
  uint8_t first;
  memcpy(&first, &number, 1);
  assert_int_equal(first, vv_data_own_order() == VV_DATA_BIG_ENDIAN ? 1 : 4);
}

static void test_equal_machines_convert_nothing(void **state) {
  (void)state;
  struct body sent[BODIES], got[BODIES];
  uint64_t converted = 99;
  fill(sent);
  memset(got, 0xff, sizeof got);
  const struct vv_data_description description = described(&body_layout, BODIES);
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &body_layout, got, sizeof got, &converted),
                   VV_DATA_OK);
  assert_memory_equal(got, sent, sizeof sent);
  assert_int_equal(converted, 0);
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &body_layout, sent, sizeof sent, &converted),
                   VV_DATA_OK);
  assert_memory_equal(got, sent, sizeof sent);
  assert_int_equal(converted, 0);
}

static void test_unlike_machines_convert_once(void **state) {
  (void)state;
  struct body want[BODIES], sent[BODIES], got[BODIES];
  uint64_t converted;
  fill(want);
  fill(sent);
  for (int i = 0; i < BODIES; i++) foreign(&sent[i]);
  struct vv_data_description description = described(&body_layout, BODIES);
  description.order = other_order();
  memset(got, 0, sizeof got);
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &body_layout, got, sizeof got, &converted),
                   VV_DATA_OK);
  assert_memory_equal(got, want, sizeof want);
  assert_int_equal(converted, BODIES * (3 + 1 + 1 + 2 + 1)); /* characters are never converted */
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &body_layout, sent, sizeof sent, &converted),
                   VV_DATA_OK);
  assert_memory_equal(sent, want, sizeof want); /* in place as well */
}

static void test_another_layout_of_the_same_record(void **state) {
  (void)state;
  struct body want[BODIES], sent[BODIES], back[BODIES];
  uint8_t packed[BODIES * 59];
  uint64_t converted;
  fill(want);
  fill(sent);
  memset(back, 0, sizeof back);
  struct vv_data_description description = described(&body_layout, BODIES);
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &packed_layout, packed, sizeof packed, &converted),
                   VV_DATA_OK);
  assert_int_equal(converted, 0);
  assert_memory_equal(packed + 59 + 28, "ab\0cd", 5);
  description = described(&packed_layout, BODIES);
  assert_int_equal(vv_data_take(&description, packed, sizeof packed, &body_layout, back, sizeof back, &converted),
                   VV_DATA_OK);
  assert_memory_equal(back, want, sizeof want);
}

static void test_every_type_alone(void **state) {
  (void)state;
  struct vv_rng rng = {3};
  for (int type = VV_DATA_CHAR; type <= VV_DATA_COMPLEX_DOUBLE; type++) {
    const size_t bytes = vv_data_type_bytes((enum vv_data_type)type);
    const struct vv_data_field field = {(enum vv_data_type)type, 1, 0};
    const struct vv_data_layout layout = {(uint32_t)bytes, 1, &field};
    const size_t part = type >= VV_DATA_COMPLEX_FLOAT ? bytes / 2 : bytes;
    uint8_t sent[16 * 21], want[sizeof sent], got[sizeof sent];
    for (size_t i = 0; i < sizeof sent; i++) sent[i] = want[i] = (uint8_t)vv_rng_next(&rng);
    for (size_t at = 0; at < 21 * bytes; at += part) reverse(want + at, part);
    struct vv_data_description description = described(&layout, 21);
    description.order = other_order();
    uint64_t converted;
    assert_int_equal(vv_data_take(&description, sent, 21 * bytes, &layout, got, sizeof got, &converted), VV_DATA_OK);
    assert_memory_equal(got, want, 21 * bytes);
    assert_int_equal(converted, part > 1 ? 21 : 0);
  }
}

static void test_what_is_no_layout(void **state) {
  (void)state;
  const struct vv_data_field over[] = {{VV_DATA_INT32, 1, 0}, {VV_DATA_INT32, 1, 3}};
  const struct vv_data_field beyond = {VV_DATA_DOUBLE, 0x20000001, 0}, none = {VV_DATA_INT8, 0, 0};
  const struct vv_data_field unknown = {(enum vv_data_type)14, 1, 0};
  assert_false(vv_data_layout_valid(&(struct vv_data_layout){8, 2, over}));
  assert_false(vv_data_layout_valid(&(struct vv_data_layout){8, 1, &beyond})); /* 2^32 + 8 bytes */
  assert_false(vv_data_layout_valid(&(struct vv_data_layout){8, 1, &none}));
  assert_false(vv_data_layout_valid(&(struct vv_data_layout){8, 1, &unknown}));
  assert_false(vv_data_layout_valid(&(struct vv_data_layout){8, 0, over}));
  assert_false(vv_data_layout_valid(&(struct vv_data_layout){8, VV_DATA_FIELDS_MAX + 1, over}));
}

static void test_what_is_no_descriptor(void **state) {
  (void)state;
  uint8_t good[VV_DATA_DESCRIPTOR_BYTES_MAX], bytes[VV_DATA_DESCRIPTOR_BYTES_MAX];
  struct vv_data_description description;
  const size_t size = vv_data_describe(&body_layout, 5, good);
  assert_int_equal(size, VV_DATA_HEADER_BYTES + 6 * VV_DATA_FIELD_BYTES);
  for (size_t cut = 0; cut < size; cut++) {
    assert_int_equal(vv_data_parse(good, cut, &description), VV_DATA_NO_DESCRIPTOR);
  }
  const struct {
    size_t at;
    uint8_t value;
  } damage[] = {{0, 'V'}, {1, 0},    {2, 2}, {3, 0},  {3, 3},  {4, 1},
                {5, 5},   {6, 0xff}, {9, 8}, {18, 0}, {19, 1}, {26, 99}};
  for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
    memcpy(bytes, good, size);
    bytes[damage[i].at] = damage[i].value;
    const bool still_one = damage[i].at == 6; /* a longer stride is another record, not a mistake */
    assert_int_equal(vv_data_parse(bytes, size, &description), still_one ? VV_DATA_OK : VV_DATA_NO_DESCRIPTOR);
  }
}

static void test_what_is_refused_changes_nothing(void **state) {
  (void)state;
  struct body sent[BODIES], got[BODIES], before[BODIES];
  uint64_t converted = 77;
  fill(sent);
  memset(got, 0x5a, sizeof got);
  memset(before, 0x5a, sizeof before);
  struct vv_data_description description = described(&body_layout, BODIES);
  const struct vv_data_layout shorter = {sizeof(struct body), 5, body_fields};
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &shorter, got, sizeof got, &converted),
                   VV_DATA_OTHER_FIELDS);
  assert_int_equal(vv_data_take(&description, sent, sizeof sent - 1, &body_layout, got, sizeof got, &converted),
                   VV_DATA_WRONG_LENGTH);
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &body_layout, got, sizeof got - 1, &converted),
                   VV_DATA_WRONG_LENGTH);
  description.count = UINT64_MAX / sizeof(struct body) + 2; /* whose bytes would overflow to few */
  assert_int_equal(vv_data_take(&description, sent, sizeof sent, &body_layout, got, sizeof got, &converted),
                   VV_DATA_WRONG_LENGTH);
  assert_memory_equal(got, before, sizeof before);
  assert_int_equal(converted, 77);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_order_of_this_machine),
      cmocka_unit_test(test_equal_machines_convert_nothing),
      cmocka_unit_test(test_unlike_machines_convert_once),
      cmocka_unit_test(test_another_layout_of_the_same_record),
      cmocka_unit_test(test_every_type_alone),
      cmocka_unit_test(test_what_is_no_layout),
      cmocka_unit_test(test_what_is_no_descriptor),
      cmocka_unit_test(test_what_is_refused_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
