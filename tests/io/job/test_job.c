/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job costs its process: no descriptor for a further group, and a change of filters for each new number alone.
 */
#include "io/job/job.h"

#include <dirent.h>
#include <linux/tcp.h>

#include "core/wire/bytes.h"
#include "io/job/drive.h"
#include "io/job/make.h"
#include "io/job/service.h"
#include "io/os/clock.h"
#include "ranks.h"

enum { ROUNDS = 20, FEW = 6 };

static unsigned count_descriptors(void) {
  unsigned count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (readdir(directory)) count++;
  closedir(directory);
  return count;
}

static struct vv_job *opened(struct rank *rank) {
  struct vv_error error = {0};
  struct vv_job *job = vv_job_new(&rank->config);
  if (!job || vv_job_meet(job, &rank->config, &error) != 0 || vv_service_start(job, &error) != 0) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
  }
  return job;
}

static void ended(struct vv_job *job) {
  const struct vv_accord bye = {.what = VV_ACCORD_BYE};
  vv_job_lock(job);
  CHECK(vv_drive(job, &job->alone, VV_NEVER, false) == VV_DRIVE_REACHED);
  vv_job_say(job, &bye);
  CHECK(vv_drive(job, &job->parted, VV_NEVER, false) == VV_DRIVE_REACHED);
  vv_job_unlock(job);
  vv_service_stop(job);
  vv_job_free(job);
}

static struct vv_job_stream *made(struct vv_job *job, const uint32_t *members, uint32_t count) {
  uint32_t rank = 0, about = 0;
  struct vv_error error = {0};
  while (members[rank] != job->meeting.rank) rank++;
  vv_job_lock(job);
  const struct vv_make_config config = {members, count, rank, job->streams, VV_NEVER};
  struct vv_job_stream *stream = vv_make(job, &config, &error, &about);
  vv_service_hand_over(job);
  if (!CHECK(stream != NULL)) fprintf(stderr, "%s\n", error.text), exit(1);
  return stream;
}

static void left(struct vv_job *job, struct vv_job_stream *stream) {
  vv_job_lock(job);
  vv_job_leave(job, stream);
  vv_service_hand_over(job);
}

/* That group, made and left; its number. */
static uint32_t number_of_one_made(struct vv_job *job, const uint32_t *members, uint32_t count) {
  struct vv_job_stream *stream = made(job, members, count);
  const uint32_t number = stream->number;
  CHECK(number > 0 && number < VV_ACCORD_STREAMS && stream->core.config.window_datagrams >= 8);
  left(job, stream);
  return number;
}

/*
 * The three ranks, in the order that `n` stands for. Each order is a list of its own, of which two may want one number:
 * then the second gets another, if some rank has not left the first.
 */
static bool choose_three(uint32_t n, uint32_t three[3]) {
  for (int i = 0; i < 3; i++, n /= RANKS) three[i] = n % RANKS;
  return three[0] != three[1] && three[0] != three[2] && three[1] != three[2];
}

/* Numbers of further groups that the sockets let in. */
static uint32_t count_admitted(const struct vv_job *job) {
  uint32_t count = 0;
  for (uint32_t number = 1; number < VV_ACCORD_STREAMS; number++)
    count += job->cast.filter.admitted[number / 32] >> number % 32 & 1;
  return count;
}

/* Makes and leaves the groups of all these lists; how many numbers they have. */
static uint32_t count_numbers(const struct rank *rank, struct vv_job *job, uint32_t number_of_all) {
  bool seen[VV_ACCORD_STREAMS] = {false};
  uint32_t count = 1, three[3];
  seen[number_of_all] = true;
  for (uint32_t n = 0; n < RANKS * RANKS * RANKS; n++) {
    const bool mine =
        choose_three(n, three) && (three[0] == rank->rank || three[1] == rank->rank || three[2] == rank->rank);
    if (!mine) continue;
    const uint32_t number = number_of_one_made(job, three, 3);
    count += !seen[number];
    seen[number] = true;
  }
  return count;
}

static void live_with_counts(struct rank *rank) {
  static const uint32_t all[] = {0, 1, 2, 3};
  struct vv_job *job = opened(rank);
  unsigned before = 0;
  meet_here();
  if (rank->rank == 0) before = count_descriptors(); /* which has one meanwhile */
  meet_here();
  const uint32_t number = number_of_one_made(job, all, RANKS);
  for (int round = 1; round < ROUNDS; round++) CHECK(number_of_one_made(job, all, RANKS) == number);
  CHECK(job->cast.filter_changes == 1); /* the same ranks, the same number, of which the kernel was told once */
  const uint32_t numbers = count_numbers(rank, job, number);
  CHECK(count_admitted(job) >= numbers && job->cast.filter_changes <= numbers); /* and of others with them */
  meet_here();
  if (rank->rank == 0) CHECK(count_descriptors() == before);
  meet_here();
  ended(job);
}

static void test_further_groups_cost_no_descriptor_and_no_filter(void **state) {
  (void)state;
  let_live(live_with_counts, TIMEOUT_MS);
}

/* Segments with words that this rank, which is not 0, has sent to rank 0. */
static uint32_t count_segments(const struct vv_job *job) {
  struct tcp_info info;
  socklen_t bytes = sizeof info;
  CHECK(getsockopt(job->meeting.links[0].fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0);
  return info.tcpi_data_segs_out;
}

static void live_from_group_to_group(struct rank *rank) {
  static const uint32_t all[] = {0, 1, 2, 3};
  struct vv_job *job = opened(rank);
  struct vv_error error = {0};
  uint32_t about = 0;
  struct vv_job_stream *stream = made(job, all, RANKS);
  const uint32_t before = rank->rank == 0 ? 0 : count_segments(job);
  for (int round = 0; round < ROUNDS; round++) {
    vv_job_lock(job);
    vv_job_leave(job, stream);
    const struct vv_make_config config = {all, RANKS, rank->rank, job->streams, VV_NEVER};
    stream = vv_make(job, &config, &error, &about);
    vv_service_hand_over(job);
    if (!CHECK(stream != NULL)) exit(1);
  }
  if (rank->rank != 0) CHECK(count_segments(job) - before == ROUNDS);
  left(job, stream);
  ended(job);
}

static void test_who_leaves_a_group_and_makes_another_says_both_at_once(void **state) {
  (void)state;
  let_live(live_from_group_to_group, TIMEOUT_MS);
}

/* Rank 0 knows first that a group is there, and casts at once. */
static void live_with_a_quick_root(struct rank *rank) {
  struct vv_job_stream *streams[FEW];
  struct vv_job *job = opened(rank);
  uint64_t asked = 0;
  for (uint32_t i = 0; i < FEW; i++) {
    const uint32_t last = i % 3 + 1, members[] = {0, last, last % 3 + 1, (last + 1) % 3 + 1};
    const uint32_t turned[] = {members[1], members[2], members[3], 0};
    struct vv_job_stream *stream = streams[i] = made(job, i < 3 ? members : turned, RANKS);
    uint8_t byte = rank->rank == 0;
    struct vv_job_stream_operation operation = {
        .what = {.root = i < 3 ? 0 : RANKS - 1, .buffer = &byte, .size_bytes = 1, .size_known = true}};
    vv_job_lock(job);
    vv_job_stream_begin(stream, job->at_ns, &operation);
    CHECK(vv_drive(job, &operation.ended, VV_NEVER, false) == VV_DRIVE_REACHED && !operation.failed && byte == 1);
    vv_service_hand_over(job);
    meet_here();
    asked += stream->core.counts.asks;
  }
  CHECK(asked == 0);
  for (int i = 0; i < FEW; i++) left(job, streams[i]);
  ended(job);
}

static void test_the_first_message_of_a_group_is_sent_once(void **state) {
  (void)state;
  let_live(live_with_a_quick_root, TIMEOUT_MS);
}

/* What comes of another group, of an old one or of a stranger is nobody's. */
static void live_with_strays(struct rank *rank) {
  static const uint32_t two[] = {0, 1};
  struct vv_job *job = opened(rank);
  meet_here();
  if (rank->rank < 2) {
    struct vv_job_stream *stream = made(job, two, 2);
    vv_job_lock(job);
    job->room = 32;
    const size_t counts[] = {0, 3, 32};
    uint8_t bytes[3 * 32] = {0};
    const uint64_t before = vv_job_foreign(job);
    vv_put32(bytes + 64, (uint32_t)VV_GPDU_DATA << 24 | (job->reach.stream + stream->number)); /* forged */
    vv_job_take(job, VV_CAST_DATA, bytes, counts, 3);
    CHECK(vv_job_foreign(job) == before + 2 && stream->core.counts.foreign == 1);
    vv_put32(bytes + 64, (uint32_t)VV_GPDU_DATA << 24 | (job->reach.stream + stream->number % 255 + 1));
    vv_job_take(job, VV_CAST_DATA, bytes + 64, counts + 2, 1); /* of a group of others, perhaps */
    CHECK(vv_job_foreign(job) == before + 2);
    vv_job_take(job, VV_CAST_OWN, bytes + 64, counts + 2, 1); /* but nobody else is meant here */
    CHECK(vv_job_foreign(job) == before + 3);
    vv_put32(bytes + 64, (uint32_t)VV_GPDU_DATA << 24 | (job->reach.stream ^ 0x800000));
    vv_job_take(job, VV_CAST_EVERYONE, bytes + 64, counts + 2, 1); /* of no group of the job */
    CHECK(vv_job_foreign(job) == before + 4);
    job->room = job->reach.datagram_bytes;
    vv_service_hand_over(job);
    left(job, stream);
  }
  meet_here();
  ended(job);
}

static void test_strays_are_taken_by_nobody(void **state) {
  (void)state;
  let_live(live_with_strays, TIMEOUT_MS);
}

/* Rank 0 stands still while a group is made: who gives up says so, and when it is made after all, leaves it at once. */
static atomic_bool stands_still, asked, given_up;

static void live_without_rank_0(struct rank *rank) {
  static const uint32_t two[] = {1, 2};
  struct vv_job *job = opened(rank);
  struct vv_error error = {0};
  uint32_t about = VV_MEETING_NOBODY;
  meet_here();
  if (rank->rank == 0) {
    vv_job_lock(job);
    stands_still = true;
    struct pollfd link = {.fd = job->meeting.links[1].fd, .events = POLLIN};
    CHECK(poll(&link, 1, TIMEOUT_MS) == 1); /* rank 1 has come, */
    asked = true;
    while (!given_up) usleep(1000); /* and is heard after rank 2 has given up, but before it */
    vv_service_hand_over(job);
  }
  while (!stands_still || (rank->rank == 2 && !asked)) usleep(1000);
  if (rank->rank == 1) {
    struct vv_job_stream *stream = made(job, two, 2);
    uint8_t byte = 0;
    struct vv_job_stream_operation operation = {
        .what = {.root = 1, .buffer = &byte, .size_bytes = 1, .size_known = true}};
    vv_job_lock(job);
    vv_job_stream_begin(stream, job->at_ns, &operation);
    CHECK(vv_drive(job, &operation.ended, VV_NEVER, false) == VV_DRIVE_REACHED && operation.failed);
    CHECK(strcmp(stream->problem.code, "rank-died") == 0 && stream->problem.rank == 1);
    vv_service_hand_over(job);
    left(job, stream);
  }
  if (rank->rank == 2) {
    vv_job_lock(job);
    const struct vv_make_config config = {two, 2, 1, job->streams, job->at_ns + 50 * VV_MS};
    CHECK(vv_make(job, &config, &error, &about) == NULL);
    CHECK(strcmp(error.code, "timeout") == 0 && about == 0);
    CHECK(vv_make(job, &config, &error, &about) == NULL); /* it has still not answered */
    vv_service_hand_over(job);
    given_up = true;
  }
  meet_here();
  if (rank->rank == 1 || rank->rank == 2) left(job, made(job, two, 2));
  ended(job);
}

static void test_a_group_that_is_made_too_late_is_left_at_once(void **state) {
  (void)state;
  let_live(live_without_rank_0, TIMEOUT_MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_further_groups_cost_no_descriptor_and_no_filter),
      cmocka_unit_test(test_the_first_message_of_a_group_is_sent_once),
      cmocka_unit_test(test_who_leaves_a_group_and_makes_another_says_both_at_once),
      cmocka_unit_test(test_a_group_that_is_made_too_late_is_left_at_once),
      cmocka_unit_test(test_strays_are_taken_by_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
