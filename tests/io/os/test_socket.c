/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/socket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

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
static void a_range_is_kept(void **state) {
  (void)state;
  struct vv_address address;
  assert_int_equal(vv_address_parse("127.0.0.1", 0, &address, &error), 0);
  int any = vv_socket_bound(SOCK_STREAM, &address, 0, 0, &error);
  assert_true(any >= 0);
  uint16_t taken = vv_address_port(&address);
  assert_true(taken > 0);
  assert_int_equal(vv_socket_bound(SOCK_STREAM, &address, taken, taken, &error), -1);
  assert_string_equal(error.code, "no-port");
  close(any);
  int again = vv_socket_bound(SOCK_STREAM, &address, taken, taken, &error);
  assert_true(again >= 0);
  assert_int_equal(vv_address_port(&address), taken);
  close(again);
}

/* A connection to `listener` that this side has ended first: its port lingers. */
static void leave_a_lingering_connection(int listener, const struct vv_address *address) {
  int near = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(near >= 0);
  assert_int_equal(connect(near, &address->any, address->length), 0);
  int far = accept(listener, NULL, NULL);
  assert_true(far >= 0);
  char byte;
  close(far);
  assert_int_equal(read(near, &byte, 1), 0);
  close(near);
}

static void a_listener_takes_its_port_again_at_once(void **state) {
  (void)state;
  struct vv_address address;
  assert_int_equal(vv_address_parse("127.0.0.1", 0, &address, &error), 0);
  int listener = vv_socket_listening(&address, 0, 0, 4, &error);
  assert_true(listener >= 0);
  uint16_t port = vv_address_port(&address);
  leave_a_lingering_connection(listener, &address);
  close(listener);
  assert_int_equal(vv_socket_bound(SOCK_STREAM, &address, port, port, &error), -1);
  int again = vv_socket_listening(&address, port, port, 4, &error);
  assert_true(again >= 0);
  assert_int_equal(vv_address_port(&address), port);
  assert_int_equal(vv_socket_listening(&address, port, port, 4, &error), -1);
  assert_string_equal(error.code, "no-port");
  close(again);
}

static void a_foreign_address_is_named(void **state) {
  (void)state;
  struct vv_address address;
  assert_int_equal(vv_address_parse("192.0.2.1", 0, &address, &error), 0);
  assert_int_equal(vv_socket_bound(SOCK_STREAM, &address, 0, 0, &error), -1);
  assert_string_equal(error.code, "bad-address");
  assert_non_null(strstr(error.text, "192.0.2.1"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_come_back_as_written),
      cmocka_unit_test(a_port_may_be_left_out),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(equal_means_host_and_port),
      cmocka_unit_test(a_range_is_kept),
      cmocka_unit_test(a_listener_takes_its_port_again_at_once),
      cmocka_unit_test(a_foreign_address_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
