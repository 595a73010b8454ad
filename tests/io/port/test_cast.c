/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks on the loopback interface: what one gives in a batch comes to the other datagram by datagram. */
#include "io/port/cast.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/wire/bytes.h"

enum { PORT = 7321, STREAM = 0x500, ROOM = 600, PATIENCE_MS = 60000 };

static struct vv_cast ranks[2]; /* 0 sends, 1 hears */

static int set_up(void **state) {
  (void)state;
  uint8_t key[16] = {0}; /* each process has a group of its own, should several of them run */
  struct vv_error error;
  vv_put32(key, (uint32_t)getpid());
  for (int i = 0; i < 2; i++) {
    assert_int_equal(vv_cast_open(&ranks[i], "127.0.0.1", &error), 0);
    assert_int_equal(vv_cast_join(&ranks[i], vv_cast_group_of(key, STREAM), PORT, STREAM, true, &error), 0);
  }
  vv_cast_cut(&ranks[0], 300);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) vv_cast_close(&ranks[i]);
  return 0;
}

/* What a datagram of that number and length is, in two pieces. */
static struct vv_cast_datagram datagram(uint8_t number, size_t length, struct sockaddr_in to) {
  static uint8_t bytes[VV_CAST_BATCH][ROOM];
  uint8_t *own = bytes[number];
  memset(own, number, ROOM);
  vv_put32(own, (uint32_t)VV_GPDU_DATA << 24 | STREAM);
  return (struct vv_cast_datagram){to, {{own, 16}, {own + 16, length - 16}}};
}

/* The next datagram at that socket is the one of that number and length. */
static void assert_comes(int socket, uint8_t number, size_t length) {
  static uint8_t bytes[VV_CAST_BATCH * ROOM], wanted[ROOM];
  static unsigned came, taken;
  static size_t counts[VV_CAST_BATCH];
  struct pollfd one = {.fd = ranks[1].fds[socket], .events = POLLIN};
  if (taken == came) {
    assert_int_equal(poll(&one, 1, PATIENCE_MS), 1);
    came = vv_cast_recv(&ranks[1], socket, bytes, ROOM, counts);
    taken = 0;
  }
  assert_true(taken < came);
  const struct vv_cast_datagram made = datagram(number, length, ranks[0].group);
  memcpy(wanted, made.pieces[0].iov_base, length);
  assert_int_equal(counts[taken], length);
  assert_memory_equal(bytes + (size_t)taken * ROOM, wanted, length);
  taken++;
}

/* A train with its shorter end, one to another place, datagrams too short for a train, and a train again. */
static void send_mixed(void) {
  const size_t lengths[] = {300, 300, 300, 20, 300, 200, 200, 300, 300};
  struct vv_cast_datagram batch[9];
  for (uint8_t i = 0; i < 9; i++) batch[i] = datagram(i, lengths[i], i == 4 ? ranks[1].own : ranks[0].group);
  vv_cast_send(&ranks[0], batch, 9);
  for (uint8_t i = 0; i < 9; i++) {
    if (i != 4) assert_comes(VV_CAST_DATA, i, lengths[i]);
  }
  assert_comes(VV_CAST_OWN, 4, lengths[4]);
}

static void test_a_batch_comes_datagram_by_datagram(void **state) {
  (void)state;
  assert_true(ranks[0].cut_bytes == 300);
  send_mixed();
}

static void test_a_batch_comes_without_trains(void **state) {
  (void)state;
  vv_cast_cut(&ranks[0], 0);
  send_mixed();
}

static void test_a_train_that_the_kernel_refuses_goes_one_by_one(void **state) {
  (void)state;
  const int on = 1; /* without checksums Linux cuts nothing */
  assert_int_equal(setsockopt(ranks[0].fds[VV_CAST_OWN], SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  send_mixed();
  assert_true(ranks[0].cut_bytes == 0);
  send_mixed();
}

static void test_who_awaits_gets_what_is_there_and_no_more_than_it_wants(void **state) {
  (void)state;
  uint8_t bytes[VV_CAST_BATCH * ROOM];
  size_t counts[VV_CAST_BATCH];
  struct vv_cast_datagram batch[3];
  for (uint8_t i = 0; i < 3; i++) batch[i] = datagram(i, 100, ranks[0].group);
  vv_cast_send(&ranks[0], batch, 3);
  unsigned came = 0;
  while (came == 0) came = vv_cast_await(&ranks[1], bytes, ROOM, counts, 1);
  assert_true(came == 1 && counts[0] == 100);
  while (came < 3) came += vv_cast_await(&ranks[1], bytes, ROOM, counts, VV_CAST_BATCH);
  assert_true(ranks[1].awaits);
  assert_int_equal(vv_cast_await(&ranks[1], bytes, ROOM, counts, VV_CAST_BATCH), 0);
}

/* Whether one of that stream, before one that comes for sure, comes to that socket. */
static bool comes_of(uint32_t number, int socket, struct sockaddr_in to) {
  uint8_t bytes[VV_CAST_BATCH * ROOM];
  size_t counts[VV_CAST_BATCH];
  struct pollfd one = {.fd = ranks[1].fds[socket], .events = POLLIN};
  struct vv_cast_datagram batch[] = {datagram(0, 101, to), datagram(1, 100, to)};
  vv_put32(batch[0].pieces[0].iov_base, (uint32_t)VV_GPDU_DATA << 24 | number);
  vv_cast_send(&ranks[0], batch, 1);
  vv_cast_send(&ranks[0], batch + 1, 1);
  bool came = false;
  for (;;) {
    assert_int_equal(poll(&one, 1, PATIENCE_MS), 1);
    const unsigned count = vv_cast_recv(&ranks[1], socket, bytes, ROOM, counts);
    for (unsigned i = 0; i < count; i++) {
      if (counts[i] == 100) return came;
      came = true;
    }
  }
}

static void test_a_stream_is_heard_when_it_is_admitted_and_the_kernel_is_told_once(void **state) {
  (void)state;
  const uint32_t numbers[] = {1, 31, 32, 64, 255};
  const struct sockaddr_in to = ranks[0].group;
  assert_false(comes_of(STREAM + VV_DATAGRAM_STREAMS, VV_CAST_DATA, to));
  for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    assert_false(comes_of(STREAM + numbers[i], VV_CAST_DATA, to));
    assert_false(comes_of(STREAM + numbers[i], VV_CAST_EVERYONE, vv_cast_place(&ranks[0], VV_CAST_EVERYONE)));
    assert_true(comes_of(STREAM + numbers[i], VV_CAST_OWN, ranks[1].own)); /* what is meant for this rank alone */
    for (int times = 0; times < 3; times++) vv_cast_admit(&ranks[1], &numbers[i], 1);
    assert_true(comes_of(STREAM + numbers[i], VV_CAST_DATA, to));
    assert_true(comes_of(STREAM + numbers[i], VV_CAST_EVERYONE, vv_cast_place(&ranks[0], VV_CAST_EVERYONE)));
    assert_true(ranks[1].filter_changes == i + 1);
  }
  assert_false(comes_of(STREAM + 2, VV_CAST_DATA, to));
  assert_false(comes_of(STREAM + VV_DATAGRAM_STREAMS, VV_CAST_OWN, ranks[1].own));
}

/* Both hear at one address, each what is sent to its own ports, and streams as ever. */
static void test_who_is_alone_hears_at_ports_of_its_own(void **state) {
  (void)state;
  struct vv_error error;
  for (int i = 0; i < 2; i++) assert_int_equal(vv_cast_join_alone(&ranks[i], STREAM, &error), 0);
  for (int socket = VV_CAST_DATA; socket <= VV_CAST_EVERYONE; socket++) {
    assert_int_not_equal(ranks[0].ports[socket], ranks[1].ports[socket]);
    assert_true(comes_of(STREAM, socket, vv_cast_place(&ranks[1], socket)));
    assert_false(comes_of(STREAM + 1, socket, vv_cast_place(&ranks[1], socket)));
  }
  struct vv_cast_datagram other = datagram(1, 200, vv_cast_place(&ranks[0], VV_CAST_DATA));
  vv_cast_send(&ranks[1], &other, 1);
  struct pollfd theirs = {.fd = ranks[1].fds[VV_CAST_DATA], .events = POLLIN};
  assert_int_equal(poll(&theirs, 1, 50), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_a_batch_comes_datagram_by_datagram),
      CASE(test_a_batch_comes_without_trains),
      CASE(test_a_train_that_the_kernel_refuses_goes_one_by_one),
      CASE(test_a_stream_is_heard_when_it_is_admitted_and_the_kernel_is_told_once),
      CASE(test_who_is_alone_hears_at_ports_of_its_own),
      CASE(test_who_awaits_gets_what_is_there_and_no_more_than_it_wants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
