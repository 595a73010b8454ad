/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations and messages of real ranks: right results on groups of all and of some, begun several at once
 * and between broadcasts, and every error by its name on whom it meets.
 */
#include "vaiven/coll.h"

#include "ranks.h"

enum { MANY = 40000, LARGE = 300000 };

static struct vv_group *opened(struct rank *rank) {
  struct vv_group_problem problem = {.text = ""};
  struct vv_group *group = vv_group_open(&rank->config, &problem);
  if (!CHECK(group != NULL)) fprintf(stderr, "%s\n", problem.text), exit(1);
  return group;
}

/* Number i that a rank gives. */
static double given_of(uint32_t rank, size_t i) {
  return (double)(rank + 1) / 3 + (double)i * (rank % 2 ? 1e-9 : 1e9);
}

static void fill(double *numbers, uint32_t rank, size_t count) {
  for (size_t i = 0; i < count; i++) numbers[i] = given_of(rank, i);
}

/* What a sum of all comes to, in the order of the ranks. */
static double sum_of(size_t i) {
  double sum = given_of(0, i);
  for (uint32_t rank = 1; rank < RANKS; rank++) sum += given_of(rank, i);
  return sum;
}

static void carry_out(struct vv_group *group, const struct vv_coll_call *call) {
  struct vv_group_problem problem = {.text = ""};
  if (!CHECK(vv_coll(group, call, &problem) == 0)) fprintf(stderr, "%s: %s\n", problem.code, problem.text);
}

static void reduce(struct vv_group *group, uint32_t rank, enum vv_coll_kind kind, uint32_t root, size_t count) {
  double *own = malloc(count * sizeof *own), *got = calloc(count, sizeof *got);
  fill(own, rank, count);
  carry_out(group, &(struct vv_coll_call){VV_COLL_CALL, .kind = kind, .root = root, .given = own, .result = got,
                                          .count = count, .type = VV_DATA_DOUBLE, .op = VV_COLL_SUM});
  bool right = true;
  for (size_t i = 0; i < count; i++) right = right && got[i] == sum_of(i);
  CHECK(right == (kind == VV_COLL_ALLREDUCE || rank == root || count == 0));
  free(own);
  free(got);
}

static void gather(struct vv_group *group, uint32_t rank, enum vv_coll_kind kind, uint32_t root, size_t count) {
  double *own = malloc(count * sizeof *own), *got = calloc(RANKS * count, sizeof *got);
  fill(own, rank, count);
  carry_out(group, &(struct vv_coll_call){VV_COLL_CALL, .kind = kind, .root = root, .given = own, .result = got,
                                          .count = count, .type = VV_DATA_DOUBLE});
  bool right = true;
  for (size_t i = 0; i < RANKS * count; i++) right = right && got[i] == given_of((uint32_t)(i / count), i % count);
  CHECK(right == (kind == VV_COLL_ALLGATHER || rank == root || count == 0));
  free(own);
  free(got);
}

/* Parts of unlike lengths, the last rank's first. */
static void scatter(struct vv_group *group, uint32_t rank, uint32_t root, size_t count) {
  struct vv_coll_part parts[RANKS];
  for (uint32_t i = 0, first = 0; i < RANKS; i++) {
    parts[RANKS - 1 - i] = (struct vv_coll_part){first, count * i};
    first += (uint32_t)count * i + 1;
  }
  const size_t whole = parts[0].first + parts[0].count;
  double *all = malloc(whole * sizeof *all), *got = calloc(whole, sizeof *got);
  fill(all, 7, whole);
  carry_out(group, &(struct vv_coll_call){VV_COLL_CALL, .kind = VV_COLL_SCATTER, .root = root,
                                          .given = rank == root ? all : NULL, .result = got, .type = VV_DATA_DOUBLE,
                                          .parts = parts});
  bool right = true;
  for (size_t i = 0; i < parts[rank].count; i++) right = right && got[i] == all[parts[rank].first + i];
  CHECK(right);
  free(all);
  free(got);
}

static void live_in_all(struct rank *rank) {
  static const size_t counts[] = {0, 1, 100, MANY};
  struct vv_group *group = opened(rank);
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    const uint32_t root = (uint32_t)i % RANKS;
    reduce(group, rank->rank, VV_COLL_ALLREDUCE, root, counts[i]);
    reduce(group, rank->rank, VV_COLL_REDUCE, root, counts[i]);
    gather(group, rank->rank, VV_COLL_ALLGATHER, root, counts[i]);
    gather(group, rank->rank, VV_COLL_GATHER, root, counts[i]);
    scatter(group, rank->rank, root, counts[i]);
    carry_out(group, &(struct vv_coll_call){VV_COLL_CALL, .kind = VV_COLL_BARRIER});
  }
  vv_group_leave(group);
}

static void test_results_are_right(void **state) {
  (void)state;
  let_live(live_in_all, TIMEOUT_MS);
}

/* Nobody passes a barrier that somebody has not come to. */
static atomic_uint at_barrier;

static void live_with_barriers(struct rank *rank) {
  struct vv_group *group = opened(rank);
  for (unsigned i = 1; i <= 20; i++) {
    if (rank->rank == i % RANKS) usleep(3000);
    at_barrier++;
    carry_out(group, &(struct vv_coll_call){VV_COLL_CALL, .kind = VV_COLL_BARRIER});
    CHECK(at_barrier >= i * RANKS);
    carry_out(group, &(struct vv_coll_call){VV_COLL_CALL, .kind = VV_COLL_BARRIER});
  }
  vv_group_leave(group);
}

static void test_a_barrier_waits_for_all(void **state) {
  (void)state;
  at_barrier = 0;
  let_live(live_with_barriers, TIMEOUT_MS);
}

static void end(struct vv_group_operation *operation) {
  struct vv_group_problem problem = {.text = ""};
  if (!CHECK(operation != NULL)) return;
  if (!CHECK(vv_group_wait(operation, TIMEOUT_MS, NULL, &problem) == 0)) fprintf(stderr, "%s\n", problem.text);
}

/* Several under way, waited for in another order, with a broadcast begun between them. */
static void live_with_several(struct rank *rank) {
  struct vv_group *group = opened(rank);
  double *own = malloc(MANY * sizeof *own), *sums = calloc(2 * MANY, sizeof *sums);
  uint32_t all[RANKS] = {0}, word = rank->rank == 2 ? 12345 : 0;
  fill(own, rank->rank, MANY);
  const struct vv_coll_call large = {VV_COLL_CALL,  .kind = VV_COLL_ALLREDUCE, .given = own,     .result = sums,
                                     .count = MANY, .type = VV_DATA_DOUBLE,    .op = VV_COLL_SUM};
  const struct vv_coll_call small = {VV_COLL_CALL, .kind = VV_COLL_ALLGATHER, .given = &rank->rank, .result = all,
                                     .count = 1,   .type = VV_DATA_UINT32};
  struct vv_coll_call again = large;
  again.result = sums + MANY;
  struct vv_group_operation *first = vv_coll_begin(group, &large, NULL), *second = vv_coll_begin(group, &again, NULL);
  struct vv_group_operation *cast = vv_group_begin_broadcast(group, 2, &word, sizeof word, NULL);
  struct vv_group_operation *third = vv_coll_begin(group, &small, NULL);
  end(third);
  end(cast);
  end(second);
  end(first);
  bool right = word == 12345;
  for (size_t i = 0; i < MANY; i++) right = right && sums[i] == sum_of(i) && sums[MANY + i] == sums[i];
  for (uint32_t i = 0; i < RANKS; i++) right = right && all[i] == i;
  CHECK(right);
  first = vv_coll_begin(group, &large, NULL);
  CHECK(vv_group_broadcast(group, 1, &word, sizeof word, NULL) == 0);
  end(first);
  vv_group_leave(group);
  free(own);
  free(sums);
}

static void test_several_are_under_way(void **state) {
  (void)state;
  let_live(live_with_several, TIMEOUT_MS);
}

/* Messages round a ring, of the first group and of one of some, small and large, begun before they are taken and after.
 */
static void live_in_a_ring(struct rank *rank) {
  static const uint32_t backwards[] = {3, 2, 1, 0};
  struct vv_group *first = opened(rank), *other = vv_group_among(first, backwards, RANKS, NULL);
  uint8_t *data = malloc(LARGE), *got = calloc(2, LARGE);
  if (!CHECK(other != NULL)) exit(1);
  for (size_t i = 0; i < LARGE; i++) data[i] = (uint8_t)(i * 31 + rank->rank + (i >> 8));
  for (int turn = 0; turn < 6; turn++) {
    const size_t bytes = turn % 2 ? LARGE : 5;
    const uint32_t next = (rank->rank + 1) % RANKS, before = (rank->rank + RANKS - 1) % RANKS;
    size_t size = 0;
    struct vv_group_operation *sent = vv_group_begin_send(first, next, data, bytes, NULL);
    struct vv_group_operation *sent_other = vv_group_begin_send(other, RANKS - 1 - next, data, bytes, NULL);
    CHECK(vv_group_take(other, RANKS - 1 - before, got + LARGE, LARGE, &size, NULL) == 0 && size == bytes);
    CHECK(vv_group_take(first, before, got, LARGE, &size, NULL) == 0 && size == bytes);
    end(sent);
    end(sent_other);
    CHECK(memcmp(got, got + LARGE, bytes) == 0 && got[1] == (uint8_t)(31 + before));
  }
  vv_group_leave(other);
  vv_group_leave(first);
  free(data);
  free(got);
}

static void test_messages_reach_one_rank_of_one_group(void **state) {
  (void)state;
  let_live(live_in_a_ring, TIMEOUT_MS);
}

static atomic_uint told; /* ranks that heard why */

/* Rank 1 reduces while all others have a broadcast, or the other way round: all hear of it in that call or in the next,
 * though messages and casts are never in each other's way; who has heard leaves, which others may hear first. */
static void live_in_other_calls(struct rank *rank, bool reduces) {
  struct vv_group *group = opened(rank);
  struct vv_group_problem problem = {.code = "none"};
  double *own = calloc(MANY, 2 * sizeof *own);
  const struct vv_coll_call call = {VV_COLL_CALL,  .kind = VV_COLL_ALLREDUCE, .given = own,     .result = own + MANY,
                                    .count = MANY, .type = VV_DATA_DOUBLE,    .op = VV_COLL_SUM};
  int result =
      reduces ? vv_coll(group, &call, &problem) : vv_group_broadcast(group, 0, own, MANY * sizeof *own, &problem);
  for (uint32_t root = 0; result == 0 && root < RANKS; root++)
    result = vv_group_broadcast(group, root, own, 8, &problem);
  told += strcmp(problem.code, "calls-differ") == 0;
  CHECK(result == -1 && (problem.kind == VV_GROUP_WRONG || problem.kind == VV_GROUP_GONE));
  vv_group_leave(group);
  free(own);
}

static void live_alone_reducing(struct rank *rank) {
  live_in_other_calls(rank, rank->rank == 1);
}

static void live_alone_broadcasting(struct rank *rank) {
  live_in_other_calls(rank, rank->rank != 1);
}

static void test_ranks_in_unlike_calls_are_told(void **state) {
  (void)state;
  told = 0;
  let_live(live_alone_reducing, TIMEOUT_MS);
  assert_true(told > 0);
  told = 0;
  let_live(live_alone_broadcasting, TIMEOUT_MS);
  assert_true(told > 0);
}

/* Ranks that give unlike counts are told so, or that the group has failed; nobody waits for ever. */
static void live_unequal(struct rank *rank) {
  struct vv_group *group = opened(rank);
  struct vv_group_problem problem = {.code = "none"};
  double *own = calloc(MANY, 2 * sizeof *own);
  CHECK(vv_coll(group,
                &(struct vv_coll_call){VV_COLL_CALL, .kind = VV_COLL_ALLREDUCE, .given = own, .result = own + MANY,
                                       .count = rank->rank == 1 ? MANY - 100 : MANY, .type = VV_DATA_DOUBLE,
                                       .op = VV_COLL_SUM},
                &problem) == -1);
  CHECK(problem.kind == VV_GROUP_WRONG || problem.kind == VV_GROUP_GONE);
  vv_group_leave(group);
  free(own);
}

static void test_unequal_counts_are_told(void **state) {
  (void)state;
  let_live(live_unequal, TIMEOUT_MS);
}

/* A rank leaves in the middle of what the others have begun. */
static void live_without_the_last(struct rank *rank) {
  struct vv_group *group = opened(rank);
  struct vv_group_problem problem = {.code = "none"};
  double *own = calloc(MANY, 2 * sizeof *own);
  const struct vv_coll_call call = {VV_COLL_CALL,  .kind = VV_COLL_ALLREDUCE, .given = own,     .result = own + MANY,
                                    .count = MANY, .type = VV_DATA_DOUBLE,    .op = VV_COLL_SUM};
  if (rank->rank == RANKS - 1) {
    usleep(20000);
  } else if (CHECK(vv_coll(group, &call, &problem) == -1)) {
    CHECK(problem.kind == VV_GROUP_GONE);
  }
  vv_group_leave(group);
  free(own);
}

static void test_who_leaves_ends_it_for_all(void **state) {
  (void)state;
  let_live(live_without_the_last, 2000);
}

static void is_refused(struct vv_group *group, const struct vv_coll_call *call, const char *code) {
  struct vv_group_problem problem = {.code = "none"};
  assert_int_equal(vv_coll(group, call, &problem), -1);
  assert_string_equal(problem.code, code);
  assert_null(vv_coll_begin(group, call, NULL));
}

static void test_what_cannot_be_is_refused_by_name(void **state) {
  (void)state;
  double number = 1;
  const struct vv_group_config config = {
      VV_GROUP_CONFIG, .ranks = 1, .rank = 0, .address = "127.0.0.1", .timeout_ms = 10, .meeting = "127.0.0.1:7000",
      .key = {1}};
  struct vv_group *group = vv_group_open(&config, NULL);
  const struct vv_coll_call right = {VV_COLL_CALL, .kind = VV_COLL_ALLREDUCE, .given = &number, .result = &number,
                                     .count = 1,   .type = VV_DATA_DOUBLE,    .op = VV_COLL_SUM};
  struct vv_coll_call call = right;
  is_refused(NULL, &right, "bad-call");
  is_refused(group, NULL, "bad-call");
  call.size_bytes = 8;
  is_refused(group, &call, "bad-config");
  call = right, call.kind = 0;
  is_refused(group, &call, "bad-call");
  call = right, call.kind = VV_COLL_REDUCE, call.root = 1;
  is_refused(group, &call, "bad-rank");
  call = right, call.type = 99;
  is_refused(group, &call, "bad-type");
  call = right, call.op = VV_COLL_AND;
  is_refused(group, &call, "bad-type");
  call = right, call.given = NULL;
  is_refused(group, &call, "bad-call");
  call = right, call.result = NULL;
  is_refused(group, &call, "bad-call");
  call = right, call.count = SIZE_MAX / 4;
  is_refused(group, &call, "bad-size");
  assert_int_equal(vv_coll(group, &right, NULL), 0);
  assert_true(number == 1);
  assert_int_equal(vv_group_send(group, 0, &number, 8, NULL), -1);
  vv_group_leave(group);
}

static int to_each(void **state) {
  (void)state;
  route = VV_GROUP_UNICAST;
  return 0;
}

static int as_it_is(void **state) {
  (void)state;
  route = VV_GROUP_ANY;
  return 0;
}

#define TO_EACH(test) cmocka_unit_test_setup_teardown(test, to_each, as_it_is)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results_are_right),
      cmocka_unit_test(test_a_barrier_waits_for_all),
      cmocka_unit_test(test_several_are_under_way),
      cmocka_unit_test(test_messages_reach_one_rank_of_one_group),
      TO_EACH(test_results_are_right),
      TO_EACH(test_a_barrier_waits_for_all),
      TO_EACH(test_several_are_under_way),
      TO_EACH(test_messages_reach_one_rank_of_one_group),
      cmocka_unit_test(test_ranks_in_unlike_calls_are_told),
      cmocka_unit_test(test_unequal_counts_are_told),
      cmocka_unit_test(test_who_leaves_ends_it_for_all),
      cmocka_unit_test(test_what_cannot_be_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
