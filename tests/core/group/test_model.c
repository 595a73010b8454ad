/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every run of a small group, one by one: three ranks, two operations (three datagrams
 * from rank 0 and one from rank 1 with a window of two; or a round, and a round or a
 * message behind or before it, with a window of six), at most one loss, one repetition,
 * one timer that is too quick, and one crash, in every order in which datagrams can
 * arrive on channels that keep theirs.
 *
 * It is the code of the core itself that runs, not a description of it. In every
 * state: no DATA socket holds more than the window (and the repetition), nothing is
 * delivered but what was sent, in order, once. On every path: after so many
 * time-outs everybody has left in order, or knows who died.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/heap.h"
#include "core/group/rank.h"

enum { RANKS = 3, DATAGRAM = 128, QUEUE = 6, MEMORY = 4096, MESSAGE = 256, DEPTH_MAX = 1000 };
enum { TIMEOUTS_MAX = 100, STATES_ROOM = 1 << 23, OPERATIONS = 2 };
struct act {
  uint32_t root;
  uint32_t size_bytes; /* of a round that of all parts */
  bool round;
};
struct script {
  uint32_t window;
  struct act acts[OPERATIONS];
};
static const struct script messages = {2, {{0, 250, false}, {1, 10, false}}};
static const struct script two_rounds = {6, {{0, 9, true}, {0, 9, true}}};
static const struct script round_first = {6, {{0, 9, true}, {1, 10, false}}};
static const struct script round_last = {6, {{2, 10, false}, {0, 9, true}}};
static const struct script *script;
enum { PART_BYTES = 3 };

struct packet {
  uint8_t count;
  uint8_t bytes[DATAGRAM];
};

struct queue {
  struct packet packets[QUEUE];
  uint32_t count;
};

enum phase { INSIDE, CLOSING, CLOSED, FAILED, DEAD };

struct world {
  struct vv_rank groups[RANKS];
  _Alignas(16) uint8_t memory[RANKS][MEMORY];
  uint8_t messages[RANKS][MESSAGE];
  struct queue queues[2][RANKS][RANKS]; /* DATA, CONTROL; from; to */
  enum phase phases[RANKS];
  uint32_t done[RANKS];
  uint32_t losses, repetitions, hurries, crashes; /* that may still happen */
  uint32_t victim;
  uint32_t
      extra; /* datagrams that may be in a DATA socket though they are not needed: repeated, or repaired too soon */
  uint32_t timeouts;
  vv_ns now_ns;
};

/* Of rounds: where each rank has the parts. */
static struct vv_rank_part parts[RANKS][RANKS];

/* One world at one address, for its parts point at each other; states on the way are copies of it. */
static struct world world;
static struct world *states;
static uint64_t *seen;
static uint64_t seen_count, ends;

static const char *broken;

static uint8_t byte_of(uint32_t operation, uint32_t i) {
  return (uint8_t)(operation * 101 + i * 7 + 1);
}

static void put(enum vv_rank_socket socket, uint32_t from, uint32_t to, const struct vv_rank_datagram *datagram) {
  struct queue *queue = &world.queues[socket][from][to];
  if (world.phases[to] >= CLOSED && world.phases[to] != FAILED) return;
  if (queue->count == QUEUE) {
    broken = "more datagrams under way than anybody should have sent";
    return;
  }
  struct packet *packet = &queue->packets[queue->count++];
  packet->count = (uint8_t)(datagram->header_bytes + datagram->payload_bytes);
  memcpy(packet->bytes, datagram->header, datagram->header_bytes);
  if (datagram->payload_bytes > 0) {
    memcpy(packet->bytes + datagram->header_bytes, datagram->payload, datagram->payload_bytes);
  }
}

static void send(uint32_t from, const struct vv_rank_datagram *datagram) {
  enum vv_rank_socket socket = datagram->way == VV_RANK_TO_DATA ? VV_RANK_SOCKET_DATA : VV_RANK_SOCKET_CONTROL;
  for (uint32_t to = 0; to < RANKS; to++) {
    bool addressed = datagram->way != VV_RANK_TO_RANK || datagram->rank == to;
    if (to != from && addressed) put(socket, from, to, datagram);
  }
}

static void start(uint32_t rank) {
  uint32_t n = world.done[rank];
  if (n == OPERATIONS) {
    world.phases[rank] = CLOSING;
    vv_rank_close(&world.groups[rank], world.now_ns);
    return;
  }
  const struct act *act = &script->acts[n];
  struct vv_rank_operation operation = {act->root, world.messages[rank], MESSAGE, false, (uint8_t)n, false, NULL};
  if (act->round) {
    operation = (struct vv_rank_operation){.parts = parts[rank]};
    for (uint32_t i = 0; i < PART_BYTES; i++) parts[rank][rank].buffer[i] = byte_of(n, rank * PART_BYTES + i);
  } else if (act->root == rank) {
    operation.size_bytes = act->size_bytes;
    for (uint32_t i = 0; i < act->size_bytes; i++) world.messages[rank][i] = byte_of(n, i);
  }
  world.phases[rank] = INSIDE;
  vv_rank_start(&world.groups[rank], world.now_ns, &operation);
}

static void done(uint32_t rank, const struct vv_rank_event *event) {
  uint32_t n = world.done[rank]++;
  const struct act *act = &script->acts[n];
  bool right = world.phases[rank] == INSIDE && event->size_bytes == act->size_bytes;
  if (!act->round) right = right && event->representation == n;
  for (uint32_t i = 0; right && i < act->size_bytes; i++) right = world.messages[rank][i] == byte_of(n, i);
  if (!right) broken = "a wrong message was delivered";
  memset(world.messages[rank], 0, MESSAGE);
  start(rank);
}

static void hear(uint32_t rank, const struct vv_rank_event *event) {
  switch (event->kind) {
  case VV_RANK_DONE:
    done(rank, event);
    break;
  case VV_RANK_CLOSED:
    world.phases[rank] = CLOSED;
    break;
  case VV_RANK_FAILED:
    world.phases[rank] = FAILED;
    if (event->failure.rank != world.victim || event->failure.why != VV_GPDU_DIED) broken = "a wrong failure";
    break;
  default:
    break;
  }
}

/* Bytes between the members of a structure may be any: they are made 0, member by member in a structure of zeros. */
static void wipe_gaps(struct vv_rank *group) {
  for (uint32_t i = 0; i < group->store.room; i++) {
    struct vv_store_slot *slot = &group->store.slots[i], old = *slot;
    memset(slot, 0, sizeof *slot);
    slot->position = old.position, slot->bytes = old.bytes, slot->state = old.state;
    slot->kind = old.kind, slot->own = old.own;
  }
  for (uint32_t i = 0; i < RANKS; i++) {
    struct vv_credit_line *line = &group->credit.lines[i], old = *line;
    memset(line, 0, sizeof *line);
    line->consumed = old.consumed, line->slowest = old.slowest;
  }
  for (uint32_t i = 0; i < group->repair.debts_room; i++) {
    struct vv_repair_debt *debt = &group->repair.debts[i], old = *debt;
    memset(debt, 0, sizeof *debt);
    debt->position = old.position, debt->asked_ns = old.asked_ns, debt->rank = old.rank;
    debt->own = old.own, debt->deaf = old.deaf;
  }
  struct vv_rank_current *current = &group->current, old = *current;
  memset(current, 0, sizeof *current);
  current->busy = old.busy, current->laid_out = old.laid_out, current->given = old.given;
  current->operation.parts = old.operation.parts, current->number = old.number;
  current->first = old.first, current->end = old.end, current->size_bytes = old.size_bytes;
  current->representation = old.representation;
  current->operation.root = old.operation.root, current->operation.buffer = old.operation.buffer;
  current->operation.size_bytes = old.operation.size_bytes, current->operation.size_known = old.operation.size_known;
  current->operation.representation = old.operation.representation;
}

/* What a driver does; then what two equal states differ in without meaning is wiped. */
static void drive(uint32_t rank) {
  struct vv_rank *group = &world.groups[rank];
  struct vv_rank_datagram datagram;
  struct vv_rank_event event;
  bool more = true;
  while (more && broken == NULL) {
    more = false;
    if (vv_rank_wants_data(group)) vv_rank_dry(group, world.now_ns); /* what is under way is so in the network */
    while (vv_rank_next(group, world.now_ns, &datagram)) send(rank, &datagram);
    for (; vv_rank_event(group, &event); more = true) hear(rank, &event);
  }
  if (group->counts.beyond > 0) broken = "a datagram beyond the window";
  memset(&group->counts, 0, sizeof group->counts);
  memset(&group->outbox, 0, sizeof group->outbox);
  wipe_gaps(group);
  if (world.phases[rank] != CLOSED) return;
  for (uint32_t other = 0; other < RANKS; other++) {
    for (int socket = 0; socket < 2; socket++) world.queues[socket][other][rank].count = 0;
  }
}

static void pop(struct queue *queue) {
  queue->count--;
  memmove(queue->packets, queue->packets + 1, queue->count * sizeof *queue->packets);
  memset(&queue->packets[queue->count], 0, sizeof *queue->packets);
}

static bool lives(uint32_t rank) {
  return world.phases[rank] != CLOSED && world.phases[rank] != DEAD;
}

static bool can_deliver(int socket, uint32_t from, uint32_t to) {
  if (world.queues[socket][from][to].count == 0 || !lives(to)) return false;
  return socket == VV_RANK_SOCKET_CONTROL || vv_rank_wants_data(&world.groups[to]);
}

/* Ranks that have left in order tell the others, whose kernels say so. */
static void tell_ends(void) {
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    for (uint32_t other = 0; world.phases[rank] == CLOSED && other < RANKS; other++) {
      if (!lives(other) || world.groups[other].left) continue;
      vv_rank_lost(&world.groups[other], world.now_ns, rank, VV_GPDU_LEFT);
      drive(other);
    }
  }
}

static void check_sockets(void) {
  for (uint32_t to = 0; to < RANKS; to++) {
    uint32_t count = 0;
    for (uint32_t from = 0; from < RANKS; from++) count += world.queues[VV_RANK_SOCKET_DATA][from][to].count;
    if (count > script->window + world.extra) broken = "a DATA socket holds more than its credit";
  }
}

static uint64_t next_timeout(void) {
  vv_ns next_ns = VV_NEVER;
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    vv_ns ns = lives(rank) ? vv_rank_deadline_ns(&world.groups[rank]) : VV_NEVER;
    if (ns < next_ns) next_ns = ns;
  }
  return next_ns;
}

static void time_out(void) {
  vv_ns next_ns = next_timeout();
  world.timeouts++;
  if (next_ns == VV_NEVER || world.timeouts > TIMEOUTS_MAX) {
    broken = "it does not end";
    return;
  }
  if (next_ns > world.now_ns) world.now_ns = next_ns;
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    if (lives(rank) && vv_rank_deadline_ns(&world.groups[rank]) <= world.now_ns) drive(rank);
  }
}

static void crash(uint32_t rank) {
  uint32_t told = (rank + 1) % RANKS;
  world.crashes--;
  world.victim = rank;
  world.phases[rank] = DEAD;
  if (!lives(told)) told = (rank + 2) % RANKS;
  if (!lives(told)) return;
  vv_rank_lost(&world.groups[told], world.now_ns, rank, VV_GPDU_DIED);
  drive(told);
}

static bool over(void) {
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    if (world.phases[rank] <= CLOSING) return false;
  }
  return true;
}

static uint64_t mix(uint64_t hash, const void *start, size_t count) {
  const uint8_t *bytes = start;
  uint64_t word = 0;
  for (size_t i = 0; i < count; i += 8) {
    memcpy(&word, bytes + i, count - i < 8 ? count - i : 8);
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    hash ^= hash >> 29;
  }
  return hash;
}

/* Of all of the world but what is empty anyway: the outboxes, the rest of the queues. */
static uint64_t hash_of_world(void) {
  uint64_t hash = 1;
  size_t before = offsetof(struct vv_rank, outbox), behind = before + sizeof(struct vv_outbox);
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    const char *group = (const char *)&world.groups[rank];
    hash = mix(mix(hash, group, before), group + behind, sizeof(struct vv_rank) - behind);
  }
  hash = mix(hash, world.memory, sizeof world.memory);
  hash = mix(hash, world.messages, sizeof world.messages);
  for (int i = 0; i < 2 * RANKS * RANKS; i++) {
    const struct queue *queue = &world.queues[0][0][0] + i;
    hash = mix(hash ^ queue->count, queue->packets, queue->count * sizeof *queue->packets);
  }
  return mix(hash, world.phases, sizeof world - offsetof(struct world, phases)) | 1;
}

/* True the first time that the world is in this state. */
static bool is_new(void) {
  uint64_t hash = hash_of_world();
  for (uint64_t at = hash >> 1;; at++) {
    uint64_t *slot = &seen[at % STATES_ROOM];
    if (*slot == hash) return false;
    if (*slot != 0) continue;
    *slot = hash;
    seen_count++;
    assert_true(seen_count < STATES_ROOM / 2);
    return true;
  }
}

static void explore(uint32_t depth);

/* Goes on from the present state, after a step was taken, and comes back to the state before it. */
static void go(uint32_t depth) {
  tell_ends();
  check_sockets();
  if (broken == NULL && is_new()) explore(depth + 1);
  if (broken == NULL) world = states[depth];
}

enum what { DELIVER, LOSE, REPEAT };

static void step(uint32_t depth, enum what what, int socket, uint32_t from, uint32_t to) {
  struct queue *queue = &world.queues[socket][from][to];
  struct packet packet = queue->packets[0];
  bool data = socket == VV_RANK_SOCKET_DATA;
  if (what == REPEAT) {
    world.repetitions--;
    world.extra += data;
    if (queue->count < QUEUE) queue->packets[queue->count++] = packet;
  } else {
    pop(queue);
  }
  if (what == LOSE) {
    world.losses--;
  } else if (what == DELIVER) {
    vv_rank_take(&world.groups[to], world.now_ns, (enum vv_rank_socket)socket, packet.bytes, packet.count);
    drive(to);
  }
  go(depth);
}

static bool explore_channel(uint32_t depth, int socket, uint32_t from, uint32_t to) {
  bool deliverable = can_deliver(socket, from, to);
  if (deliverable) step(depth, DELIVER, socket, from, to);
  if (world.queues[socket][from][to].count == 0 || !lives(to)) return deliverable;
  if (broken == NULL && world.losses > 0) step(depth, LOSE, socket, from, to);
  if (broken == NULL && world.repetitions > 0) step(depth, REPEAT, socket, from, to);
  return deliverable;
}

static void explore(uint32_t depth) {
  assert_true(depth < DEPTH_MAX);
  if (over()) {
    ends++;
    return;
  }
  bool moving = false;
  states[depth] = world;
  for (int channel = 0; channel < 2 * RANKS * RANKS && broken == NULL; channel++) {
    uint32_t from = (uint32_t)channel / 2 / RANKS, to = (uint32_t)channel / 2 % RANKS;
    moving |= explore_channel(depth, channel % 2, from, to);
  }
  for (uint32_t rank = 0; rank < RANKS && world.crashes > 0 && broken == NULL; rank++) {
    if (!lives(rank)) continue;
    crash(rank);
    go(depth);
  }
  if (broken != NULL || (moving && world.hurries == 0)) return;
  if (moving) {
    world.hurries--;
    world.extra++;
  }
  time_out();
  go(depth);
}

static void begin(const struct script *played, uint32_t losses, uint32_t repetitions, uint32_t hurries,
                  uint32_t crashes) {
  script = played;
  memset(&world, 0, sizeof world);
  memset(seen, 0, STATES_ROOM * sizeof *seen);
  seen_count = ends = 0;
  broken = NULL;
  world.losses = losses;
  world.repetitions = repetitions;
  world.hurries = hurries;
  world.crashes = crashes;
  world.victim = UINT32_MAX;
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    struct vv_rank_config config = {
        .ranks = RANKS, .rank = rank, .datagram_bytes = DATAGRAM, .window_datagrams = script->window, .rtt_ns = 1000};
    assert_true(vv_rank_bytes(&config) <= MEMORY);
    vv_rank_init(&world.groups[rank], world.memory[rank], &config);
    for (uint32_t i = 0; i < RANKS; i++) {
      parts[rank][i] = (struct vv_rank_part){world.messages[rank] + (size_t)i * PART_BYTES, PART_BYTES};
    }
  }
  for (uint32_t rank = 0; rank < RANKS; rank++) {
    start(rank);
    drive(rank);
  }
}

static void run(const struct script *played, uint32_t losses, uint32_t repetitions, uint32_t hurries,
                uint32_t crashes) {
  states = malloc(DEPTH_MAX * sizeof *states);
  seen = malloc(STATES_ROOM * sizeof *seen);
  assert_true(states != NULL && seen != NULL);
  begin(played, losses, repetitions, hurries, crashes);
  explore(0);
  printf("%u losses, %u repetitions, %u hurries, %u crashes: %llu states, %llu ends\n", losses, repetitions, hurries,
         crashes, (unsigned long long)seen_count, (unsigned long long)ends);
  if (broken != NULL) print_error("%s, after %u time-outs\n", broken, world.timeouts);
  assert_null(broken);
  assert_true(ends > 0);
  free(states);
  free(seen);
}

static void test_nothing_goes_wrong(void **state) {
  (void)state;
  run(&messages, 0, 0, 0, 0);
}

static void test_two_losses(void **state) {
  (void)state;
  run(&messages, 2, 0, 0, 0);
}

static void test_one_of_each(void **state) {
  (void)state;
  run(&messages, 1, 1, 0, 1);
}

static void test_one_loss_and_a_quick_timer(void **state) {
  (void)state;
  run(&messages, 1, 0, 1, 0);
}

static void test_rounds(void **state) {
  (void)state;
  const struct script *all[] = {&two_rounds, &round_first, &round_last};
  for (int i = 0; i < 3; i++) {
    run(all[i], 0, 0, 0, 0);
    run(all[i], 1, 0, 0, 0);
    run(all[i], 0, 0, 0, 1);
    run(all[i], 0, 1, 0, 0);
  }
}

static void test_a_round_and_two_losses(void **state) {
  (void)state;
  run(&two_rounds, 2, 0, 0, 0);
}

static void test_a_round_and_one_of_each(void **state) {
  (void)state;
  run(&round_first, 1, 1, 0, 1);
  run(&round_last, 1, 1, 0, 1);
  run(&round_first, 0, 0, 1, 0);
  run(&round_last, 0, 0, 1, 0);
}

/* With an argument: the walk that takes a minute. */
int main(int argc, char **argv) {
  (void)argv;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_goes_wrong),
      cmocka_unit_test(test_two_losses),
      cmocka_unit_test(test_one_of_each),
      cmocka_unit_test(test_rounds),
  };
  const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_one_loss_and_a_quick_timer),
                                          cmocka_unit_test(test_a_round_and_two_losses),
                                          cmocka_unit_test(test_a_round_and_one_of_each)};
  return argc > 1 ? cmocka_run_group_tests(long_tests, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
