/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What strangers can do to the trial of a route, seen by a rank that only listens. The meeting's other ranks are
 * content with whatever this one says, and its sockets bring what is written here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/wire/trial.h"
#include "io/job/reach.h"
#include "io/os/clock.h"

enum { ME = 2, RANKS = 3, PORT = 7000, MTU = 1500, ROOM = 425984 };

/* How datagrams come. */
static uint32_t own_each;  /* one in so many is the job's; 0: none */
static uint32_t own_after; /* and only when so many have been read */
static vv_ns foreign_ns;   /* between two foreign ones; 0: whenever somebody reads */
static bool tails;         /* what tells the end of a train comes, of both senders, */
static uint32_t overtaken; /* before the train: so often nothing is there yet */
static uint32_t read_so_far;
static uint32_t agreements;
static vv_ns last_ns;

static struct vv_reach reach;
static uint8_t key[VV_KEY_BYTES] = "sixteen bytes !";

int vv_meeting_agree(struct vv_meeting *meeting, uint32_t values[VV_MEETING_VALUES], vv_ns deadline_ns,
                     struct vv_error *error) {
  (void)meeting, (void)values, (void)deadline_ns, (void)error;
  agreements++;
  return 0; /* all others give more */
}

int vv_cast_join(struct vv_cast *cast, struct in_addr address, uint16_t port, uint32_t stream, bool shared,
                 struct vv_error *error) {
  (void)cast, (void)address, (void)port, (void)stream, (void)shared, (void)error;
  return 0;
}

void vv_cast_cut(struct vv_cast *cast, size_t datagram_bytes) {
  (void)cast, (void)datagram_bytes;
}

struct in_addr vv_cast_group_of(const uint8_t group_key[16], uint32_t stream) {
  (void)group_key, (void)stream;
  return (struct in_addr){htonl(0xefc00001)};
}

void vv_cast_send(struct vv_cast *cast, struct vv_cast_datagram *datagrams, unsigned count) {
  (void)cast, (void)datagrams, (void)count;
  fail_msg("%s", "this rank only listens");
}

int vv_cast_join_alone(struct vv_cast *cast, uint32_t stream, struct vv_error *error) {
  (void)cast, (void)stream, (void)error;
  return 0;
}

struct sockaddr_in vv_cast_place(const struct vv_cast *cast, int socket) {
  (void)socket;
  return cast->group;
}

/* A stranger knows the stream, and not the key. */
static void make(uint8_t *bytes, bool own) {
  vv_trial_emit(key, reach.stream, read_so_far, bytes);
  if (!own) bytes[VV_TRIAL_BYTES - 1] ^= 1;
}

static bool comes(void) {
  if (foreign_ns == 0) return true;
  if (vv_clock_ns() - last_ns < foreign_ns) return false;
  last_ns = vv_clock_ns();
  return true;
}

unsigned vv_cast_recv(struct vv_cast *cast, int socket, uint8_t *bytes, size_t room, size_t counts[VV_CAST_BATCH]) {
  (void)cast;
  unsigned came = 0;
  if (socket == VV_CAST_EVERYONE) {
    for (; tails && came < 2; came++) {
      vv_trial_emit(key, reach.stream, VV_TRIAL_TAIL + came, bytes + came * room);
      counts[came] = VV_TRIAL_BYTES;
    }
    return came;
  }
  if (overtaken > 0) return overtaken--, 0;
  for (; came < VV_CAST_BATCH && comes(); came++) {
    read_so_far++;
    make(bytes + came * room, own_each > 0 && read_so_far > own_after && read_so_far % own_each == 0);
    counts[came] = room;
  }
  return came;
}

static int try_reach(struct vv_error *error) {
  struct sockaddr_in peers[RANKS] = {{.sin_addr.s_addr = 1}, {.sin_addr.s_addr = 2}, {.sin_addr.s_addr = 3}};
  struct vv_meeting meeting = {.ranks = RANKS, .rank = ME, .peers = peers};
  struct vv_cast cast = {.mtu_bytes = MTU, .room_bytes = ROOM};
  for (int i = 0; i < VV_CAST_SOCKETS; i++) cast.fds[i] = eventfd(1, EFD_CLOEXEC); /* there is always something */
  reach = (struct vv_reach){.route = VV_GROUP_MULTICAST, .port = PORT};
  read_so_far = agreements = 0;
  last_ns = vv_clock_ns();
  const int result = vv_reach(&reach, &meeting, &cast, key, VV_NEVER, error);
  for (int i = 0; i < VV_CAST_SOCKETS; i++) close(cast.fds[i]);
  return result;
}

static void test_who_is_reached_among_strangers_is_reached(void **state) {
  (void)state;
  struct vv_error error = {0};
  own_each = 100;
  own_after = 0;
  foreign_ns = 0;
  assert_int_equal(try_reach(&error), 0);
  assert_true(reach.route == VV_GROUP_MULTICAST && reach.window_datagrams > 50); /* strangers do not make it small */
}

static void test_a_train_that_was_crowded_out_is_sent_again(void **state) {
  (void)state;
  struct vv_error error = {0};
  own_each = 1000;
  own_after = 20000; /* what a buffer can hold twice is the strangers' */
  foreign_ns = 0;
  assert_int_equal(try_reach(&error), 0);
  assert_true(reach.route == VV_GROUP_MULTICAST && reach.window_datagrams > 50);
}

static void test_a_flood_that_lets_nothing_through_is_called_a_flood(void **state) {
  (void)state;
  struct vv_error error = {0};
  own_each = 0;
  foreign_ns = 0;
  assert_int_equal(try_reach(&error), -1);
  assert_string_equal(error.code, "flooded");
  assert_true(strtoul(error.text, NULL, 10) >= 500);
}

static void test_a_few_strangers_are_no_reason_for_silence(void **state) {
  (void)state;
  struct vv_error error = {0};
  own_each = 0;
  foreign_ns = 20000000;
  assert_int_equal(try_reach(&error), -1);
  assert_string_equal(error.code, "no-multicast");
}

static void test_a_train_that_is_whole_is_not_waited_for(void **state) {
  (void)state;
  struct vv_error error = {0};
  vv_ns least_ns = VV_SEC;
  own_each = 1;
  own_after = 0;
  foreign_ns = 0;
  tails = true;
  for (int i = 0; i < 10; i++) { /* the quickest: others may want the processor */
    const vv_ns begin_ns = vv_clock_ns();
    assert_int_equal(try_reach(&error), 0);
    const vv_ns spent_ns = vv_clock_ns() - begin_ns;
    if (spent_ns < least_ns) least_ns = spent_ns;
  }
  tails = false;
  assert_true(least_ns < 25 * VV_MS);
}

/* One agreement that all listen, one behind each train, and two or a few more of which the quickest is the round trip.
 */
static void test_whole_trains_with_their_tails_take_few_agreements(void **state) {
  (void)state;
  enum { FEWEST = 5 };
  struct vv_error error = {0};
  uint32_t fewest = UINT32_MAX;
  own_each = 1;
  own_after = 0;
  foreign_ns = 0;
  tails = true;
  for (int i = 0; i < 100 && fewest > FEWEST; i++) {
    assert_int_equal(try_reach(&error), 0);
    if (agreements < fewest) fewest = agreements;
  }
  tails = false;
  assert_int_equal(fewest, FEWEST);
}

/* A network may bring the tail first: the train is then waited for as one without. */
static void test_a_train_that_its_tail_has_overtaken_is_heard(void **state) {
  (void)state;
  struct vv_error error = {0};
  own_each = 1;
  own_after = 0;
  foreign_ns = 0;
  tails = true;
  overtaken = 1;
  assert_int_equal(try_reach(&error), 0);
  tails = false;
  assert_true(reach.route == VV_GROUP_MULTICAST && overtaken == 0 && reach.window_datagrams > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_train_that_is_whole_is_not_waited_for),
      cmocka_unit_test(test_whole_trains_with_their_tails_take_few_agreements),
      cmocka_unit_test(test_a_train_that_its_tail_has_overtaken_is_heard),
      cmocka_unit_test(test_who_is_reached_among_strangers_is_reached),
      cmocka_unit_test(test_a_train_that_was_crowded_out_is_sent_again),
      cmocka_unit_test(test_a_flood_that_lets_nothing_through_is_called_a_flood),
      cmocka_unit_test(test_a_few_strangers_are_no_reason_for_silence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
