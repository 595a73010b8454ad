/* SPDX-License-Identifier: BSD-3-Clause */
/* The road: two ends of a stream that carries bytes in pieces of any length, and an end that does not keep to the
 * rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/road/road.h"

enum { ENDS = 2, STREAM_BYTES = 4096 };

struct pair {
  struct vv_road ends[ENDS];
  uint8_t under_way[ENDS][STREAM_BYTES]; /* towards that end */
  size_t bytes[ENDS];
  struct vv_rng rng;
};

static struct pair *pair;

static int raise_pair(void **state) {
  (void)state;
  pair = calloc(1, sizeof *pair);
  for (int i = 0; i < ENDS; i++) vv_road_init(&pair->ends[i]);
  return 0;
}

static int end_pair(void **state) {
  (void)state;
  free(pair);
  return 0;
}

static size_t below(size_t end) {
  return (size_t)(vv_rng_next(&pair->rng) % end);
}

/* Some bytes leave that end. False: none is to leave, or none fits. */
static bool leave(int end) {
  struct vv_road_piece pieces[2];
  unsigned count = vv_road_out(&pair->ends[end], pieces);
  size_t left = 0;
  for (unsigned i = 0; i < count; i++) {
    size_t room = STREAM_BYTES - pair->bytes[1 - end], bytes = pieces[i].bytes < room ? pieces[i].bytes : room;
    if (bytes > 0) bytes = 1 + below(bytes);
    memcpy(pair->under_way[1 - end] + pair->bytes[1 - end], pieces[i].data, bytes);
    pair->bytes[1 - end] += bytes;
    left += bytes;
    if (bytes < pieces[i].bytes) break;
  }
  if (left > 0) vv_road_left(&pair->ends[end], left);
  return left > 0;
}

static bool come(int end) {
  size_t bytes;
  if (pair->bytes[end] == 0) return false;
  uint8_t *at = vv_road_in(&pair->ends[end], &bytes);
  assert_true(bytes > 0);
  if (bytes > pair->bytes[end]) bytes = pair->bytes[end];
  bytes = 1 + below(bytes);
  memcpy(at, pair->under_way[end], bytes);
  pair->bytes[end] -= bytes;
  memmove(pair->under_way[end], pair->under_way[end] + bytes, pair->bytes[end]);
  assert_true(vv_road_came(&pair->ends[end], bytes));
  return true;
}

/* Until nothing moves. */
static void carry(void) {
  for (bool moved = true; moved;) {
    moved = false;
    for (int end = 0; end < ENDS; end++) moved = leave(end) || moved, moved = come(end) || moved;
  }
}

static void test_a_small_message_travels_unasked(void **state) {
  (void)state;
  char buffer[8] = "";
  struct vv_road_send send = {.label = 5, .data = (const uint8_t *)"hello", .size_bytes = 6};
  struct vv_road_take take = {.label = 5, .buffer = (uint8_t *)buffer, .room_bytes = sizeof buffer};
  vv_road_send(&pair->ends[0], &send);
  carry();
  assert_true(send.done);
  vv_road_take(&pair->ends[1], &take);
  assert_true(take.done && take.size_bytes == 6);
  assert_string_equal(buffer, "hello");
}

static void test_a_large_message_waits_until_it_is_asked_for(void **state) {
  (void)state;
  enum { LARGE = 3 * STREAM_BYTES + VV_ROAD_EAGER_BYTES };
  uint8_t *data = calloc(2, LARGE);
  for (size_t i = 0; i < LARGE; i++) data[i] = (uint8_t)(i * 7 >> 3);
  struct vv_road_send send = {.label = 1, .data = data, .size_bytes = LARGE};
  struct vv_road_take take = {.label = 1, .buffer = data + LARGE, .room_bytes = LARGE};
  vv_road_send(&pair->ends[0], &send);
  carry();
  assert_false(send.done);
  vv_road_take(&pair->ends[1], &take);
  carry();
  assert_true(send.done && take.done && take.size_bytes == LARGE);
  assert_memory_equal(data, data + LARGE, LARGE);
  free(data);
}

static void test_labels_are_not_in_each_others_way(void **state) {
  (void)state;
  static uint8_t bytes[VV_ROAD_EAGER_BYTES], room[VV_ROAD_EAGER_BYTES];
  enum { FIRST = VV_ROAD_UNTAKEN_MAX - 1 };
  static struct vv_road_send first[FIRST];
  for (int i = 0; i < FIRST; i++) {
    first[i] = (struct vv_road_send){.label = 1, .data = bytes, .size_bytes = sizeof bytes};
    vv_road_send(&pair->ends[0], &first[i]);
  }
  struct vv_road_send other = {.label = 2, .data = bytes, .size_bytes = 1};
  struct vv_road_take take = {.label = 2, .buffer = room, .room_bytes = sizeof room};
  vv_road_send(&pair->ends[0], &other);
  vv_road_take(&pair->ends[1], &take);
  carry();
  assert_true(take.done && take.size_bytes == 1);
}

/* Small ones and large, but none that somebody takes. */
static void test_what_nobody_takes_is_told(void **state) {
  (void)state;
  static uint8_t bytes[VV_ROAD_EAGER_BYTES + 1], room[VV_ROAD_EAGER_BYTES + 1];
  struct vv_road_send sends[4];
  struct vv_road_take take = {.label = 11, .buffer = room, .room_bytes = sizeof room};
  for (uint32_t i = 0; i < 4; i++) {
    sends[i] = (struct vv_road_send){.label = 10 + i, .data = bytes, .size_bytes = i % 2 ? sizeof bytes : 5};
    vv_road_send(&pair->ends[0], &sends[i]);
  }
  carry();
  vv_road_take(&pair->ends[1], &take);
  uint64_t label = 0, sum = 0;
  uint32_t count = 0;
  for (uint32_t at = 0; vv_road_untaken(&pair->ends[1], &at, &label); count++) sum += label;
  assert_true(count == 3 && sum == 10 + 12 + 13);
  assert_false(vv_road_untaken(&pair->ends[0], &(uint32_t){0}, &label));
}

static void test_what_there_is_no_room_for_is_let_go(void **state) {
  (void)state;
  static uint8_t bytes[2 * VV_ROAD_EAGER_BYTES], room[4];
  struct vv_road_send sends[] = {{.label = 1, .data = bytes, .size_bytes = 5},
                                 {.label = 1, .data = bytes, .size_bytes = sizeof bytes},
                                 {.label = 1, .data = (const uint8_t *)"end", .size_bytes = 4}};
  struct vv_road_take takes[3];
  for (int early = 0; early < 2; early++) {
    for (int i = 0; i < 3; i++) {
      takes[i] = (struct vv_road_take){.label = 1, .buffer = room, .room_bytes = sizeof room};
      if (early) vv_road_take(&pair->ends[1], &takes[i]);
      vv_road_send(&pair->ends[0], &sends[i]);
    }
    carry();
    for (int i = 0; !early && i < 3; i++) vv_road_take(&pair->ends[1], &takes[i]);
    carry();
    for (int i = 0; i < 3; i++)
      assert_true(sends[i].done && takes[i].done && takes[i].size_bytes == sends[i].size_bytes);
    assert_string_equal((char *)room, "end");
  }
}

/* Messages of a run drawn from a seed: of end e, label l, number n the byte i is a hash of all. */
enum { LABELS = 3, MESSAGES = 40 };

static uint8_t byte_of(int end, unsigned label, unsigned number, size_t i) {
  return (uint8_t)((size_t)end * 101 + label * 31 + number * 7 + i * 13 + (i >> 8));
}

struct drawn {
  struct vv_road_send sends[ENDS][LABELS][MESSAGES];
  struct vv_road_take takes[ENDS][LABELS][MESSAGES];
  unsigned sent[ENDS][LABELS], taken[ENDS][LABELS];
};

static void begin_send(struct drawn *drawn, int end, unsigned label) {
  unsigned number = drawn->sent[end][label]++;
  size_t size = below(4) == 0 ? below(5 * VV_ROAD_EAGER_BYTES) : below(300);
  uint8_t *data = malloc(size + 1);
  for (size_t i = 0; i < size; i++) data[i] = byte_of(end, label, number, i);
  struct vv_road_send *send = &drawn->sends[end][label][number];
  *send = (struct vv_road_send){.label = label, .data = data, .size_bytes = size};
  vv_road_send(&pair->ends[end], send);
}

static void begin_take(struct drawn *drawn, int end, unsigned label) {
  struct vv_road_take *take = &drawn->takes[end][label][drawn->taken[end][label]++];
  size_t room = below(8) == 0 ? below(200) : 5 * VV_ROAD_EAGER_BYTES;
  *take = (struct vv_road_take){.label = label, .buffer = malloc(room + 1), .room_bytes = room};
  vv_road_take(&pair->ends[end], take);
}

static void check(struct drawn *drawn, int end, unsigned label, unsigned number) {
  struct vv_road_take *take = &drawn->takes[end][label][number];
  struct vv_road_send *send = &drawn->sends[1 - end][label][number];
  assert_true(send->done && take->done && take->size_bytes == send->size_bytes);
  for (size_t i = 0; take->size_bytes <= take->room_bytes && i < take->size_bytes; i++) {
    assert_int_equal(take->buffer[i], byte_of(1 - end, label, number, i));
  }
  free(take->buffer);
  free((void *)(uintptr_t)send->data);
}

static void test_messages_of_a_label_arrive_in_order_whatever_happens_when(void **state) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    struct drawn *drawn = calloc(1, sizeof *drawn);
    for (int end = 0; end < ENDS; end++) vv_road_init(&pair->ends[end]);
    pair->rng = (struct vv_rng){seed};
    for (unsigned begun = 0; begun < 2 * ENDS * LABELS * MESSAGES;) {
      int end = (int)below(ENDS);
      unsigned label = (unsigned)below(LABELS);
      bool sends = below(2) == 0;
      unsigned *count = sends ? &drawn->sent[end][label] : &drawn->taken[end][label];
      if (*count < MESSAGES) {
        (sends ? begin_send : begin_take)(drawn, end, label);
        begun++;
      }
      for (size_t i = below(9); i > 0; i--) leave((int)below(ENDS)), come((int)below(ENDS));
    }
    carry();
    for (int i = 0; i < ENDS * LABELS * MESSAGES; i++) {
      check(drawn, i % ENDS, (unsigned)i / ENDS % LABELS, (unsigned)i / ENDS / LABELS);
    }
    free(drawn);
  }
  (void)state;
}

/* What that end makes of such a header. */
static bool believed(enum vv_milestone_kind kind, uint64_t what, uint64_t size_bytes) {
  size_t bytes;
  uint8_t *at = vv_road_in(&pair->ends[0], &bytes);
  assert_int_equal(bytes, VV_MILESTONE_BYTES);
  vv_milestone_emit(&(struct vv_milestone){kind, what, size_bytes}, at);
  return vv_road_came(&pair->ends[0], bytes);
}

static void test_an_end_that_does_not_keep_to_the_rules_is_not_believed(void **state) {
  (void)state;
  assert_false(believed(VV_MILESTONE_EAGER, 1, VV_ROAD_EAGER_BYTES + 1));
  assert_false(believed(VV_MILESTONE_GO, 0, 5));
  assert_false(believed(VV_MILESTONE_DATA, 0, 5));
  assert_false(believed(VV_MILESTONE_CREDIT, 1, 0));
  unsigned offers = 0;
  while (believed(VV_MILESTONE_OFFER, 1, 100000)) offers++;
  assert_int_equal(offers, VV_ROAD_KEPT_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_small_message_travels_unasked, raise_pair, end_pair),
      cmocka_unit_test_setup_teardown(test_a_large_message_waits_until_it_is_asked_for, raise_pair, end_pair),
      cmocka_unit_test_setup_teardown(test_labels_are_not_in_each_others_way, raise_pair, end_pair),
      cmocka_unit_test_setup_teardown(test_what_nobody_takes_is_told, raise_pair, end_pair),
      cmocka_unit_test_setup_teardown(test_what_there_is_no_room_for_is_let_go, raise_pair, end_pair),
      cmocka_unit_test_setup_teardown(test_messages_of_a_label_arrive_in_order_whatever_happens_when, raise_pair,
                                      end_pair),
      cmocka_unit_test_setup_teardown(test_an_end_that_does_not_keep_to_the_rules_is_not_believed, raise_pair,
                                      end_pair),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
