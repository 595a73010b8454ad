/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of two numbers: what each type has, that integers wrap, that a NaN stays, and that no alignment is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/coll/fold.h"

static void test_what_is_defined(void **state) {
  (void)state;
  assert_true(vv_fold_defined(VV_COLL_XOR, VV_DATA_UINT64) && vv_fold_defined(VV_COLL_MAX, VV_DATA_INT8));
  assert_true(vv_fold_defined(VV_COLL_MIN, VV_DATA_FLOAT) && vv_fold_defined(VV_COLL_PRODUCT, VV_DATA_COMPLEX_DOUBLE));
  assert_false(vv_fold_defined(VV_COLL_AND, VV_DATA_DOUBLE) || vv_fold_defined(VV_COLL_MAX, VV_DATA_COMPLEX_FLOAT));
  assert_false(vv_fold_defined(VV_COLL_SUM, VV_DATA_CHAR) || vv_fold_defined((enum vv_coll_op)0, VV_DATA_INT32));
  assert_false(vv_fold_defined((enum vv_coll_op)(VV_COLL_XOR + 1), VV_DATA_INT32));
  assert_false(vv_fold_defined(VV_COLL_SUM, (enum vv_data_type)(VV_DATA_COMPLEX_DOUBLE + 1)));
}

static void check32(enum vv_coll_op op, int32_t left, int32_t right, int32_t result) {
  vv_fold(op, VV_DATA_INT32, &left, &right, 1);
  assert_int_equal(left, result);
}

static void test_integers(void **state) {
  (void)state;
  check32(VV_COLL_SUM, -3, 5, 2);
  check32(VV_COLL_SUM, INT32_MAX, 1, INT32_MIN);
  check32(VV_COLL_PRODUCT, -3, 5, -15);
  check32(VV_COLL_PRODUCT, 1 << 30, 4, 0);
  check32(VV_COLL_MIN, -3, 5, -3);
  check32(VV_COLL_MAX, -3, 5, 5);
  check32(VV_COLL_AND, 12, 10, 8);
  check32(VV_COLL_OR, 12, 10, 14);
  check32(VV_COLL_XOR, 12, 10, 6);
  int64_t left = INT64_MIN, right = -1;
  vv_fold(VV_COLL_PRODUCT, VV_DATA_INT64, &left, &right, 1);
  assert_true(left == INT64_MIN);
  uint8_t narrow = 200, other = 100;
  vv_fold(VV_COLL_MAX, VV_DATA_UINT8, &narrow, &other, 1);
  assert_int_equal(narrow, 200);
  vv_fold(VV_COLL_MAX, VV_DATA_INT8, &narrow, &other, 1);
  assert_int_equal(narrow, 100);
}

static void test_a_nan_of_either_side_stays(void **state) {
  (void)state;
  const uint64_t told = UINT64_C(0x7ff8000000000abc), later = UINT64_C(0x7ff8000000000def);
  for (enum vv_coll_op op = VV_COLL_MIN; op <= VV_COLL_MAX; op++) {
    double one = 1;
    uint64_t left = told;
    vv_fold(op, VV_DATA_DOUBLE, &left, &one, 1);
    assert_true(left == told);
    vv_fold(op, VV_DATA_DOUBLE, &left, &later, 1);
    assert_true(left == told);
    vv_fold(op, VV_DATA_DOUBLE, &one, &later, 1);
    memcpy(&left, &one, sizeof left);
    assert_true(left == later);
  }
}

static void test_complex_numbers(void **state) {
  (void)state;
  double left[2] = {1, 2}, right[2] = {3, -5};
  vv_fold(VV_COLL_PRODUCT, VV_DATA_COMPLEX_DOUBLE, left, right, 1);
  assert_true(left[0] == 13 && left[1] == 1);
  float sum[4] = {1, 2, 3, 4}, more[4] = {10, 20, 30, 40};
  vv_fold(VV_COLL_SUM, VV_DATA_COMPLEX_FLOAT, sum, more, 2);
  assert_true(sum[0] == 11 && sum[1] == 22 && sum[2] == 33 && sum[3] == 44);
}

static void test_numbers_may_begin_at_any_byte(void **state) {
  (void)state;
  double numbers[3] = {1.5, -2.5, 3};
  uint8_t left[sizeof numbers + 1], right[sizeof numbers + 3];
  memcpy(left + 1, numbers, sizeof numbers);
  memcpy(right + 3, numbers, sizeof numbers);
  vv_fold(VV_COLL_SUM, VV_DATA_DOUBLE, left + 1, right + 3, 3);
  memcpy(numbers, left + 1, sizeof numbers);
  assert_true(numbers[0] == 3 && numbers[1] == -5 && numbers[2] == 6);
}

/* A product and a sum are rounded each, also where a machine could round once: 1 + 2^-30 squared, less 1 + 2^-29. */
static void test_each_product_is_rounded(void **state) {
  (void)state;
  volatile double near_one = 1 + 1.0 / (1 << 30), less = 1 + 1.0 / (1 << 29);
  double left[2] = {near_one, 1}, right[2] = {near_one, less};
  vv_fold(VV_COLL_PRODUCT, VV_DATA_COMPLEX_DOUBLE, left, right, 1);
  assert_true(left[0] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_defined),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_a_nan_of_either_side_stays),
      cmocka_unit_test(test_complex_numbers),
      cmocka_unit_test(test_numbers_may_begin_at_any_byte),
      cmocka_unit_test(test_each_product_is_rounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
