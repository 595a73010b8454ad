/* SPDX-License-Identifier: BSD-3-Clause */
/* XDR against bytes worked out from RFC 4506, there and back, and what is no XDR. */
#include "core/wire/xdr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct item {
  char name[9];
  int8_t small;
  uint16_t port;
  int32_t id;
  uint64_t total;
  float weight;
  double wave[2];
};

static const struct vv_data_field fields[] = {
    {VV_DATA_CHAR, 9, offsetof(struct item, name)},           {VV_DATA_INT8, 1, offsetof(struct item, small)},
    {VV_DATA_UINT16, 1, offsetof(struct item, port)},         {VV_DATA_INT32, 1, offsetof(struct item, id)},
    {VV_DATA_UINT64, 1, offsetof(struct item, total)},        {VV_DATA_FLOAT, 1, offsetof(struct item, weight)},
    {VV_DATA_COMPLEX_DOUBLE, 1, offsetof(struct item, wave)},
};
static const struct vv_data_layout layout = {sizeof(struct item), 7, fields};

/* The file name of the example in RFC 4506, section 7, and numbers. */
static const struct item value = {"sillyprog", -2, 60000, -3, 0x0102030405060708, 1.0F, {-2.0, 0.5}};
static const uint8_t bytes[] = {
    's',  'i',  'l',  'l',  'y',  'p',  'r',  'o',  'g',  0,    0,    0,                            /* opaque[9] */
    0xff, 0xff, 0xff, 0xfe, 0x00, 0x00, 0xea, 0x60, 0xff, 0xff, 0xff, 0xfd,                         /* -2, 60000, -3 */
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,                                                 /* hyper */
    0x3f, 0x80, 0x00, 0x00,                                                                         /* 1.0 */
    0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3f, 0xe0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* -2, 0.5 */
};

static void test_the_bytes_of_the_rfc(void **state) {
  (void)state;
  uint8_t got[2 * sizeof bytes];
  struct item items[2] = {value, value}, back[2];
  assert_int_equal(vv_xdr_bytes(&layout), sizeof bytes);
  vv_xdr_encode(&layout, items, 2, got);
  assert_memory_equal(got, bytes, sizeof bytes);
  assert_memory_equal(got + sizeof bytes, bytes, sizeof bytes);
  memcpy(back, items, sizeof back); /* the gaps */
  memset(back[1].name, 0, sizeof back[1].name);
  back[0].small = back[1].small = 0;
  back[0].wave[1] = 0;
  assert_true(vv_xdr_decode(&layout, got, 2, back));
  assert_memory_equal(back, items, sizeof items);
}

static void test_what_is_no_value(void **state) {
  (void)state;
  static const size_t at[] = {9, 11, 12, 15, 16, 17}; /* pad, pad, too small, too large, too large, too large */
  static const uint8_t wrong[] = {1, 1, 0x7f, 0x7f, 1, 1};
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
    uint8_t damaged[sizeof bytes];
    struct item item;
    memcpy(damaged, bytes, sizeof damaged);
    damaged[at[i]] = wrong[i];
    assert_false(vv_xdr_decode(&layout, damaged, 1, &item));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_bytes_of_the_rfc),
      cmocka_unit_test(test_what_is_no_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
