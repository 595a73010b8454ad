/* SPDX-License-Identifier: BSD-3-Clause */
/* A few ranks and a network without delay: what users and drivers of a group see of sender, receiver and peer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/heap.h"
#include "core/group/cut.h"
#include "core/group/rank.h"
#include "core/group/round.h"

enum { RANKS = 5, WINDOW = 10, DATAGRAM = 128, BODY = DATAGRAM - 16, INBOX = 200, MESSAGE = 20000 };

struct inbox {
  uint8_t bytes[INBOX][DATAGRAM];
  size_t counts[INBOX];
  uint32_t count;
};

struct rank {
  struct vv_rank group;
  void *memory;
  struct inbox inboxes[2];
  uint8_t message[MESSAGE];
  uint32_t told[VV_RANK_CLOSED + 1]; /* how often each event */
  struct vv_rank_event last;         /* DONE, or FAILED */
  vv_ns done_ns;
  bool asleep;
  uint32_t reads; /* datagrams of data in a turn; 0: only its engine runs, which answers peers */
  bool stream;    /* it takes messages as streams */
  uint64_t read;  /* positions of the stream below are in the message */
};

static struct rank *ranks;
static vv_ns now_ns;
static uint32_t sent_data, sent_control;
static bool queued; /* what goes to all but the last rank is still in a queue of the network */
/* True when this datagram is lost on its way to that rank. */
static bool (*loses)(const struct vv_rank_datagram *datagram, uint32_t to);

static struct vv_rank_config config_of(uint32_t rank) {
  return (struct vv_rank_config){.ranks = RANKS,
                                 .rank = rank,
                                 .key = "sixteen bytes !",
                                 .stream = 9,
                                 .datagram_bytes = DATAGRAM,
                                 .window_datagrams = WINDOW,
                                 .rtt_ns = VV_MS};
}

static int set_up(void **state) {
  (void)state;
  ranks = calloc(RANKS, sizeof *ranks);
  now_ns = sent_data = sent_control = 0;
  queued = false;
  loses = NULL;
  for (uint32_t i = 0; i < RANKS; i++) {
    struct vv_rank_config mine = config_of(i);
    ranks[i].memory = malloc(vv_rank_bytes(&mine));
    vv_rank_init(&ranks[i].group, ranks[i].memory, &mine);
    ranks[i].reads = UINT32_MAX;
  }
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) free(ranks[i].memory);
  free(ranks);
  return 0;
}

static void put(struct rank *to, enum vv_rank_socket socket, const struct vv_rank_datagram *datagram) {
  struct inbox *inbox = &to->inboxes[socket];
  assert_true(inbox->count < INBOX);
  memcpy(inbox->bytes[inbox->count], datagram->header, datagram->header_bytes);
  if (datagram->payload_bytes > 0) {
    memcpy(inbox->bytes[inbox->count] + datagram->header_bytes, datagram->payload, datagram->payload_bytes);
  }
  inbox->counts[inbox->count++] = datagram->header_bytes + datagram->payload_bytes;
}

static void send(uint32_t from, const struct vv_rank_datagram *datagram) {
  bool data = datagram->way == VV_RANK_TO_DATA;
  sent_data += data;
  sent_control += !data;
  for (uint32_t to = 0; to < RANKS; to++) {
    if (to == from || (datagram->way == VV_RANK_TO_RANK && to != datagram->rank)) continue;
    if (loses != NULL && loses(datagram, to)) continue;
    put(&ranks[to], data ? VV_RANK_SOCKET_DATA : VV_RANK_SOCKET_CONTROL, datagram);
  }
}

/* Puts together what has come of a stream. */
static void read_stream(struct rank *rank) {
  const struct vv_rank *group = &rank->group;
  if (!group->current.operation.stream) return;
  for (; rank->read < group->consumed; rank->read++) {
    uint64_t number = rank->read - group->current.first;
    struct vv_cut cut = vv_cut_piece(group->current.size_bytes, BODY, number);
    const struct vv_store_slot *slot = vv_store_find(&group->store, rank->read);
    assert_non_null(slot);
    const uint8_t *data = vv_store_body(&group->store, slot) + (number == 0 ? VV_GPDU_HEAD_BYTES : 0);
    memcpy(rank->message + cut.offset, data, cut.bytes);
  }
}

static bool take_one(struct rank *rank, enum vv_rank_socket socket) {
  struct inbox *inbox = &rank->inboxes[socket];
  uint8_t bytes[DATAGRAM];
  if (inbox->count == 0) return false;
  size_t count = inbox->counts[0];
  memcpy(bytes, inbox->bytes[0], count);
  inbox->count--;
  memmove(inbox->bytes, inbox->bytes + 1, inbox->count * sizeof *inbox->bytes);
  memmove(inbox->counts, inbox->counts + 1, inbox->count * sizeof *inbox->counts);
  vv_rank_take(&rank->group, now_ns, socket, bytes, count);
  read_stream(rank);
  return true;
}

static bool drive(uint32_t i) {
  struct rank *rank = &ranks[i];
  struct vv_rank_datagram datagram;
  struct vv_rank_event event;
  bool moved = false;
  if (rank->asleep) return false;
  bool reached = !queued || i == RANKS - 1;
  while (reached && take_one(rank, VV_RANK_SOCKET_CONTROL)) moved = true;
  for (uint32_t n = 0; n < rank->reads && reached && vv_rank_wants_data(&rank->group); n++) {
    if (!take_one(rank, VV_RANK_SOCKET_DATA)) break;
    moved = true;
  }
  bool dry = !reached || rank->inboxes[VV_RANK_SOCKET_DATA].count == 0;
  if (dry && vv_rank_wants_data(&rank->group)) vv_rank_dry(&rank->group, now_ns);
  for (; vv_rank_next(&rank->group, now_ns, &datagram); moved = true) send(i, &datagram);
  for (; vv_rank_event(&rank->group, &event); moved = true) {
    rank->told[event.kind]++;
    if (event.kind > VV_RANK_FAILED && event.kind != VV_RANK_LATE) continue;
    rank->last = event;
    rank->done_ns = now_ns;
  }
  return moved;
}

static void settle(void) {
  bool moved = true;
  while (moved) {
    moved = false;
    for (uint32_t i = 0; i < RANKS; i++) moved |= drive(i);
  }
}

/* Lets time pass, from deadline to deadline. */
static void run(vv_ns until_ns) {
  settle();
  while (now_ns < until_ns) {
    vv_ns next_ns = until_ns;
    for (uint32_t i = 0; i < RANKS; i++) {
      const struct vv_rank *group = &ranks[i].group;
      vv_ns ns = ranks[i].reads > 0 ? vv_rank_deadline_ns(group) : vv_rank_duty_ns(group);
      if (ranks[i].asleep) ns = VV_NEVER;
      if (ns < next_ns) next_ns = ns;
    }
    if (next_ns > now_ns) now_ns = next_ns;
    settle();
  }
}

static void fill(uint8_t *message, uint64_t size_bytes, uint8_t seed) {
  for (uint64_t i = 0; i < size_bytes; i++) message[i] = (uint8_t)(seed + i * 13 + i / 256);
}

static void start(uint32_t i, uint32_t root, uint64_t size_bytes, bool known) {
  struct vv_rank_operation operation = {root, ranks[i].message, size_bytes, known, 7, ranks[i].stream && i != root,
                                        NULL};
  ranks[i].read = ranks[i].group.consumed;
  vv_rank_start(&ranks[i].group, now_ns, &operation);
  read_stream(&ranks[i]);
}

static void start_all(uint32_t root, uint64_t size_bytes) {
  for (uint32_t i = 0; i < RANKS; i++) {
    memset(ranks[i].message, 0, MESSAGE);
    if (i == root) fill(ranks[i].message, size_bytes, (uint8_t)size_bytes);
    bool known = i % 2 == 0 || i == root;
    start(i, root, known ? size_bytes : MESSAGE, known);
  }
}

static void assert_delivered(uint64_t size_bytes) {
  static uint8_t right[MESSAGE];
  fill(right, size_bytes, (uint8_t)size_bytes);
  for (uint32_t i = 0; i < RANKS; i++) {
    assert_true(ranks[i].told[VV_RANK_DONE] == 1 && ranks[i].told[VV_RANK_FAILED] == 0);
    assert_true(ranks[i].last.size_bytes == size_bytes && ranks[i].last.representation == 7);
    assert_memory_equal(ranks[i].message, right, size_bytes);
    ranks[i].told[VV_RANK_DONE] = 0;
  }
}

static void assert_failed(uint32_t about, enum vv_gpdu_why why) {
  for (uint32_t i = 0; i < RANKS; i++) {
    if (ranks[i].asleep) continue;
    assert_true(ranks[i].told[VV_RANK_FAILED] >= 1);
    assert_true(ranks[i].last.failure.rank == about && ranks[i].last.failure.why == why);
  }
}

static void test_a_small_message_is_one_datagram_and_no_answer(void **state) {
  (void)state;
  start_all(2, 1);
  settle();
  assert_delivered(1);
  assert_true(sent_data == 1 && sent_control == 0);
}

static void test_every_size(void **state) {
  (void)state;
  const uint64_t sizes[] = {0, 1, 87, 88, 89, 200, 201, 88 + 8 * 112, 10000, MESSAGE};
  for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    start_all(i % RANKS, sizes[i]);
    run(now_ns + VV_MS);
    assert_delivered(sizes[i]);
  }
}

static void test_a_group_of_one(void **state) {
  (void)state;
  struct vv_rank_config alone = {.ranks = 1, .datagram_bytes = DATAGRAM, .window_datagrams = WINDOW, .rtt_ns = VV_MS};
  struct vv_rank group;
  struct vv_rank_event event;
  void *memory = malloc(vv_rank_bytes(&alone));
  vv_rank_init(&group, memory, &alone);
  struct vv_rank_operation operation = {0, ranks[0].message, UINT64_C(5) << 30, true, 0, false, NULL};
  vv_rank_start(&group, 0, &operation);
  assert_true(vv_rank_event(&group, &event) && event.kind == VV_RANK_DONE && event.size_bytes == UINT64_C(5) << 30);
  vv_rank_close(&group, 0);
  assert_true(vv_rank_event(&group, &event) && event.kind == VV_RANK_CLOSED);
  assert_true(vv_rank_deadline_ns(&group) == VV_NEVER);
  free(memory);
}

static uint32_t asked_or_deaf(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < RANKS; i++) {
    const struct vv_rank_counts *counts = &ranks[i].group.counts;
    count += (uint32_t)(counts->repairs_one + counts->repairs_all + counts->repeated);
    count += ranks[i].told[VV_RANK_DEAFENED];
  }
  return count;
}

/* What rank i gives to a round, and where each rank has it. */
enum { PART_BYTES = 30, AWAY = 100 };
static struct vv_rank_part parts[RANKS][RANKS];

static size_t part_bytes(uint32_t i) {
  return i == 1 ? 0 : PART_BYTES + i;
}

static void give(uint32_t i, uint8_t seed) {
  for (uint32_t j = 0; j < RANKS; j++) {
    parts[i][j] = (struct vv_rank_part){ranks[i].message + (size_t)j * AWAY, part_bytes(j)};
  }
  memset(ranks[i].message, 0, MESSAGE);
  fill(parts[i][i].buffer, part_bytes(i), (uint8_t)(seed + i));
  struct vv_rank_operation operation = {.parts = parts[i]};
  vv_rank_start(&ranks[i].group, now_ns, &operation);
}

static void assert_exchanged(uint32_t i, uint8_t seed) {
  uint8_t right[AWAY];
  assert_true(ranks[i].told[VV_RANK_DONE] == 1 && ranks[i].told[VV_RANK_FAILED] == 0);
  for (uint32_t j = 0; j < RANKS; j++) {
    fill(right, part_bytes(j), (uint8_t)(seed + j));
    assert_memory_equal(ranks[i].message + (size_t)j * AWAY, right, part_bytes(j));
  }
  ranks[i].told[VV_RANK_DONE] = 0;
}

static void give_all(uint8_t seed) {
  for (uint32_t i = 0; i < RANKS; i++) give(i, seed);
}

static void assert_all_exchanged(uint8_t seed) {
  for (uint32_t i = 0; i < RANKS; i++) assert_exchanged(i, seed);
}

static void test_a_round_is_a_datagram_of_each_and_nothing_else(void **state) {
  (void)state;
  for (uint32_t n = 1; n <= 50; n++) { /* many windows: parts alone keep the credit up */
    give_all((uint8_t)n);
    settle();
    assert_all_exchanged((uint8_t)n);
    assert_true(sent_data == n * RANKS && sent_control == 0);
  }
}

static void test_rounds_and_messages_follow_each_other(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 20; n++) {
    give_all((uint8_t)n);
    run(now_ns + 100 * VV_MS);
    assert_all_exchanged((uint8_t)n);
    start_all(n % RANKS, n * 100);
    run(now_ns + 100 * VV_MS);
    assert_delivered(n * 100);
  }
  for (uint32_t i = 0; i < RANKS; i++) vv_rank_close(&ranks[i].group, now_ns);
  run(now_ns + 1000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_CLOSED], 1);
}

static void test_a_group_ends_after_a_round(void **state) {
  (void)state;
  give_all(1);
  settle();
  for (uint32_t i = 0; i < RANKS; i++) vv_rank_close(&ranks[i].group, now_ns);
  run(now_ns + 1000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_CLOSED], 1);
}

/* All ask for it, again and again: it is sent once, when its rank comes. */
static void test_what_a_late_rank_has_not_sent_is_not_sent_twice(void **state) {
  (void)state;
  for (uint32_t late = 0; late < RANKS; late++) {
    for (uint32_t i = 0; i < RANKS; i++) {
      if (i != late) give(i, 3);
    }
    run(now_ns + 1000 * VV_MS);
    for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], 0);
    give(late, 3);
    settle();
    assert_all_exchanged(3);
    run(now_ns + 1000 * VV_MS);
    assert_int_equal(asked_or_deaf(), 0);
  }
}

static uint32_t part_of, part_to;

static bool loses_part(const struct vv_rank_datagram *datagram, uint32_t to) {
  bool part = datagram->way == VV_RANK_TO_DATA && datagram->header[0] == VV_GPDU_PART;
  return part && to == part_to && datagram->header[VV_GPDU_HEADER_BYTES + 1] == part_of;
}

static void test_each_part_lost_in_turn_comes_within_50_ms(void **state) {
  (void)state;
  loses = loses_part;
  for (part_of = 0; part_of < RANKS; part_of++) {
    for (part_to = 0; part_to < RANKS; part_to++) {
      vv_ns begin_ns = now_ns;
      if (part_to == part_of) continue;
      give_all(4);
      run(now_ns + 1000 * VV_MS); /* and then nobody says anything by itself */
      for (uint32_t i = 0; i < RANKS; i++) assert_true(ranks[i].done_ns < begin_ns + 50 * VV_MS);
      assert_all_exchanged(4);
    }
  }
}

/* Those that wait ask once in seconds by then. */
static void test_what_a_very_late_rank_sends_and_is_lost_comes_soon(void **state) {
  (void)state;
  loses = loses_part;
  part_of = 2, part_to = 4;
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != part_of) give(i, 5);
  }
  run(now_ns + 60000 * VV_MS);
  vv_ns begin_ns = now_ns;
  give(part_of, 5);
  run(now_ns + 60000 * VV_MS);
  assert_true(ranks[part_to].done_ns < begin_ns + 50 * VV_MS);
  assert_all_exchanged(5);
}

static void test_the_next_round_tells_of_what_was_lost_in_the_last(void **state) {
  (void)state;
  loses = loses_part;
  part_of = 3, part_to = 1;
  give_all(6);
  settle();
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != part_to) {
      assert_exchanged(i, 6);
      give(i, 7);
    }
  }
  vv_ns begin_ns = now_ns;
  run(now_ns + VV_MS); /* a quarter of a round trip, and no 4 ms */
  assert_true(ranks[part_to].done_ns <= begin_ns + VV_MS);
  assert_exchanged(part_to, 6);
  give(part_to, 7);
  run(now_ns + 50 * VV_MS);
  assert_all_exchanged(7);
}

static void test_a_sleeper_stops_a_round_and_loses_nothing(void **state) {
  (void)state;
  ranks[3].asleep = true;
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != 3) give(i, 8);
  }
  run(now_ns + 60000 * VV_MS);
  assert_int_equal(ranks[3].inboxes[VV_RANK_SOCKET_DATA].count, RANKS - 1);
  assert_true(ranks[3].inboxes[VV_RANK_SOCKET_CONTROL].count < 60);
  ranks[3].asleep = false;
  give(3, 8);
  run(now_ns + 50 * VV_MS);
  assert_all_exchanged(8);
  assert_int_equal(asked_or_deaf(), 0);
}

/* Messages use the credit up; then all at once tell each other where they are, and the round goes on. */
static void test_a_round_waits_for_credit(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 4 * WINDOW; n++) {
    for (uint32_t k = 0; k < n % WINDOW; k++) {
      start_all(0, 5);
      settle();
      assert_delivered(5);
    }
    give_all((uint8_t)n);
    run(now_ns + 3 * VV_MS);
    assert_all_exchanged((uint8_t)n);
  }
}

static void test_parts_of_unequal_sizes_are_named(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) {
    give(i, 9);
    if (i == 2) parts[2][4].bytes--;
  }
  run(now_ns + 100 * VV_MS);
  assert_failed(2, VV_GPDU_UNEQUAL_SIZE);
}

/* Whoever it is, root or not, and whoever comes first. */
static void test_a_message_where_others_make_a_round_is_an_error(void **state) {
  (void)state;
  for (uint32_t odd = 0; odd < RANKS; odd++) {
    for (uint32_t root = 0; root < RANKS; root++) {
      for (uint32_t early = 0; early <= 1; early++) {
        tear_down(state), set_up(state);
        if (early) start(odd, root, 10, true);
        for (uint32_t i = 0; i < RANKS; i++) {
          if (i != odd) give(i, 1);
        }
        settle();
        if (!early) start(odd, root, 10, true);
        run(now_ns + 1000 * VV_MS);
        for (uint32_t i = 0; i < RANKS; i++) {
          assert_true(ranks[i].told[VV_RANK_FAILED] >= 1);
          assert_int_equal(ranks[i].last.failure.why, VV_GPDU_UNEQUAL_ROOT);
        }
      }
    }
  }
}

static void test_a_death_in_a_round_is_named(void **state) {
  (void)state;
  ranks[1].asleep = true;
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != 1) give(i, 1);
  }
  run(50 * VV_MS);
  vv_rank_lost(&ranks[2].group, now_ns, 1, VV_GPDU_DIED);
  run(now_ns + 50 * VV_MS);
  assert_failed(1, VV_GPDU_DIED);
}

static bool loses_all_but_answers(const struct vv_rank_datagram *datagram, uint32_t to) {
  return to == 4 && datagram->way != VV_RANK_TO_RANK;
}

static void test_a_deaf_rank_gets_every_part_and_says_so(void **state) {
  (void)state;
  loses = loses_all_but_answers;
  for (uint32_t n = 0; n < 20; n++) {
    give_all((uint8_t)n);
    run(now_ns + 1000 * VV_MS);
    assert_all_exchanged((uint8_t)n);
  }
  assert_int_equal(ranks[4].told[VV_RANK_DEAFENED], 1);
}

static void test_who_can_make_rounds(void **state) {
  (void)state;
  assert_true(vv_round_possible(2, 4) && vv_round_possible(32, 64));
  assert_false(vv_round_possible(1, 64) || vv_round_possible(33, 1000) || vv_round_possible(8, 15));
  assert_int_equal(vv_round_part_bytes(1472), 1446);
}

static uint32_t victim_number, multicasts;

static bool loses_one(const struct vv_rank_datagram *datagram, uint32_t to) {
  if (datagram->way != VV_RANK_TO_DATA) return false;
  if (to == 0) multicasts++; /* the root is rank 4: each datagram passes here once, first */
  return multicasts == victim_number;
}

static void test_each_datagram_lost_in_turn_comes_within_50_ms(void **state) {
  (void)state;
  loses = loses_one;
  ranks[2].stream = ranks[3].stream = true;
  for (uint64_t size = 1; size <= 3000; size += 1499) {
    for (victim_number = 1; victim_number <= vv_cut_count(size, BODY); victim_number++) {
      multicasts = 0;
      vv_ns begin_ns = now_ns;
      start_all(4, size);
      run(now_ns + 100 * VV_MS); /* and the root's application computes */
      for (uint32_t i = 0; i < RANKS; i++) assert_true(ranks[i].done_ns < begin_ns + 50 * VV_MS);
      assert_delivered(size);
    }
  }
}

static void test_what_is_late_and_not_lost_is_not_sent_again(void **state) {
  (void)state;
  for (uint64_t size = 1; size <= 3000; size += 2999) {
    queued = true;
    start_all(RANKS - 1, size);
    run(now_ns + 100 * VV_MS); /* all ask, more than once */
    for (uint32_t i = 0; i < RANKS - 1; i++) assert_true(ranks[i].group.counts.asks > 1);
    queued = false;
    run(now_ns + VV_MS);
    assert_delivered(size);
    for (uint32_t i = 0; i < RANKS; i++) {
      assert_true(ranks[i].group.counts.repairs_one + ranks[i].group.counts.repairs_all == 0);
    }
  }
}

/* Its engine has heard of it by CONTROL, again and again; its application reads one datagram after the other. */
static void test_what_lies_in_the_socket_is_not_asked_for(void **state) {
  (void)state;
  struct rank *late = &ranks[3];
  for (uint32_t root = 0; root < 3; root++) {
    for (uint32_t i = 0; i < RANKS; i++) {
      if (i != 3) start(i, root, MESSAGE, true);
    }
    late->reads = 0;
    run(now_ns + 500 * VV_MS);
    assert_int_equal(late->inboxes[VV_RANK_SOCKET_DATA].count, WINDOW);
    assert_int_equal(late->group.sight.edge, late->group.consumed + WINDOW);
    start(3, root, MESSAGE, true);
    run(now_ns + 500 * VV_MS); /* it is descheduled, and asks nothing by name */
    late->reads = 1;
    run(now_ns + 500 * VV_MS);
    for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], root + 1);
    assert_int_equal(asked_or_deaf(), 0);
  }
}

static bool loses_rest(const struct vv_rank_datagram *datagram, uint32_t to) {
  return to == 3 && datagram->way == VV_RANK_TO_DATA && multicasts++ >= victim_number;
}

/* But the rest of a message, of which others tell, is asked for as soon as the socket is known to be empty. */
static void test_what_is_known_to_be_sent_and_does_not_lie_there_is_asked_for(void **state) {
  (void)state;
  loses = loses_rest;
  for (victim_number = 0; victim_number < 3; victim_number++) {
    multicasts = 0;
    start_all(0, 400);
    run(now_ns + 20 * VV_MS);
    assert_delivered(400);
  }
  assert_int_equal(ranks[3].told[VV_RANK_DEAFENED], 0); /* others came after these */
}

static void test_a_sleeper_stops_the_root_and_loses_nothing(void **state) {
  (void)state;
  ranks[2].stream = true;
  ranks[3].asleep = true;
  start_all(1, MESSAGE);
  run(2000 * VV_MS);
  assert_int_equal(ranks[3].inboxes[VV_RANK_SOCKET_DATA].count, WINDOW);
  assert_true(ranks[3].inboxes[VV_RANK_SOCKET_CONTROL].count < 20);
  assert_true(ranks[1].told[VV_RANK_LATE] == 1 && ranks[1].last.rank == 3 && ranks[1].told[VV_RANK_DONE] == 0);
  ranks[3].asleep = false;
  run(now_ns + 100 * VV_MS);
  assert_delivered(MESSAGE);
}

static void test_a_message_may_go_on_in_another_buffer(void **state) {
  static uint8_t elsewhere[MESSAGE];
  (void)state;
  for (uint32_t i = 1; i <= 2; i++) { /* who knows the size and who does not: before anything came, and in the middle */
    ranks[4].asleep = true;
    start_all(0, 10000);
    vv_rank_redirect(&ranks[i].group, now_ns, elsewhere, i == 2 ? 10000 : MESSAGE);
    run(now_ns + VV_MS);
    assert_true(ranks[i].group.consumed > ranks[i].group.current.first);
    vv_rank_redirect(&ranks[i].group, now_ns, ranks[i].message, MESSAGE);
    memset(elsewhere, 0xff, sizeof elsewhere);
    ranks[4].asleep = false;
    run(now_ns + 100 * VV_MS);
    assert_delivered(10000);
  }
}

static void test_a_message_that_does_not_fit_elsewhere_is_an_error(void **state) {
  (void)state;
  ranks[4].asleep = true;
  start_all(0, 10000);
  run(now_ns + VV_MS);
  vv_rank_redirect(&ranks[1].group, now_ns, ranks[1].message, 9999);
  ranks[4].asleep = false;
  run(now_ns + 100 * VV_MS);
  assert_failed(1, VV_GPDU_UNEQUAL_SIZE);
}

static void test_many_roots_do_not_overrun_a_sleeper(void **state) {
  (void)state;
  ranks[0].asleep = true;
  for (uint32_t n = 0; n < WINDOW; n++) {
    for (uint32_t i = 1; i < RANKS; i++) start(i, 1 + n % (RANKS - 1), 5, true);
    run(now_ns + VV_MS);
    for (uint32_t i = 1; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], n + 1);
  }
  for (uint32_t i = 1; i < RANKS; i++) start(i, 1, 5, true);
  run(now_ns + 500 * VV_MS);
  assert_int_equal(ranks[1].told[VV_RANK_DONE], WINDOW); /* the next must wait */
  assert_int_equal(ranks[0].inboxes[VV_RANK_SOCKET_DATA].count, WINDOW);
  ranks[0].asleep = false;
  for (uint32_t n = 0; n <= WINDOW; n++) {
    start(0, n == WINDOW ? 1 : 1 + n % (RANKS - 1), 5, true);
    run(now_ns + 50 * VV_MS);
  }
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_DONE], WINDOW + 1);
}

static void test_unequal_sizes_are_named(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) start(i, 0, i == 2 ? 11 : 10, true);
  run(100 * VV_MS);
  assert_failed(2, VV_GPDU_UNEQUAL_SIZE);
}

/* What is one datagram long is over before anybody can know: then the next operation says it. */
static void test_two_roots_are_found(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) start(i, i == 2 ? 2 : 0, 10, true);
  settle();
  start_all(0, 10);
  run(100 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].last.failure.why, VV_GPDU_UNEQUAL_ROOT);
}

static void test_no_root_is_found(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) start(i, i == 0 ? 1 : 0, 10, true);
  run(10000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].last.failure.why, VV_GPDU_UNEQUAL_ROOT);
}

static void test_a_death_is_named_to_all_now_and_later(void **state) {
  (void)state;
  ranks[1].asleep = true;
  start_all(1, 50);
  run(50 * VV_MS);
  vv_rank_lost(&ranks[2].group, now_ns, 1, VV_GPDU_DIED);
  run(now_ns + 50 * VV_MS);
  assert_failed(1, VV_GPDU_DIED);
  start(4, 0, 5, true);
  settle();
  assert_int_equal(ranks[4].told[VV_RANK_FAILED], 2);
}

static void test_a_deaf_rank_learns_of_a_death_by_asking(void **state) {
  (void)state;
  loses = loses_all_but_answers;
  ranks[1].asleep = true;
  start_all(1, 50);
  run(20 * VV_MS);
  vv_rank_lost(&ranks[2].group, now_ns, 1, VV_GPDU_DIED);
  run(now_ns + 60000 * VV_MS);
  assert_failed(1, VV_GPDU_DIED);
}

static void test_a_deaf_rank_gets_everything_and_says_so(void **state) {
  (void)state;
  loses = loses_all_but_answers;
  start_all(0, MESSAGE);
  run(100 * VV_MS);
  assert_int_equal(ranks[4].told[VV_RANK_DEAFENED], 1);
  run(30000 * VV_MS);
  assert_delivered(MESSAGE);
  assert_int_equal(ranks[4].told[VV_RANK_DEAFENED], 1);
  loses = NULL;
  for (uint32_t heard = 1; heard <= VV_GAP_HEARS; heard++) {
    start_all(0, 10);
    settle();
    assert_delivered(10);
    assert_int_equal(ranks[4].told[VV_RANK_HEARING], heard == VV_GAP_HEARS);
  }
}

static void test_closing_waits_for_the_last(void **state) {
  (void)state;
  start_all(0, 10);
  settle();
  for (uint32_t i = 0; i < RANKS; i++) {
    if (i != 3) vv_rank_close(&ranks[i].group, now_ns);
  }
  ranks[3].asleep = true;
  run(1000 * VV_MS);
  assert_int_equal(ranks[0].told[VV_RANK_CLOSED], 0);
  ranks[3].asleep = false;
  vv_rank_close(&ranks[3].group, now_ns);
  run(now_ns + 20000 * VV_MS);
  for (uint32_t i = 0; i < RANKS; i++) assert_int_equal(ranks[i].told[VV_RANK_CLOSED], 1);
}

static void test_who_leaves_has_seen_all_of_it(void **state) {
  (void)state;
  start_all(0, 10);
  settle();
  vv_rank_close(&ranks[1].group, now_ns);
  vv_rank_lost(&ranks[1].group, now_ns, 0, VV_GPDU_LEFT);
  settle();
  assert_int_equal(ranks[1].told[VV_RANK_CLOSED], 1);
  vv_rank_lost(&ranks[2].group, now_ns, 0, VV_GPDU_LEFT);
  start(2, 0, 10, true); /* but rank 0 has left */
  settle();
  assert_int_equal(ranks[2].last.failure.why, VV_GPDU_LEFT);
}

/* All positions this far on, as after weeks. */
static void move_on(uint64_t position) {
  for (uint32_t i = 0; i < RANKS; i++) {
    struct vv_rank *group = &ranks[i].group;
    group->consumed = group->sight.edge = group->sight.passed = group->published = group->credit.horizon =
        group->credit.reported = position;
    for (uint32_t j = 0; j < RANKS; j++) group->credit.lines[j].consumed = position;
  }
}

static void test_positions_pass_32_bits(void **state) {
  (void)state;
  move_on((UINT64_C(1) << 32) - 22);
  give_all(1);
  settle();
  assert_all_exchanged(1);
  give_all(2);
  settle();
  assert_all_exchanged(2);
  loses = loses_one;
  victim_number = 19;
  multicasts = 0;
  start_all(4, 5000);
  run(1000 * VV_MS);
  assert_delivered(5000);
}

static void test_strangers_change_nothing(void **state) {
  (void)state;
  struct vv_rank before = ranks[0].group;
  uint8_t noise[DATAGRAM] = {VV_GPDU_HEAD, 0, 0, 9};
  for (size_t count = 0; count <= DATAGRAM; count++) {
    vv_rank_take(&ranks[0].group, 0, VV_RANK_SOCKET_DATA, noise, count);
    vv_rank_take(&ranks[0].group, 0, VV_RANK_SOCKET_CONTROL, noise, count);
  }
  assert_true(ranks[0].group.counts.foreign == 2 * (DATAGRAM + 1));
  ranks[0].group.counts.foreign = 0;
  assert_memory_equal(&ranks[0].group, &before, sizeof before);
}

/* A peer that has gone mad: a HEAD of no rank of this group names nobody, and ends nothing. */
static void test_a_root_that_is_no_rank_is_foreign(void **state) {
  (void)state;
  static const uint8_t zeros[10];
  struct vv_gpdu head = {.kind = VV_GPDU_HEAD, .rank = 60000, .size_bytes = 10, .data = zeros, .data_bytes = 10};
  uint8_t bytes[DATAGRAM] = {0};
  start_all(0, 10);
  size_t count = vv_gpdu_emit(&ranks[0].group.keys, 9, &head, bytes) + 10;
  for (uint32_t i = 0; i < RANKS; i++) {
    vv_rank_take(&ranks[i].group, now_ns, VV_RANK_SOCKET_DATA, bytes, count);
    assert_int_equal(ranks[i].group.counts.foreign, 1);
  }
  settle();
  assert_delivered(10);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_a_small_message_is_one_datagram_and_no_answer),
      CASE(test_every_size),
      CASE(test_a_group_of_one),
      CASE(test_each_datagram_lost_in_turn_comes_within_50_ms),
      CASE(test_what_is_late_and_not_lost_is_not_sent_again),
      CASE(test_what_lies_in_the_socket_is_not_asked_for),
      CASE(test_what_is_known_to_be_sent_and_does_not_lie_there_is_asked_for),
      CASE(test_a_round_is_a_datagram_of_each_and_nothing_else),
      CASE(test_rounds_and_messages_follow_each_other),
      CASE(test_a_group_ends_after_a_round),
      CASE(test_what_a_late_rank_has_not_sent_is_not_sent_twice),
      CASE(test_each_part_lost_in_turn_comes_within_50_ms),
      CASE(test_what_a_very_late_rank_sends_and_is_lost_comes_soon),
      CASE(test_the_next_round_tells_of_what_was_lost_in_the_last),
      CASE(test_a_sleeper_stops_a_round_and_loses_nothing),
      CASE(test_a_round_waits_for_credit),
      CASE(test_parts_of_unequal_sizes_are_named),
      CASE(test_a_message_where_others_make_a_round_is_an_error),
      CASE(test_a_death_in_a_round_is_named),
      CASE(test_a_deaf_rank_gets_every_part_and_says_so),
      CASE(test_who_can_make_rounds),
      CASE(test_a_sleeper_stops_the_root_and_loses_nothing),
      CASE(test_a_message_may_go_on_in_another_buffer),
      CASE(test_a_message_that_does_not_fit_elsewhere_is_an_error),
      CASE(test_many_roots_do_not_overrun_a_sleeper),
      CASE(test_unequal_sizes_are_named),
      CASE(test_two_roots_are_found),
      CASE(test_no_root_is_found),
      CASE(test_a_death_is_named_to_all_now_and_later),
      CASE(test_a_deaf_rank_learns_of_a_death_by_asking),
      CASE(test_a_deaf_rank_gets_everything_and_says_so),
      CASE(test_closing_waits_for_the_last),
      CASE(test_who_leaves_has_seen_all_of_it),
      CASE(test_positions_pass_32_bits),
      CASE(test_strangers_change_nothing),
      CASE(test_a_root_that_is_no_rank_is_foreign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
