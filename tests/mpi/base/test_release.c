/* SPDX-License-Identifier: BSD-3-Clause */
/* Components of one minor release of Open MPI, and what they say to another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/base/release.h"

static const struct vv_release built = {"mca_some_thing.so", 4, 1};

static void the_same_minor_release_fits(void **state) {
  (void)state;
  char text[VV_RELEASE_TEXT_BYTES] = "as it was";
  assert_true(vv_release_fits(&built, "4.1.4", text));
  assert_true(vv_release_fits(&built, "4.1.99rc1", text));
  assert_string_equal(text, "as it was");
}

static void another_one_does_not_and_is_named(void **state) {
  (void)state;
  static const char *const others[] = {"4.0.9", "4.10.0", "5.1.0", "4", "", "trunk"};
  char text[VV_RELEASE_TEXT_BYTES];
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(vv_release_fits(&built, others[i], text));
  assert_false(vv_release_fits(&built, "5.0.3", text));
  assert_string_equal(text, "mca_some_thing.so was built for Open MPI 4.1, and this is 5.0.3");
}

static void a_long_name_of_a_release_is_cut(void **state) {
  (void)state;
  char text[VV_RELEASE_TEXT_BYTES], running[500];
  memset(running, '9', sizeof running - 1);
  running[sizeof running - 1] = '\0';
  assert_false(vv_release_fits(&built, running, text));
  assert_non_null(strstr(text, "this is 99999999999999999999"));
  assert_true(strlen(text) < 90);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_minor_release_fits),
                                     cmocka_unit_test(another_one_does_not_and_is_named),
                                     cmocka_unit_test(a_long_name_of_a_release_is_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
