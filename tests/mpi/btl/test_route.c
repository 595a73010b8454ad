/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface that leads to a host, on the one network that every host has: its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/btl/route.h"

static void the_first_host_that_is_known_and_another_decides(void **state) {
  (void)state;
  char name[VV_IFACE_NAME_MAX];
  struct vv_error error;
  assert_int_equal(vv_route_iface("127.0.0.1", "me", name, &error), 0);
  assert_string_equal(name, "lo");
  memset(name, 0, sizeof name);
  assert_int_equal(vv_route_iface("me,me,127.0.0.2", "me", name, &error), 0);
  assert_string_equal(name, "lo");
}

static void where_there_is_none_that_is_said(void **state) {
  (void)state;
  static const char *const lists[] = {"", "me", "me,me"};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    char name[VV_IFACE_NAME_MAX];
    struct vv_error error = {0};
    assert_int_equal(vv_route_iface(lists[i], "me", name, &error), -1);
    assert_string_equal(error.code, "no-iface");
  }
}

static void an_interface_has_the_network_of_its_address(void **state) {
  (void)state;
  uint32_t network = 1;
  uint8_t prefix = 1;
  vv_route_network("lo", &network, &prefix);
  assert_int_equal(network, 127u << 24);
  assert_int_equal(prefix, 8);
  vv_route_network("none", &network, &prefix);
  assert_int_equal(network, 0);
  assert_int_equal(prefix, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_host_that_is_known_and_another_decides),
      cmocka_unit_test(where_there_is_none_that_is_said),
      cmocka_unit_test(an_interface_has_the_network_of_its_address),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
