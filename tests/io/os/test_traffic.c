/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's counters of the interface that every host has, and of a connection over it. */
#include "io/os/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/os/socket.h"

#define BYTES 5000

/* A connection from this process to itself, whose ends are both open. */
static void join(int ends[2]) {
  struct vv_error error;
  struct vv_address address;
  assert_int_equal(vv_address_parse("127.0.0.1", 0, &address, &error), 0);
  const int listener = vv_socket_listening(&address, 0, 0, 1, &error);
  assert_true(listener >= 0);
  ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(ends[0], &address.any, address.length), 0);
  ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  assert_true(ends[1] >= 0);
  close(listener);
}

static void send_over(const int ends[2]) {
  uint8_t bytes[BYTES] = {0};
  assert_true(vv_socket_write_all(ends[0], bytes, sizeof bytes));
  for (size_t got = 0; got < sizeof bytes;) {
    const ssize_t came = read(ends[1], bytes, sizeof bytes);
    assert_true(came > 0);
    got += (size_t)came;
  }
}

static void a_connection_counts_its_bytes_and_the_interface_those_and_headers(void **state) {
  (void)state;
  struct vv_traffic first, last, near, far;
  int ends[2];
  join(ends);
  assert_true(vv_traffic_of_interface("lo", &first));
  send_over(ends);
  assert_true(vv_traffic_of_interface("lo", &last));
  assert_true(vv_traffic_of_connection(ends[0], &near));
  assert_true(vv_traffic_of_connection(ends[1], &far));
  assert_int_equal(near.tx_bytes, BYTES);
  assert_int_equal(far.rx_bytes, BYTES);
  assert_true(near.rx_bytes == 0 && far.tx_bytes == 0 && near.tx_frames > 0 && far.rx_frames > 0);
  const struct vv_traffic added = vv_traffic_since(&first, &last);
  assert_true(added.tx_bytes > BYTES && added.rx_bytes > BYTES && added.tx_frames > 0 && added.rx_frames > 0);
  close(ends[0]);
  close(ends[1]);
}

static void what_is_none_is_not_counted(void **state) {
  (void)state;
  struct vv_traffic traffic = {.tx_bytes = 7};
  assert_false(vv_traffic_of_interface("no-such-iface", &traffic));
  assert_false(vv_traffic_of_interface("", &traffic));
  assert_false(vv_traffic_of_interface("l", &traffic));
  assert_false(vv_traffic_of_connection(-1, &traffic));
  assert_int_equal(traffic.tx_bytes, 7);
}

static void what_was_sent_again_never_grows_less(void **state) {
  (void)state;
  const uint64_t before = vv_traffic_resent();
  assert_true(vv_traffic_resent() >= before);
}

static void traffic_is_added_and_taken_off_by_its_parts(void **state) {
  (void)state;
  const struct vv_traffic one = {1, 2, 3, 4}, ten = {10, 20, 30, 40}, nine = {9, 18, 27, 36};
  struct vv_traffic sum = vv_traffic_since(&one, &ten);
  assert_memory_equal(&sum, &nine, sizeof sum);
  vv_traffic_add(&sum, &one);
  assert_memory_equal(&sum, &ten, sizeof sum);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_connection_counts_its_bytes_and_the_interface_those_and_headers),
      cmocka_unit_test(what_is_none_is_not_counted),
      cmocka_unit_test(what_was_sent_again_never_grows_less),
      cmocka_unit_test(traffic_is_added_and_taken_off_by_its_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
