/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups made of a first one, and broadcasts that are begun: every byte, in whatever order, and every error by name. */
#include "vaiven/group.h"

#include <poll.h>
#include <sys/wait.h>

#include "ranks.h"

enum { BIG = 100000, SMALL = 100 };

static const uint32_t pairs[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static struct vv_group *opened(struct rank *rank) {
  struct vv_group_problem problem = {.text = ""};
  struct vv_group *group = vv_group_open(&rank->config, &problem);
  if (!CHECK(group != NULL)) fprintf(stderr, "%s\n", problem.text), exit(1);
  return group;
}

static struct vv_group *among(struct vv_group *group, const uint32_t *ranks, uint32_t count) {
  struct vv_group_problem problem = {.text = ""};
  struct vv_group *made = vv_group_among(group, ranks, count, &problem);
  if (!CHECK(made != NULL)) fprintf(stderr, "%s: %s\n", problem.code, problem.text), exit(1);
  return made;
}

enum { ANY_RANK = -2 };

/* That list comes to nothing, for that reason. */
static void fails(struct vv_group *group, const uint32_t *ranks, uint32_t count, const char *code, int64_t about) {
  struct vv_group_problem problem = {.code = "none"};
  CHECK(vv_group_among(group, ranks, count, &problem) == NULL);
  if (!CHECK(strcmp(problem.code, code) == 0 && (problem.rank == about || about == ANY_RANK) && problem.kind != 0)) {
    fprintf(stderr, "%s, rank %d: %s\n", problem.code, (int)problem.rank, problem.text);
  }
}

static void fill(uint8_t *bytes, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)((i * 40503u ^ seed * 2654435761u) >> 5);
}

static bool is_filled(const uint8_t *bytes, size_t count, uint32_t seed) {
  uint8_t right[BIG];
  fill(right, count, seed);
  return memcmp(bytes, right, count) == 0;
}

/* A broadcast of that group, of which this is rank `own`. */
static void cast(struct vv_group *group, uint32_t own, uint32_t root, size_t size, uint32_t seed) {
  uint8_t bytes[BIG] = {0};
  struct vv_group_problem problem = {.text = ""};
  if (own == root) fill(bytes, size, seed);
  if (!CHECK(vv_group_broadcast(group, root, bytes, size, &problem) == 0)) fprintf(stderr, "%s\n", problem.text);
  CHECK(is_filled(bytes, size, seed));
}

static int find(const uint32_t *ranks, uint32_t count, uint32_t rank) {
  for (uint32_t i = 0; i < count; i++) {
    if (ranks[i] == rank) return (int)i;
  }
  return -1;
}

/* Groups of some, in any order of their ranks, beside the first one. */
static void live_in_several(struct rank *rank) {
  static const uint32_t three[] = {3, 1, 2}, two[] = {1, 0}, all[] = {0, 1, 2, 3};
  struct vv_group *first = opened(rank), *of_three = NULL, *of_two = NULL;
  const int in_three = find(three, 3, rank->rank), in_two = find(two, 2, rank->rank);
  if (in_two >= 0) of_two = among(first, two, 2);
  if (in_three >= 0) of_three = among(first, three, 3);
  struct vv_group *again = among(first, all, 4);
  for (uint32_t i = 0; i < 12; i++) {
    const size_t size = i % 2 ? BIG : i;
    cast(first, rank->rank, i % 4, size, i);
    if (of_three) cast(of_three, (uint32_t)in_three, i % 3, size, 100 + i);
    if (of_two) cast(of_two, (uint32_t)in_two, i % 2, size, 200 + i);
    cast(again, rank->rank, (i + 1) % 4, size, 300 + i);
  }
  vv_group_leave(of_three);
  vv_group_leave(again);
  vv_group_leave(of_two);
  vv_group_leave(first);
}

static void test_groups_of_some_ranks_beside_the_first(void **state) {
  (void)state;
  let_live(live_in_several, TIMEOUT_MS);
}

/* A group of a group: its ranks are those of that one. */
static void live_in_a_group_of_a_group(struct rank *rank) {
  static const uint32_t outer[] = {3, 2, 1}, inner[] = {2, 0}, alone[] = {0};
  struct vv_group *first = opened(rank);
  if (rank->rank != 0) {
    struct vv_group *of_three = among(first, outer, 3);
    if (rank->rank != 2) {
      struct vv_group *of_two = among(of_three, inner, 2); /* ranks 1 and 3 of the first */
      cast(of_two, rank->rank == 1 ? 0 : 1, 0, SMALL, 5);
      cast(of_two, rank->rank == 1 ? 0 : 1, 1, BIG, 6);
      vv_group_leave(of_two);
    } else {
      fails(of_three, inner, 2, "bad-rank", -1);
    }
    cast(of_three, 3 - rank->rank, 0, BIG, 7);
    vv_group_leave(of_three);
  } else {
    struct vv_group *of_one = among(first, alone, 1);
    cast(of_one, 0, 0, SMALL, 8);
    vv_group_leave(of_one);
  }
  vv_group_leave(first);
}

static void test_a_group_of_a_group(void **state) {
  (void)state;
  let_live(live_in_a_group_of_a_group, TIMEOUT_MS);
}

/* The same group made and left many times, with and without a broadcast in it, none of which comes late to the next. */
static void live_again_and_again(struct rank *rank) {
  static const uint32_t three[] = {0, 1, 3};
  struct vv_group *first = opened(rank);
  const int own = find(three, 3, rank->rank);
  for (uint32_t i = 0; own >= 0 && i < 60; i++) {
    struct vv_group *group = among(first, three, 3);
    if (i % 3 > 0) cast(group, (uint32_t)own, i % 3, i % 2 ? BIG / 4 : SMALL, i);
    vv_group_leave(group);
  }
  cast(first, rank->rank, 2, SMALL, 9);
  vv_group_leave(first);
}

static void test_a_group_is_made_and_left_again_and_again(void **state) {
  (void)state;
  let_live(live_again_and_again, TIMEOUT_MS);
}

/* Begun in all pairs at once, several in each, and waited for in another order. */
static void live_with_many_under_way(struct rank *rank) {
  enum { EACH = 3 };
  static uint8_t bytes[RANKS][PAIRS][EACH][BIG];
  struct vv_group_operation *begun[PAIRS][EACH];
  struct vv_group *groups[PAIRS], *first = opened(rank);
  struct vv_group_problem problem;
  for (uint32_t i = 0; i < PAIRS; i++) {
    groups[i] = find(pairs[i], 2, rank->rank) >= 0 ? among(first, pairs[i], 2) : NULL;
  }
  for (uint32_t n = 0; n < EACH; n++) {
    for (uint32_t i = 0; i < PAIRS; i++) {
      const uint32_t root = n % 2, size = n == 1 ? BIG : SMALL;
      uint8_t *own = bytes[rank->rank][i][n];
      if (!groups[i]) continue;
      if (pairs[i][root] == rank->rank) fill(own, size, i * EACH + n);
      begun[i][n] = n == 2 && pairs[i][root] != rank->rank
                        ? vv_group_begin_receive(groups[i], root, own, BIG, &problem)
                        : vv_group_begin_broadcast(groups[i], root, own, size, &problem);
      CHECK(begun[i][n] != NULL);
    }
  }
  for (uint32_t n = EACH; n-- > 0;) {
    for (uint32_t i = PAIRS; i-- > 0;) {
      size_t size = 0;
      if (!groups[i]) continue;
      CHECK(vv_group_wait(begun[i][n], UINT32_MAX, &size, &problem) == 0);
      CHECK(size == (n == 1 ? BIG : SMALL) && is_filled(bytes[rank->rank][i][n], size, i * EACH + n));
    }
  }
  for (uint32_t i = 0; i < PAIRS; i++) vv_group_leave(groups[i]);
  vv_group_leave(first);
}

static void test_several_operations_on_several_groups(void **state) {
  (void)state;
  let_live(live_with_many_under_way, TIMEOUT_MS);
}

/* A message comes while nobody calls: the descriptor says so, and a test then finds it whole. */
static void live_by_the_descriptor(struct rank *rank) {
  uint8_t bytes[BIG];
  struct vv_group_problem problem;
  struct vv_group *group = opened(rank);
  for (uint32_t i = 0; i < 10; i++) {
    const uint32_t root = i % RANKS;
    struct pollfd one = {.fd = vv_group_descriptor(group, &problem), .events = POLLIN};
    CHECK(one.fd >= 0 && poll(&one, 1, 0) == 0);
    if (rank->rank == root) fill(bytes, BIG, i);
    if (rank->rank == root) meet_here(); /* the others have begun, and have nothing */
    struct vv_group_operation *begun = vv_group_begin_broadcast(group, root, bytes, BIG, &problem);
    if (rank->rank != root) {
      CHECK(vv_group_test(begun, NULL, &problem) == VV_GROUP_PENDING);
      CHECK(vv_group_wait(begun, 1, NULL, &problem) == VV_GROUP_PENDING);
      meet_here();
    }
    int ended = VV_GROUP_PENDING;
    while (ended == VV_GROUP_PENDING) {
      CHECK(poll(&one, 1, TIMEOUT_MS) == 1);
      ended = vv_group_test(begun, NULL, &problem);
    }
    CHECK(ended == 0 && is_filled(bytes, BIG, i) && poll(&one, 1, 0) == 0);
    meet_here();
  }
  vv_group_leave(group);
}

static void test_the_end_of_what_was_begun_is_told_by_the_descriptor(void **state) {
  (void)state;
  let_live(live_by_the_descriptor, TIMEOUT_MS);
}

/* Progress by turns alone, as in the loop of an MPI, and calls that wait between those that were begun. */
static void live_by_turns(struct rank *rank) {
  static uint8_t bytes[RANKS][BIG];
  struct vv_group_problem problem;
  struct vv_group *group = opened(rank);
  for (uint32_t i = 0; i < 10; i++) {
    const uint32_t root = i % RANKS;
    uint8_t *own = bytes[rank->rank];
    int ended = VV_GROUP_PENDING;
    if (rank->rank == root) fill(own, BIG, i);
    struct vv_group_operation *begun = vv_group_begin_broadcast(group, root, own, BIG, &problem);
    cast(group, rank->rank, (root + 1) % RANKS, SMALL, 50 + i); /* behind it */
    while (ended == VV_GROUP_PENDING) {
      vv_group_turn(group);
      ended = vv_group_test(begun, NULL, &problem);
    }
    CHECK(ended == 0 && is_filled(own, BIG, i));
  }
  vv_group_leave(group);
}

static void test_turns_and_calls_that_wait_go_together(void **state) {
  (void)state;
  let_live(live_by_turns, TIMEOUT_MS);
}

/* What all have to hear when groups cannot be made. */
static void live_in_error(struct rank *rank) {
  static const uint32_t two[] = {1, 2}, back[] = {2, 1}, three[] = {1, 2, 3}, with_last[] = {0, 3};
  struct vv_group *first = opened(rank);
  if (rank->rank == 1) fails(first, three, 3, "groups-cross", 2);
  if (rank->rank == 2) fails(first, two, 2, "groups-cross", 1);
  if (rank->rank == 3) fails(first, three, 3, "groups-cross", 2);
  meet_here();
  if (rank->rank == 1) fails(first, two, 2, "groups-cross", 2); /* two groups in crossing order */
  if (rank->rank == 2) fails(first, back, 2, "groups-cross", 1);
  meet_here();
  if (rank->rank == 1 || rank->rank == 2) { /* and nothing of that remains */
    struct vv_group *made = among(first, two, 2);
    cast(made, rank->rank - 1, 0, SMALL, 3);
    vv_group_leave(made);
  }
  cast(first, rank->rank, 3, SMALL, 4);
  meet_here();
  if (rank->rank == 0) fails(first, with_last, 2, "rank-left", 3);
  vv_group_leave(first);
}

static void test_lists_and_orders_that_differ_are_told_to_all(void **state) {
  (void)state;
  let_live(live_in_error, TIMEOUT_MS);
}

static void live_without_patience(struct rank *rank) {
  static const uint32_t three[] = {0, 1, 2};
  struct vv_group *first = opened(rank);
  if (rank->rank < 2) fails(first, three, 3, "timeout", 2);
  meet_here();
  if (rank->rank == 2) fails(first, three, 3, "timeout", 2);
  cast(first, rank->rank, 1, SMALL, 1);
  vv_group_leave(first);
}

static void test_who_does_not_come_is_named(void **state) {
  (void)state;
  let_live(live_without_patience, 5000);
}

/* A rank that leaves while the others go on is no riddle. */
static void live_with_one_who_leaves_early(struct rank *rank) {
  static const uint32_t three[] = {0, 1, 2};
  struct vv_group *first = opened(rank), *group = rank->rank < 3 ? among(first, three, 3) : NULL;
  struct vv_group_problem problem = {.code = "none"};
  uint8_t byte = 0;
  if (group) cast(group, rank->rank, 0, SMALL, 1);
  meet_here(); /* whoever still waited for that broadcast would hear of the failure there */
  if (rank->rank < 2) {
    CHECK(vv_group_broadcast(group, 2, &byte, 1, &problem) == -1); /* of which rank 2 knows nothing */
    CHECK(strcmp(problem.code, "rank-left") == 0 && problem.rank == 2);
  }
  vv_group_leave(group);
  cast(first, rank->rank, 3, BIG, 2);
  vv_group_leave(first);
}

static void test_who_leaves_early_is_named(void **state) {
  (void)state;
  let_live(live_with_one_who_leaves_early, TIMEOUT_MS);
}

/* Leaving with operations under way, and the first group before those made of it. */
static void live_in_disorder(struct rank *rank) {
  static const uint32_t two[] = {0, 1};
  struct vv_group *first = opened(rank);
  struct vv_group_problem problem = {.code = "none"};
  uint8_t byte = 0;
  struct vv_group *left = NULL, *kept = NULL;
  if (rank->rank < 2) {
    left = among(first, two, 2);
    kept = among(first, two, 2);
    struct vv_group_operation *begun = vv_group_begin_broadcast(left, 1 - rank->rank, &byte, 1, &problem);
    CHECK(begun != NULL && vv_group_begin_receive(kept, 1 - rank->rank, &byte, 1, &problem) != NULL);
    if (rank->rank == 0) vv_group_leave(left); /* both wait for the other as root */
    if (rank->rank == 1) {
      CHECK(vv_group_wait(begun, UINT32_MAX, NULL, &problem) == -1);
      vv_group_leave(left);
    }
  }
  vv_group_leave(first);
  if (rank->rank < 2) {
    CHECK(vv_group_broadcast(kept, 0, &byte, 1, &problem) == -1 && strcmp(problem.code, "bad-call") == 0);
    CHECK(vv_group_among(kept, two, 2, &problem) == NULL && strcmp(problem.code, "bad-call") == 0);
    CHECK(vv_group_descriptor(kept, &problem) == -1);
    vv_group_turn(kept);
    vv_group_leave(kept);
  }
}

static void test_leaving_in_disorder_leaves_nothing(void **state) {
  (void)state;
  let_live(live_in_disorder, TIMEOUT_MS);
}

static void live_in_as_many_as_there_may_be(struct rank *rank) {
  static const uint32_t two[] = {2, 3};
  struct vv_group *first = opened(rank), *groups[VV_GROUP_AMONG_MAX];
  if (rank->rank >= 2) {
    for (uint32_t i = 0; i < VV_GROUP_AMONG_MAX; i++) groups[i] = among(first, two, 2);
    fails(first, two, 2, "too-many-groups", ANY_RANK); /* both have no room: the first to come is named */
    for (uint32_t i = 0; i < VV_GROUP_AMONG_MAX; i++) cast(groups[i], rank->rank - 2, i % 2, i % 8 ? SMALL : BIG, i);
    vv_group_leave(groups[7]);
    groups[7] = among(first, two, 2);
    cast(groups[7], rank->rank - 2, 0, SMALL, 7);
  }
  for (uint32_t i = 0; rank->rank >= 2 && i < VV_GROUP_AMONG_MAX; i++) vv_group_leave(groups[i]);
  vv_group_leave(first);
}

static void test_no_more_groups_than_there_is_credit_for(void **state) {
  (void)state;
  let_live(live_in_as_many_as_there_may_be, TIMEOUT_MS);
}

/* Records that the ranks give each other, by memory that they share. */
static uint8_t records[RANKS][64];
static atomic_uint exchanged;

struct exchange {
  uint32_t rank;
  bool fails, spoils;
};

static int exchange(void *context, const void *own, void *all, size_t bytes) {
  const struct exchange *wanted = context;
  if (!CHECK(bytes <= sizeof records[0])) return -1;
  memcpy(records[wanted->rank], own, bytes);
  exchanged++;
  meet_here();
  for (uint32_t i = 0; i < RANKS; i++) memcpy((uint8_t *)all + i * bytes, records[i], bytes);
  if (wanted->spoils) memset(all, 0xee, bytes);
  meet_here();
  return wanted->fails;
}

static void use_exchange(struct rank *rank, struct exchange *wanted) {
  *wanted = (struct exchange){.rank = rank->rank};
  rank->config.meeting = NULL;
  rank->config.exchange = exchange;
  rank->config.context = wanted;
  memset(rank->config.key, 0, sizeof rank->config.key);
}

/* No place and no key but those of the exchange. */
static void live_by_an_exchange(struct rank *rank) {
  struct exchange wanted;
  use_exchange(rank, &wanted);
  struct vv_group *group = opened(rank);
  cast(group, rank->rank, 1, BIG, 1);
  vv_group_leave(group);
}

static void test_ranks_meet_by_an_exchange_of_the_caller(void **state) {
  (void)state;
  exchanged = 0;
  let_live(live_by_an_exchange, TIMEOUT_MS);
  assert_int_equal(exchanged, RANKS);
}

static void opens_not(struct rank *rank, const char *code) {
  struct vv_group_problem problem = {.code = "none"};
  CHECK(vv_group_open(&rank->config, &problem) == NULL);
  if (!CHECK(strcmp(problem.code, code) == 0)) fprintf(stderr, "%s: %s\n", problem.code, problem.text);
}

/* Nobody waits in an exchange for one that has found something wrong, and each says what. */
static void live_by_exchanges_that_fail(struct rank *rank) {
  struct exchange wanted;
  use_exchange(rank, &wanted);
  if (rank->rank == 0) rank->config.address = "192.0.2.1"; /* of nobody here */
  opens_not(rank, rank->rank == 0 ? "bad-address" : "rank-failed");
  rank->config.address = "127.0.0.1";
  rank->config.timeout_ms = 1000;
  wanted.spoils = rank->rank == 3;
  wanted.fails = rank->rank == 2;
  opens_not(rank, rank->rank > 1 ? "exchange-failed" : "timeout");
  wanted = (struct exchange){.rank = rank->rank};
  if (rank->rank != 1) rank->config.key[0] = 1;
  opens_not(rank, rank->rank == 1 ? "bad-key" : "timeout");
}

static void test_an_exchange_that_fails_ends_open_at_all(void **state) {
  (void)state;
  let_live(live_by_exchanges_that_fail, TIMEOUT_MS);
}

static void refused(struct vv_group *group, const uint32_t *ranks, uint32_t count, const char *code) {
  struct vv_group_problem problem = {.code = "none"};
  assert_null(vv_group_among(group, ranks, count, &problem));
  assert_string_equal(problem.code, code);
  assert_null(vv_group_among(group, ranks, count, NULL));
}

static void test_whatever_is_missing_or_impossible_is_answered_by_a_code(void **state) {
  (void)state;
  const struct vv_group_config config = {
      VV_GROUP_CONFIG, .ranks = 1, .address = "127.0.0.1", .meeting = "127.0.0.1:7000", .key = {1}, .timeout_ms = 1};
  struct vv_group_problem problem = {.code = "none"};
  struct vv_group *alone = vv_group_open(&config, &problem);
  const uint32_t self[] = {0, 0}, beyond[] = {1};
  size_t size = 0;
  uint8_t bytes[4];
  refused(NULL, self, 1, "bad-call");
  refused(alone, NULL, 1, "bad-call");
  refused(alone, self, 0, "bad-call");
  refused(alone, self, 2, "bad-rank");
  refused(alone, beyond, 1, "bad-rank");
  assert_null(vv_group_begin_broadcast(NULL, 0, bytes, 4, &problem));
  assert_null(vv_group_begin_broadcast(alone, 0, NULL, 4, &problem));
  assert_null(vv_group_begin_receive(alone, 1, bytes, 4, NULL));
  assert_int_equal(vv_group_test(NULL, &size, &problem), -1);
  assert_int_equal(vv_group_wait(NULL, 0, NULL, NULL), -1);
  assert_int_equal(vv_group_descriptor(NULL, &problem), -1);
  assert_int_equal(vv_group_descriptor(alone, NULL), -1);
  vv_group_turn(NULL);
  vv_group_turn(alone);
  struct vv_group_operation *begun = vv_group_begin_broadcast(alone, 0, bytes, 4, &problem);
  assert_int_equal(vv_group_test(begun, &size, NULL), 0);
  assert_int_equal(size, 4);
  begun = vv_group_begin_broadcast(alone, 0, bytes, 4, &problem);
  assert_non_null(begun); /* and never waited for */
  vv_group_leave(alone);
}

/* A rank that comes later than open would wait for is waited for, and what else a program has to do goes on meanwhile.
 */
enum { OPEN_MS = 1000, LATE_US = 1300000 };

static atomic_uint turns[RANKS];

static void count_turn(void *context) {
  turns[*(const uint32_t *)context]++;
}

static void come_late(const struct rank *rank) {
  if (rank->rank == 0) usleep(LATE_US);
}

/* Since *before, which is now. */
static void has_gone_on(const struct rank *rank, unsigned *before) {
  enum { TURNS = 20 };
  CHECK(rank->rank == 0 || turns[rank->rank] >= *before + TURNS);
  *before = turns[rank->rank];
}

static void live_with_a_late_rank(struct rank *rank) {
  static const uint32_t all[] = {0, 1, 2, 3};
  rank->config.patience_ms = UINT32_MAX;
  rank->config.meanwhile = count_turn;
  rank->config.context = &rank->rank;
  struct vv_group *first = opened(rank);
  unsigned before = turns[rank->rank];
  come_late(rank);
  cast(first, rank->rank, 0, SMALL, 1);
  has_gone_on(rank, &before);
  come_late(rank);
  struct vv_group *made = among(first, all, RANKS);
  has_gone_on(rank, &before);
  come_late(rank);
  vv_group_leave(made);
  vv_group_leave(first);
  has_gone_on(rank, &before);
}

static void test_a_rank_that_is_late_is_waited_for_and_other_work_goes_on(void **state) {
  (void)state;
  let_live(live_with_a_late_rank, OPEN_MS);
}

/* A child has no place in a group, nor in those made of it. */
static void live_with_a_child(struct rank *rank) {
  static const uint32_t two[] = {0, 1};
  struct vv_group *first = opened(rank);
  struct vv_group_problem problem = {.code = "none"};
  uint8_t byte = 1;
  struct vv_group *made = rank->rank < 2 ? among(first, two, 2) : NULL;
  meet_here();
  if (rank->rank == 0) {
    struct vv_group_operation *begun = vv_group_begin_broadcast(made, 1, &byte, 1, &problem);
    const pid_t child = fork();
    if (child == 0) {
      const bool right = vv_group_test(begun, NULL, &problem) == -1 && strcmp(problem.code, "bad-call") == 0 &&
                         !vv_group_among(made, two, 2, &problem) && vv_group_descriptor(first, &problem) == -1;
      vv_group_turn(made);
      vv_group_leave(made);
      vv_group_leave(first);
      _exit(right ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    cast(first, 0, 0, SMALL, 2);
    CHECK(vv_group_wait(begun, UINT32_MAX, NULL, &problem) == 0);
  } else {
    cast(first, rank->rank, 0, SMALL, 2);
    if (made) CHECK(vv_group_broadcast(made, 1, &byte, 1, &problem) == 0);
  }
  meet_here();
  vv_group_leave(made);
  vv_group_leave(first);
}

static void test_a_child_of_fork_disturbs_nobody(void **state) {
  (void)state;
  let_live(live_with_a_child, TIMEOUT_MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups_of_some_ranks_beside_the_first),
      cmocka_unit_test(test_a_group_of_a_group),
      cmocka_unit_test(test_a_group_is_made_and_left_again_and_again),
      cmocka_unit_test(test_several_operations_on_several_groups),
      cmocka_unit_test(test_the_end_of_what_was_begun_is_told_by_the_descriptor),
      cmocka_unit_test(test_turns_and_calls_that_wait_go_together),
      cmocka_unit_test(test_lists_and_orders_that_differ_are_told_to_all),
      cmocka_unit_test(test_who_does_not_come_is_named),
      cmocka_unit_test(test_who_leaves_early_is_named),
      cmocka_unit_test(test_leaving_in_disorder_leaves_nothing),
      cmocka_unit_test(test_no_more_groups_than_there_is_credit_for),
      cmocka_unit_test(test_ranks_meet_by_an_exchange_of_the_caller),
      cmocka_unit_test(test_an_exchange_that_fails_ends_open_at_all),
      cmocka_unit_test(test_whatever_is_missing_or_impossible_is_answered_by_a_code),
      cmocka_unit_test(test_a_rank_that_is_late_is_waited_for_and_other_work_goes_on),
      cmocka_unit_test(test_a_child_of_fork_disturbs_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
