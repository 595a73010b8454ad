/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces by the one that every host has, and what is none. */
#include "io/os/iface.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_loopback(void **state) {
  (void)state;
  char name[VV_IFACE_NAME_MAX];
  struct vv_iface iface;
  struct vv_error error;
  assert_int_equal(vv_iface_of("127.0.0.1", name, &error), 0);
  assert_int_equal(vv_iface_read(name, &iface, &error), 0);
  assert_string_equal(iface.name, name);
  assert_true(iface.index > 0 && iface.up && iface.ethernet && iface.mtu_bytes >= 1280);
  assert_memory_equal(iface.mac, "\0\0\0\0\0\0", sizeof iface.mac);
}

/* Nobody can tell the rate of what has no card. */
static void test_loopback_has_no_rate(void **state) {
  (void)state;
  assert_int_equal(vv_iface_mbps("lo"), 0);
  assert_int_equal(vv_iface_shared_mbps("lo"), 0);
  assert_int_equal(vv_iface_mbps("no-such-iface"), 0);
}

static void test_what_is_no_interface(void **state) {
  (void)state;
  char name[VV_IFACE_NAME_MAX] = "as it was";
  struct vv_iface iface = {.index = 7};
  struct vv_error error;
  assert_int_equal(vv_iface_of("192.0.2.1", name, &error), -1); /* RFC 5737: for documents, nobody's */
  assert_string_equal(error.code, "no-iface");
  assert_int_equal(vv_iface_of("here", name, &error), -1);
  assert_string_equal(error.code, "bad-address");
  assert_int_equal(vv_iface_read("no-such-iface", &iface, &error), -1);
  assert_string_equal(error.code, "no-iface");
  assert_int_equal(vv_iface_read("a-name-of-sixteen", &iface, &error), -1);
  assert_string_equal(error.code, "no-iface");
  assert_string_equal(name, "as it was");
  assert_int_equal(iface.index, 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_loopback), cmocka_unit_test(test_loopback_has_no_rate),
                                     cmocka_unit_test(test_what_is_no_interface)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
