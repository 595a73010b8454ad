/* SPDX-License-Identifier: BSD-3-Clause */
/* Codes of errors: each has a kind, and an error that is set has both. */
#include "io/os/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "io/os/error.h"

static void a_code_has_a_kind(void **state) {
  (void)state;
  assert_int_equal(vv_code_find("timeout")->kind, VV_CODE_TIMEOUT);
  assert_int_equal(vv_code_find("rank-died")->kind, VV_CODE_GONE);
  assert_int_equal(vv_code_find("corrupt")->kind, VV_CODE_WARNING);
  assert_null(vv_code_find("timeouts"));
  assert_null(vv_code_find(""));
}

static void a_kind_has_a_word(void **state) {
  (void)state;
  for (int kind = 0; kind < VV_CODE_KINDS; kind++) assert_non_null(vv_code_kind_word((enum vv_code_kind)kind));
  assert_string_equal(vv_code_kind_word(VV_CODE_LACKING), "lacking");
}

static void an_error_has_the_kind_of_its_code(void **state) {
  (void)state;
  struct vv_error error = {0};
  assert_int_equal(error.kind, VV_CODE_NONE);
  assert_int_equal(vv_error_set(&error, "no-port", "none of %d", 3), -1);
  assert_string_equal(error.code, "no-port");
  assert_int_equal(error.kind, VV_CODE_LACKING);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_code_has_a_kind),
      cmocka_unit_test(a_kind_has_a_word),
      cmocka_unit_test(an_error_has_the_kind_of_its_code),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
