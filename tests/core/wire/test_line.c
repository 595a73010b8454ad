/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of text: taken one by one, and read without belief in what they hold. */
#include "core/wire/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void lines_are_taken_one_by_one(void **state) {
  (void)state;
  char buffer[VV_LINE_BYTES_MAX], line[VV_LINE_BYTES_MAX];
  const char *text = "first a=1\n\nthird\npart";
  size_t used = strlen(text);
  memcpy(buffer, text, used);
  assert_true(vv_line_take(buffer, &used, line));
  assert_string_equal(line, "first a=1");
  assert_true(vv_line_take(buffer, &used, line));
  assert_string_equal(line, "");
  assert_true(vv_line_take(buffer, &used, line));
  assert_string_equal(line, "third");
  assert_false(vv_line_take(buffer, &used, line));
  assert_int_equal(used, 4);
}

static void the_longest_line_fits(void **state) {
  (void)state;
  char buffer[VV_LINE_BYTES_MAX], line[VV_LINE_BYTES_MAX];
  size_t used = sizeof buffer;
  memset(buffer, 'x', sizeof buffer);
  assert_false(vv_line_take(buffer, &used, line));
  buffer[sizeof buffer - 1] = '\n';
  assert_true(vv_line_take(buffer, &used, line));
  assert_int_equal(strlen(line), VV_LINE_BYTES_MAX - 1);
  assert_int_equal(used, 0);
}

static void a_verb_is_a_whole_word(void **state) {
  (void)state;
  assert_true(vv_line_is("go", "go"));
  assert_true(vv_line_is("go check_ns=3", "go"));
  assert_false(vv_line_is("gone", "go"));
  assert_false(vv_line_is("g", "go"));
  assert_false(vv_line_is("", "go"));
}

static void words_are_found(void **state) {
  (void)state;
  char value[8] = "before";
  const char *line = "verb a=1 bb=-22 ab=x empty= text=a b=9";
  assert_true(vv_line_word(line, "ab", value, sizeof value));
  assert_string_equal(value, "x");
  assert_true(vv_line_word(line, "empty", value, sizeof value));
  assert_string_equal(value, "");
  assert_false(vv_line_word(line, "verb", value, sizeof value));
  assert_false(vv_line_word(line, "bb", value, 3)); /* with its end it needs 4 */
  assert_string_equal(value, "");
  assert_true(vv_line_word(line, "bb", value, 4));
}

static void free_text_has_no_words(void **state) {
  (void)state;
  char value[8];
  const char *line = "error code=x text=no such a=1 thing";
  assert_string_equal(vv_line_text(line), "no such a=1 thing");
  assert_false(vv_line_word(line, "a", value, sizeof value));
  assert_null(vv_line_text("error code=x"));
  assert_null(vv_line_text("text=x"));
}

static void numbers_are_decimal_and_bounded(void **state) {
  (void)state;
  static const struct {
    const char *line;
    bool is_number;
    int64_t value;
  } cases[] = {
      {"v n=0", true, 0},
      {"v n=-22", true, -22},
      {"v n=007", true, 7},
      {"v n=-3000000000000000000", true, -VV_LINE_NUMBER_MAX},
      {"v n=3000000000000000000", true, VV_LINE_NUMBER_MAX},
      {"v n=3000000000000000001", false, 0},
      {"v n=-9223372036854775808", false, 0},
      {"v n=99999999999999999999", false, 0},
      {"v n=99999999999999999999999999999", false, 0},
      {"v n=", false, 0},
      {"v n=-", false, 0},
      {"v n=--1", false, 0},
      {"v n=+1", false, 0},
      {"v n=1x", false, 0},
      {"v n=0x1", false, 0},
      {"v m=1", false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t number = 42;
    assert_int_equal(vv_line_number(cases[i].line, "n", &number), cases[i].is_number);
    assert_int_equal(number, cases[i].is_number ? cases[i].value : 42);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_taken_one_by_one), cmocka_unit_test(the_longest_line_fits),
      cmocka_unit_test(a_verb_is_a_whole_word),     cmocka_unit_test(words_are_found),
      cmocka_unit_test(free_text_has_no_words),     cmocka_unit_test(numbers_are_decimal_and_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
