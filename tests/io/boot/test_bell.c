/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring over loopback, which has a broadcast address: heard by all who hold the key, and nobody else's is. */
#include "io/boot/bell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/wire/letter.h"
#include "io/os/clock.h"
#include "io/os/socket.h"

static const uint8_t key[VV_KEY_BYTES] = {4, 2}, another[VV_KEY_BYTES] = {4, 3};
static struct vv_address place;

static vv_ns a_minute_on(void) {
  return vv_clock_ns() + 60 * VV_SEC;
}

static int find_place(void **state) {
  (void)state;
  struct vv_error ignored;
  if (vv_address_parse("127.0.0.1", 0, &place, &ignored) != 0) return -1;
  close(vv_socket_bound(SOCK_DGRAM, &place, 0, 0, &ignored));
  return 0;
}

static int hang(void) {
  const int fd = vv_bell_open(&place.v4, vv_address_port(&place));
  assert_true(fd >= 0);
  return fd;
}

static void all_who_wait_hear_it(void **state) {
  (void)state;
  const int first = hang(), second = hang();
  vv_bell_ring(&place, key);
  assert_true(vv_bell_await(first, key, a_minute_on()));
  assert_true(vv_bell_await(second, key, a_minute_on()));
  assert_false(vv_bell_await(first, key, vv_clock_ns())); /* it rang once */
  close(first);
  close(second);
}

static void say(const void *bytes, size_t count) {
  struct vv_address everybody = place;
  struct vv_error ignored;
  const int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
  assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on), 0);
  assert_int_equal(vv_address_broadcast(&everybody, &ignored), 0);
  assert_int_equal(sendto(fd, bytes, count, 0, &everybody.any, everybody.length), (ssize_t)count);
  close(fd);
}

static void strangers_ring_in_vain(void **state) {
  (void)state;
  const int fd = hang();
  uint8_t letter[VV_LETTER_RING_BYTES + 1] = {0};
  vv_bell_ring(&place, another);
  vv_letter_ring_emit(key, letter);
  say(letter, VV_LETTER_RING_BYTES - 1);
  say(letter, VV_LETTER_RING_BYTES + 1);
  say("", 0);
  assert_false(vv_bell_await(fd, key, vv_clock_ns() + 5 * VV_MS));
  say(letter, VV_LETTER_RING_BYTES);
  assert_true(vv_bell_await(fd, key, a_minute_on()));
  close(fd);
}

static void without_a_bell_it_waits(void **state) {
  (void)state;
  const struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xcb007101)};
  const struct vv_address there = {.v4 = nowhere, .length = sizeof nowhere};
  assert_int_equal(vv_bell_open(&nowhere, 7000), -1);
  vv_bell_ring(&there, key);
  const vv_ns until_ns = vv_clock_ns() + 3 * VV_MS;
  assert_false(vv_bell_await(-1, key, until_ns));
  assert_true(vv_clock_ns() >= until_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(all_who_wait_hear_it, find_place),
      cmocka_unit_test_setup(strangers_ring_in_vain, find_place),
      cmocka_unit_test_setup(without_a_bell_it_waits, find_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
