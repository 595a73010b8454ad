/* SPDX-License-Identifier: BSD-3-Clause */
/* Two couriers on the loopback interface of a network namespace of their own, driven in turns by this one thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/os/clock.h"
#include "mpi/btl/courier.h"

#include "../../namespace.h"

enum { PEERS = 2, WINDOW = 4, SMALL = 100, LARGE = 40000, MESSAGE_MAX = 64000, LOADS = 64, NONCE = 0x5eed };
static const vv_ns patience_ns = 30 * VV_SEC;

/* A rank: its courier, the other one as its peer, and what it was told. */
struct rank {
  struct vv_courier courier;
  struct vv_courier_peer other;
  uint32_t came, left, sent, lost, ended;
  uint32_t came_bytes[LOADS];
  bool came_as_sent;
  struct vv_courier_load *answer; /* sent from within `came`; NULL: nothing is */
};

static uint8_t payload[MESSAGE_MAX];

static void note_came(void *context, const uint8_t *bytes, size_t count) {
  struct rank *rank = context;
  assert_true(rank->came < LOADS && count <= sizeof payload);
  rank->came_bytes[rank->came++] = (uint32_t)count;
  if (memcmp(bytes, payload, count) != 0) rank->came_as_sent = false;
  if (rank->answer) {
    struct vv_courier_load *load = rank->answer;
    rank->answer = NULL;
    assert_int_not_equal(vv_courier_send(&rank->courier, &rank->other, load), VV_COURIER_GONE);
  }
}

static void note_left(void *context, struct vv_courier_load *load) {
  struct rank *rank = context;
  assert_true(load->left);
  rank->left++;
}

static void note_sent(void *context, struct vv_courier_load *load, bool arrived) {
  struct rank *rank = context;
  (void)load;
  rank->sent++;
  if (!arrived) rank->lost++;
}

static void note_ended(void *context, struct vv_courier_peer *peer, enum vv_llc_close why) {
  struct rank *rank = context;
  (void)why;
  assert_ptr_equal(peer, &rank->other);
  rank->ended++;
}

static void note_waits(void *context, struct vv_courier_peer *peer) {
  (void)context, (void)peer;
  fail_msg("nobody waits half a minute here");
}

static int make_namespace(void **state) {
  (void)state;
  enter_namespace();
  for (size_t i = 0; i < sizeof payload; i++) payload[i] = (uint8_t)(i * 7 + (i >> 8));
  return 0;
}

static void open_rank(struct rank *rank, uint32_t nonce, vv_ns silence_ns, bool threads) {
  struct vv_error error;
  const struct vv_courier_config config = {.iface = "lo",
                                           .peers = PEERS,
                                           .nonce = nonce,
                                           .window = WINDOW,
                                           .message_bytes_max = MESSAGE_MAX,
                                           .silence_ns = silence_ns,
                                           .threads = threads,
                                           .user = {.came = note_came,
                                                    .left = note_left,
                                                    .sent = note_sent,
                                                    .ended = note_ended,
                                                    .waits = note_waits,
                                                    .context = rank}};
  *rank = (struct rank){.came_as_sent = true};
  if (vv_courier_open(&rank->courier, &config, &error) != 0) fail_msg("%s: %s", error.code, error.text);
}

static void join(struct rank *rank, const struct rank *other) {
  rank->other = (struct vv_courier_peer){.address = other->courier.node.self};
  assert_true(vv_courier_join(&rank->courier, &rank->other));
}

static void turn(struct rank *rank) {
  struct vv_error error;
  if (vv_courier_turn(&rank->courier, &error) < 0) fail_msg("%s: %s", error.code, error.text);
}

/* Turns of both until that count is reached. */
static void turn_until(struct rank *a, struct rank *b, const uint32_t *count, uint32_t wanted) {
  vv_ns deadline_ns = vv_clock_ns() + patience_ns;
  while (*count < wanted) {
    turn(a);
    turn(b);
    if (vv_clock_ns() > deadline_ns) fail_msg("%u of %u after all patience", *count, wanted);
  }
}

static void connect_both(struct rank *a, struct rank *b) {
  open_rank(a, NONCE, 0, false);
  open_rank(b, NONCE, 0, false);
  join(a, b);
  join(b, a);
  vv_ns deadline_ns = vv_clock_ns() + patience_ns;
  while (!a->other.up || !b->other.up) {
    turn(a);
    turn(b);
    assert_true(vv_clock_ns() < deadline_ns);
  }
}

static void close_both(struct rank *a, struct rank *b) {
  vv_courier_close(&a->courier, 0);
  vv_courier_close(&b->courier, 0);
}

static void a_message_comes_whole_be_it_one_frame_or_many(void **state) {
  (void)state;
  need_namespace();
  static const uint32_t sizes[] = {0, 1, SMALL, 1490, LARGE, MESSAGE_MAX};
  enum { COUNT = sizeof sizes / sizeof *sizes };
  static struct rank a, b;
  static struct vv_courier_load loads[COUNT];
  connect_both(&a, &b);
  for (size_t i = 0; i < COUNT; i++) {
    loads[i] = (struct vv_courier_load){.bytes = payload, .count = sizes[i]};
    assert_int_not_equal(vv_courier_send(&a.courier, &a.other, &loads[i]), VV_COURIER_GONE);
  }
  turn_until(&a, &b, &a.sent, COUNT);
  assert_int_equal(b.came, COUNT);
  for (size_t i = 0; i < COUNT; i++) assert_int_equal(b.came_bytes[i], sizes[i]);
  assert_true(b.came_as_sent);
  assert_int_equal(a.lost, 0);
  close_both(&a, &b);
}

/* What leaves at once is said by the call and not again; of what has to wait `left` tells, before its peer took a turn.
 */
static void who_sends_learns_once_that_a_message_has_left(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct vv_courier_load small = {.bytes = payload, .count = SMALL}, large = {.bytes = payload, .count = LARGE};
  connect_both(&a, &b);
  assert_true(vv_courier_is_open(&a.courier, &a.other));
  assert_int_equal(vv_courier_send(&a.courier, &a.other, &small), VV_COURIER_LEFT);
  turn_until(&a, &b, &a.sent, 1);
  assert_int_equal(a.left, 0);
  assert_int_equal(vv_courier_send(&a.courier, &a.other, &large), VV_COURIER_TAKEN);
  assert_false(vv_courier_is_open(&a.courier, &a.other));
  turn(&a);
  assert_int_equal(a.left, 0); /* the window is full, and nobody has acknowledged */
  turn_until(&a, &b, &a.sent, 2);
  assert_int_equal(a.left, 1);
  close_both(&a, &b);
}

static void a_message_may_be_answered_while_it_is_told(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct vv_courier_load ask = {.bytes = payload, .count = SMALL}, answer = {.bytes = payload, .count = LARGE};
  connect_both(&a, &b);
  b.answer = &answer;
  vv_courier_send(&a.courier, &a.other, &ask);
  turn_until(&a, &b, &a.came, 1);
  assert_int_equal(a.came_bytes[0], LARGE);
  assert_true(a.came_as_sent);
  close_both(&a, &b);
}

/* Open MPI makes its endpoints late: a peer's first message may be there before it is joined. */
static void a_peer_may_send_before_it_was_joined(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct vv_courier_load load = {.bytes = payload, .count = LARGE};
  open_rank(&a, NONCE, 0, false);
  open_rank(&b, NONCE, 0, false);
  join(&a, &b);
  vv_courier_send(&a.courier, &a.other, &load);
  turn_until(&a, &b, &b.came, 1);
  assert_true(b.came_as_sent);
  join(&b, &a);
  static struct vv_courier_load back = {.bytes = payload, .count = SMALL};
  vv_courier_send(&b.courier, &b.other, &back);
  turn_until(&a, &b, &a.came, 1);
  close_both(&a, &b);
}

static void a_rank_of_another_job_is_not_heard(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct vv_courier_load load = {.bytes = payload, .count = SMALL};
  open_rank(&a, NONCE, 0, false);
  open_rank(&b, NONCE + 1, 0, false);
  join(&a, &b);
  vv_courier_send(&a.courier, &a.other, &load);
  turn_until(&a, &b, &a.ended, 1);
  assert_int_equal(a.lost, 1);
  assert_int_equal(b.came, 0);
  assert_int_equal(vv_courier_send(&a.courier, &a.other, &load), VV_COURIER_GONE);
  close_both(&a, &b);
}

/* Everything is given back once, what the station had and what waited in line before it. */
static void what_a_peer_that_leaves_did_not_take_is_given_back(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct vv_courier_load loads[LOADS];
  connect_both(&a, &b);
  for (size_t i = 0; i < LOADS; i++) {
    loads[i] = (struct vv_courier_load){.bytes = payload, .count = MESSAGE_MAX};
    assert_int_equal(vv_courier_send(&a.courier, &a.other, &loads[i]), VV_COURIER_TAKEN);
  }
  vv_courier_close(&b.courier, 0);
  vv_ns deadline_ns = vv_clock_ns() + patience_ns;
  while (a.ended == 0 || a.sent < LOADS) {
    turn(&a);
    assert_true(vv_clock_ns() < deadline_ns);
  }
  assert_int_equal(a.sent, LOADS);
  assert_int_equal(a.lost, LOADS);
  assert_null(a.courier.leaving);
  vv_courier_close(&a.courier, 0);
}

/* A rank that takes no turns is taken for dead only by who asked for that; its own sleep is held against nobody. */
static void silence_is_an_end_where_that_was_asked_for(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct vv_courier_load load = {.bytes = payload, .count = LARGE};
  open_rank(&a, NONCE, 2 * VV_SEC, false);
  open_rank(&b, NONCE, 0, false);
  join(&a, &b);
  join(&b, &a);
  vv_courier_send(&a.courier, &a.other, &load);
  turn_until(&a, &b, &a.sent, 1);
  usleep(2500000); /* nobody takes turns: neither is silent for the other */
  turn(&a);
  assert_int_equal(a.ended, 0);
  vv_ns deadline_ns = vv_clock_ns() + patience_ns;
  while (a.ended == 0) { /* now a listens, and b does not speak */
    turn(&a);
    assert_true(vv_clock_ns() < deadline_ns);
  }
  close_both(&a, &b);
}

static void closing_waits_for_what_is_under_way(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct vv_courier_load load = {.bytes = payload, .count = SMALL};
  connect_both(&a, &b);
  vv_courier_send(&a.courier, &a.other, &load);
  turn(&b);
  vv_courier_close(&a.courier, patience_ns);
  assert_int_equal(a.courier.under_way, 0);
  assert_int_equal(a.sent, 0); /* the user is told nothing any more */
  turn_until(&b, &b, &b.ended, 1);
  assert_int_equal(b.came, 1);
  vv_courier_close(&b.courier, 0);
}

static void an_interface_that_goes_down_ends_turns(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  struct vv_error error = {0};
  connect_both(&a, &b);
  assert_int_equal(set_lo(0), 0);
  vv_ns deadline_ns = vv_clock_ns() + patience_ns;
  while (vv_courier_turn(&a.courier, &error) >= 0) assert_true(vv_clock_ns() < deadline_ns);
  assert_string_equal(error.code, "iface-down");
  assert_int_equal(set_lo(IFF_UP), 0);
  close_both(&a, &b);
}

struct talker {
  struct rank *rank;
  struct vv_courier_load loads[LOADS / 2];
};

static void *talk(void *argument) {
  struct talker *talker = argument;
  for (size_t i = 0; i < LOADS / 2; i++) {
    talker->loads[i] = (struct vv_courier_load){.bytes = payload, .count = (uint32_t)(i * 777)};
    vv_courier_send(&talker->rank->courier, &talker->rank->other, &talker->loads[i]);
    if (i % 8 == 0) turn(talker->rank);
  }
  return NULL;
}

static void several_threads_send_and_take_turns(void **state) {
  (void)state;
  need_namespace();
  static struct rank a, b;
  static struct talker talkers[2];
  pthread_t threads[2];
  open_rank(&a, NONCE, 0, true);
  open_rank(&b, NONCE, 0, true);
  join(&a, &b);
  join(&b, &a);
  for (size_t i = 0; i < 2; i++) {
    talkers[i].rank = &a;
    assert_int_equal(pthread_create(&threads[i], NULL, talk, &talkers[i]), 0);
  }
  turn_until(&a, &b, &b.came, LOADS / 4); /* while they are at it */
  for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  turn_until(&a, &b, &a.sent, LOADS);
  assert_int_equal(b.came, LOADS);
  assert_true(b.came_as_sent && a.lost == 0);
  close_both(&a, &b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_comes_whole_be_it_one_frame_or_many),
      cmocka_unit_test(who_sends_learns_once_that_a_message_has_left),
      cmocka_unit_test(a_message_may_be_answered_while_it_is_told),
      cmocka_unit_test(a_peer_may_send_before_it_was_joined),
      cmocka_unit_test(a_rank_of_another_job_is_not_heard),
      cmocka_unit_test(what_a_peer_that_leaves_did_not_take_is_given_back),
      cmocka_unit_test(silence_is_an_end_where_that_was_asked_for),
      cmocka_unit_test(closing_waits_for_what_is_under_way),
      cmocka_unit_test(an_interface_that_goes_down_ends_turns),
      cmocka_unit_test(several_threads_send_and_take_turns),
  };
  return cmocka_run_group_tests(tests, make_namespace, NULL);
}
