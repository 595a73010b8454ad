/* SPDX-License-Identifier: BSD-3-Clause */
/* Roads over the kernel's TCP: ranks of one process on loopback, each of which does what it can when its turn comes. */
#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/job/lanes.h"

enum { RANKS = 3, WAIT_MS = 60000 };

static struct vv_lanes lanes[RANKS];
static struct sockaddr_in peers[RANKS];
static const uint8_t key[VV_KEY_BYTES] = {1, 2, 3}, other_key[VV_KEY_BYTES] = {3, 2, 1};

/* A port that is free for TCP, too. */
static struct sockaddr_in any(void) {
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof own;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_return_code(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
  assert_return_code(getsockname(fd, (struct sockaddr *)&own, &size), 0);
  close(fd);
  return own;
}

static int raise_roads(void **state) {
  struct vv_error error;
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) {
    peers[i] = any();
    vv_lanes_init(&lanes[i]);
    assert_return_code(vv_lanes_listen(&lanes[i], &peers[i], &error), 0);
  }
  for (uint32_t i = 0; i < RANKS; i++) {
    assert_return_code(vv_lanes_open(&lanes[i], RANKS, i, peers, key, &error), 0);
  }
  return 0;
}

static int end_roads(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) vv_lanes_close(&lanes[i]);
  return 0;
}

/* Until all of them have ended. */
static void drive(struct vv_lanes_message *const *messages, size_t count) {
  for (size_t i = 0; i < count;) {
    struct pollfd fds[RANKS];
    for (int k = 0; k < RANKS; k++) fds[k] = (struct pollfd){.fd = lanes[k].fd, .events = POLLIN};
    if (messages[i]->ended) {
      i++;
      continue;
    }
    assert_true(poll(fds, RANKS, WAIT_MS) > 0);
    for (int k = 0; k < RANKS; k++) vv_lanes_turn(&lanes[k]);
  }
}

static struct vv_lanes_message sending(const void *data, size_t bytes) {
  return (struct vv_lanes_message){.sends = true, .send = {.label = 7, .data = data, .size_bytes = bytes}};
}

static struct vv_lanes_message taking(void *buffer, size_t room) {
  return (struct vv_lanes_message){.take = {.label = 7, .buffer = buffer, .room_bytes = room}};
}

static void test_a_message_finds_its_rank(void **state) {
  (void)state;
  char buffer[16] = "";
  struct vv_lanes_message send = sending("from 2 to 0", 12), take = taking(buffer, sizeof buffer);
  vv_lanes_begin(&lanes[0], 2, &take);
  vv_lanes_begin(&lanes[2], 0, &send);
  drive((struct vv_lanes_message *[]){&send, &take}, 2);
  assert_false(send.failed || take.failed);
  assert_string_equal(buffer, "from 2 to 0");
}

static void test_large_messages_cross_between_all(void **state) {
  (void)state;
  enum { LARGE = 3000001, ALL = RANKS * (RANKS - 1) };
  struct vv_lanes_message sends[ALL], takes[ALL], *all[2 * ALL];
  uint8_t *data[RANKS], *buffers = calloc(ALL, LARGE);
  for (int i = 0; i < RANKS; i++) {
    data[i] = malloc(LARGE);
    for (size_t k = 0; k < LARGE; k++) data[i][k] = (uint8_t)(k * 31 + (size_t)i * 7 + (k >> 9));
  }
  for (int i = 0; i < ALL; i++) {
    const uint32_t from = (uint32_t)i % RANKS, to = (from + 1 + (uint32_t)i / RANKS) % RANKS;
    sends[i] = sending(data[from], LARGE);
    takes[i] = taking(buffers + (size_t)i * LARGE, LARGE);
    vv_lanes_begin(&lanes[from], to, &sends[i]);
    vv_lanes_begin(&lanes[to], from, &takes[i]);
    all[2 * i] = &sends[i], all[2 * i + 1] = &takes[i];
  }
  drive(all, (size_t)2 * ALL);
  for (int i = 0; i < ALL; i++) {
    assert_false(sends[i].failed || takes[i].failed);
    assert_memory_equal(buffers + (size_t)i * LARGE, data[i % RANKS], LARGE);
  }
  for (int i = 0; i < RANKS; i++) free(data[i]);
  free(buffers);
}

static void test_many_small_messages_keep_their_order(void **state) {
  (void)state;
  enum { MANY = 3000 };
  static struct vv_lanes_message sends[MANY], takes[MANY], *all[2 * MANY];
  static uint32_t numbers[MANY], got[MANY];
  for (uint32_t i = 0; i < MANY; i++) {
    numbers[i] = i * i;
    sends[i] = sending(&numbers[i], sizeof numbers[i]);
    takes[i] = taking(&got[i], sizeof got[i]);
    vv_lanes_begin(&lanes[0], 1, &sends[i]);
    all[2 * i] = &sends[i], all[2 * i + 1] = &takes[i];
  }
  for (uint32_t i = 0; i < MANY; i++) vv_lanes_begin(&lanes[1], 0, &takes[i]);
  drive(all, (size_t)2 * MANY);
  assert_memory_equal(numbers, got, sizeof numbers);
}

/* Who connects and says nothing, or has another key, is in nobody's way. */
static void test_strangers_get_nothing(void **state) {
  (void)state;
  enum { STRANGERS = 3 * VV_LANES_GUESTS_MAX };
  int fds[STRANGERS];
  char buffer[4];
  struct vv_error error;
  struct vv_lanes liar;
  struct sockaddr_in place = any();
  for (int i = 0; i < STRANGERS; i++) {
    fds[i] = socket(AF_INET, SOCK_STREAM, 0);
    assert_return_code(connect(fds[i], (struct sockaddr *)&peers[0], sizeof peers[0]), 0);
    vv_lanes_turn(&lanes[0]);
  }
  vv_lanes_init(&liar);
  assert_return_code(vv_lanes_listen(&liar, &place, &error), 0);
  assert_return_code(vv_lanes_open(&liar, RANKS, 1, peers, other_key, &error), 0);
  struct vv_lanes_message forged = sending("lie", 4), honest = sending("yes", 4), take = taking(buffer, sizeof buffer);
  vv_lanes_begin(&lanes[0], 1, &take);
  vv_lanes_begin(&liar, 0, &forged);
  vv_lanes_begin(&lanes[1], 0, &honest);
  while (!take.ended || !honest.ended) {
    struct pollfd watched[] = {{.fd = liar.fd, .events = POLLIN},
                               {.fd = lanes[0].fd, .events = POLLIN},
                               {.fd = lanes[1].fd, .events = POLLIN}};
    assert_true(poll(watched, 3, WAIT_MS) > 0);
    vv_lanes_turn(&liar);
    vv_lanes_turn(&lanes[0]);
    vv_lanes_turn(&lanes[1]);
  }
  assert_false(forged.ended && !forged.failed);
  assert_false(take.failed);
  assert_string_equal(buffer, "yes");
  vv_lanes_close(&liar);
  for (int i = 0; i < STRANGERS; i++) close(fds[i]);
}

static void test_who_is_gone_fails_what_waits_for_it(void **state) {
  (void)state;
  char buffer[4];
  struct vv_lanes_message send = sending("abc", 4), take = taking(buffer, sizeof buffer), late = taking(buffer, 4);
  struct vv_lanes_message waiting = taking(buffer, sizeof buffer);
  vv_lanes_begin(&lanes[1], 0, &take);
  vv_lanes_begin(&lanes[0], 1, &send);
  drive((struct vv_lanes_message *[]){&take, &send}, 2);
  vv_lanes_begin(&lanes[0], 1, &late);
  vv_lanes_close(&lanes[1]);
  drive((struct vv_lanes_message *[]){&late}, 1);
  assert_true(late.failed);
  vv_lanes_begin(&lanes[0], 2, &waiting);
  vv_lanes_lost(&lanes[0], 2);
  assert_true(waiting.ended && waiting.failed);
  vv_lanes_begin(&lanes[0], 2, &send);
  assert_true(send.ended && send.failed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_message_finds_its_rank, raise_roads, end_roads),
      cmocka_unit_test_setup_teardown(test_large_messages_cross_between_all, raise_roads, end_roads),
      cmocka_unit_test_setup_teardown(test_many_small_messages_keep_their_order, raise_roads, end_roads),
      cmocka_unit_test_setup_teardown(test_strangers_get_nothing, raise_roads, end_roads),
      cmocka_unit_test_setup_teardown(test_who_is_gone_fails_what_waits_for_it, raise_roads, end_roads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
