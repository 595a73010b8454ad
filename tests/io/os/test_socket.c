/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/socket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct vv_error error;

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
      cmocka_unit_test(a_range_is_kept),
      cmocka_unit_test(a_listener_takes_its_port_again_at_once),
      cmocka_unit_test(a_foreign_address_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
