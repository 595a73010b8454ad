/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive buffer: what it holds, when it loses, when room comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/socket.h"

enum { DEFAULT_BYTES = 212992, FULL = 1472, TINY = 18 };

static uint32_t fill(struct vv_sim_socket *socket, size_t count) {
  uint32_t stored = 0;
  for (bool room = true; room;) {
    struct vv_sim_packet *packet = vv_sim_packet_new(count);
    room = vv_sim_socket_put(socket, packet);
    stored += room;
    vv_sim_packet_drop(packet);
  }
  return stored;
}

static void read_some(struct vv_sim_socket *socket, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) vv_sim_packet_drop(vv_sim_socket_take(socket));
}

static void test_the_default_buffer_holds_what_was_measured(void **state) {
  (void)state;
  struct vv_sim_socket socket;
  vv_sim_socket_open(&socket, DEFAULT_BYTES);
  assert_int_equal(fill(&socket, FULL), 71);
  assert_int_equal(socket.lost, 1);
  vv_sim_socket_close(&socket);
  vv_sim_socket_open(&socket, DEFAULT_BYTES);
  assert_int_equal(fill(&socket, TINY), 154);
  vv_sim_socket_close(&socket);
}

static void test_room_comes_back_by_quarters(void **state) {
  (void)state;
  struct vv_sim_socket socket;
  vv_sim_socket_open(&socket, DEFAULT_BYTES);
  fill(&socket, FULL);
  read_some(&socket, 17);
  assert_int_equal(fill(&socket, FULL), 0);
  read_some(&socket, 1); /* 18 of 71: more than a quarter */
  assert_int_equal(fill(&socket, FULL), 18);
  vv_sim_socket_close(&socket);
}

static void test_an_empty_buffer_is_all_free(void **state) {
  (void)state;
  struct vv_sim_socket socket;
  vv_sim_socket_open(&socket, DEFAULT_BYTES);
  fill(&socket, FULL);
  read_some(&socket, 71);
  assert_null(vv_sim_socket_take(&socket));
  assert_int_equal(fill(&socket, FULL), 71);
  vv_sim_socket_close(&socket);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_default_buffer_holds_what_was_measured),
      cmocka_unit_test(test_room_comes_back_by_quarters),
      cmocka_unit_test(test_an_empty_buffer_is_all_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
