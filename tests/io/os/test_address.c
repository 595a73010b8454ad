/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct vv_error error;

static void addresses_come_back_as_written(void **state) {
  (void)state;
  static const char *const texts[] = {"10.1.0.2:4000", "127.0.0.1:0", "[::1]:65535", "[fe80::1%lo]:7",
                                      "[2001:db8::2]:80"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct vv_address address;
    char text[VV_ADDRESS_TEXT_MAX];
    assert_int_equal(vv_address_parse_pair(texts[i], &address, &error), 0);
    vv_address_format(&address, text);
    assert_string_equal(text, texts[i]);
  }
}

static void a_port_may_be_left_out(void **state) {
  (void)state;
  static const char *const hosts[] = {"10.1.0.2", "fe80::1", "::1"};
  for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
    struct vv_address address;
    char text[VV_ADDRESS_TEXT_MAX];
    assert_int_equal(vv_address_parse_pair(hosts[i], &address, &error), 0);
    assert_int_equal(vv_address_port(&address), 0);
    vv_address_format_host(&address, text);
    assert_string_equal(text, hosts[i]);
  }
}

static void nonsense_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",     "localhost", "10.0.0.256",   "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:65536", "10.0.0.1:-1",
      "[::1", "[::1]x:80", "fe80::1%nope", "::1]:80",   "$(id)",      "10.0.0.1:80 "};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct vv_address address;
    assert_int_equal(vv_address_parse_pair(texts[i], &address, &error), -1);
    assert_string_equal(error.code, "bad-address");
  }
}

static void equal_means_host_and_port(void **state) {
  (void)state;
  struct vv_address a, b;
  assert_int_equal(vv_address_parse("::1", 5, &a, &error), 0);
  assert_int_equal(vv_address_parse("0:0::1", 5, &b, &error), 0);
  assert_true(vv_address_equal(&a, &b));
  vv_address_set_port(&b, 6);
  assert_false(vv_address_equal(&a, &b));
  assert_int_equal(vv_address_parse("127.0.0.1", 5, &b, &error), 0);
  assert_false(vv_address_equal(&a, &b));
}

/* Ports of a range are used one after the other, and no others. */
int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_come_back_as_written),
      cmocka_unit_test(a_port_may_be_left_out),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(equal_means_host_and_port),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
