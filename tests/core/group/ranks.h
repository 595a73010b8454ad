/* SPDX-License-Identifier: BSD-3-Clause */
/* A few ranks and a network without delay, driven as a driver does: what tests of a group's operations stand on. */
#ifndef VV_TEST_GROUP_RANKS_H
#define VV_TEST_GROUP_RANKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/heap.h"
#include "core/group/cut.h"
#include "core/group/rank.h"

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

static inline struct vv_rank_config config_of(uint32_t rank) {
  return (struct vv_rank_config){.ranks = RANKS,
                                 .rank = rank,
                                 .key = "sixteen bytes !",
                                 .stream = 9,
                                 .datagram_bytes = DATAGRAM,
                                 .window_datagrams = WINDOW,
                                 .rtt_ns = VV_MS};
}

static inline int set_up(void **state) {
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

static inline int tear_down(void **state) {
  (void)state;
  for (uint32_t i = 0; i < RANKS; i++) free(ranks[i].memory);
  free(ranks);
  return 0;
}

static inline void put(struct rank *to, enum vv_rank_socket socket, const struct vv_rank_datagram *datagram) {
  struct inbox *inbox = &to->inboxes[socket];
  assert_true(inbox->count < INBOX);
  memcpy(inbox->bytes[inbox->count], datagram->header, datagram->header_bytes);
  if (datagram->payload_bytes > 0) {
    memcpy(inbox->bytes[inbox->count] + datagram->header_bytes, datagram->payload, datagram->payload_bytes);
  }
  inbox->counts[inbox->count++] = datagram->header_bytes + datagram->payload_bytes;
}

static inline void send(uint32_t from, const struct vv_rank_datagram *datagram) {
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
static inline void read_stream(struct rank *rank) {
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

static inline bool take_one(struct rank *rank, enum vv_rank_socket socket) {
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

static inline bool drive(uint32_t i) {
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

static inline void settle(void) {
  bool moved = true;
  while (moved) {
    moved = false;
    for (uint32_t i = 0; i < RANKS; i++) moved |= drive(i);
  }
}

/* Lets time pass, from deadline to deadline. */
static inline void run(vv_ns until_ns) {
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

static inline void fill(uint8_t *message, uint64_t size_bytes, uint8_t seed) {
  for (uint64_t i = 0; i < size_bytes; i++) message[i] = (uint8_t)(seed + i * 13 + i / 256);
}

static inline void start(uint32_t i, uint32_t root, uint64_t size_bytes, bool known) {
  struct vv_rank_operation operation = {root, ranks[i].message, size_bytes, known, 7, ranks[i].stream && i != root,
                                        NULL};
  ranks[i].read = ranks[i].group.consumed;
  vv_rank_start(&ranks[i].group, now_ns, &operation);
  read_stream(&ranks[i]);
}

static inline void start_all(uint32_t root, uint64_t size_bytes) {
  for (uint32_t i = 0; i < RANKS; i++) {
    memset(ranks[i].message, 0, MESSAGE);
    if (i == root) fill(ranks[i].message, size_bytes, (uint8_t)size_bytes);
    bool known = i % 2 == 0 || i == root;
    start(i, root, known ? size_bytes : MESSAGE, known);
  }
}

static inline void assert_delivered(uint64_t size_bytes) {
  static uint8_t right[MESSAGE];
  fill(right, size_bytes, (uint8_t)size_bytes);
  for (uint32_t i = 0; i < RANKS; i++) {
    assert_true(ranks[i].told[VV_RANK_DONE] == 1 && ranks[i].told[VV_RANK_FAILED] == 0);
    assert_true(ranks[i].last.size_bytes == size_bytes && ranks[i].last.representation == 7);
    assert_memory_equal(ranks[i].message, right, size_bytes);
    ranks[i].told[VV_RANK_DONE] = 0;
  }
}

static inline void assert_failed(uint32_t about, enum vv_gpdu_why why) {
  for (uint32_t i = 0; i < RANKS; i++) {
    if (ranks[i].asleep) continue;
    assert_true(ranks[i].told[VV_RANK_FAILED] >= 1);
    assert_true(ranks[i].last.failure.rank == about && ranks[i].last.failure.why == why);
  }
}

static inline uint32_t asked_or_deaf(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < RANKS; i++) {
    const struct vv_rank_counts *counts = &ranks[i].group.counts;
    count += (uint32_t)(counts->repairs_one + counts->repairs_all + counts->repeated);
    count += ranks[i].told[VV_RANK_DEAFENED];
  }
  return count;
}

static inline bool loses_all_but_answers(const struct vv_rank_datagram *datagram, uint32_t to) {
  return to == 4 && datagram->way != VV_RANK_TO_RANK;
}

/* All positions this far on, as after weeks. */
static inline void move_on(uint64_t position) {
  for (uint32_t i = 0; i < RANKS; i++) {
    struct vv_rank *group = &ranks[i].group;
    group->consumed = group->sight.edge = group->sight.passed = group->published = group->credit.horizon =
        group->credit.reported = position;
    for (uint32_t j = 0; j < RANKS; j++) group->credit.lines[j].consumed = position;
  }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
