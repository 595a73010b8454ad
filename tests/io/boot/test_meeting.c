/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of real ranks, each a thread, over loopback, and of ranks made by hand
 * that say what no rank should. Whatever comes to nothing does so at once, with the
 * same word at everybody: the time-outs are a minute, and no test waits for one but
 * where it says so.
 */
#include "io/boot/meeting.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/boot/bell.h"
#include "io/os/clock.h"

#define RANKS_MAX   100
#define PATIENCE_MS 60000

static const uint8_t key[VV_KEY_BYTES] = {4, 2};
static struct vv_address place;
static struct vv_error ignored;

struct rank {
  struct vv_meeting_config config;
  struct vv_meeting meeting;
  struct vv_error error;
  uint32_t values[VV_MEETING_VALUES];
  int64_t patience_ms;
  int result;
  pthread_t thread;
};

static struct rank ranks[RANKS_MAX];

static struct vv_meeting_config config_of(uint32_t rank, uint32_t count) {
  const struct sockaddr_in own = {AF_INET, htons((uint16_t)(5000 + rank)), {htonl(INADDR_LOOPBACK)}, {0}};
  struct vv_address at = place;
  const uint16_t port = vv_address_port(&at);
  const int listener = rank == 0 ? vv_socket_listening(&at, port, port, RANKS_MAX, &ignored) : -1;
  return (struct vv_meeting_config){
      .ranks = count, .rank = rank, .own = own, .place = place, .key = key, .listener = listener};
}

static void *go_to_meeting(void *argument) {
  struct rank *rank = argument;
  const vv_ns deadline_ns = vv_clock_ns() + rank->patience_ms * 1000000;
  rank->result = vv_meeting_open(&rank->meeting, &rank->config, deadline_ns, &rank->error);
  return NULL;
}

static void *agree(void *argument) {
  struct rank *rank = argument;
  const vv_ns deadline_ns = vv_clock_ns() + rank->patience_ms * 1000000;
  rank->result = vv_meeting_agree(&rank->meeting, rank->values, deadline_ns, &rank->error);
  return NULL;
}

static void start(uint32_t rank, uint32_t count) {
  ranks[rank] = (struct rank){.config = config_of(rank, count), .patience_ms = PATIENCE_MS};
  assert_int_equal(pthread_create(&ranks[rank].thread, NULL, go_to_meeting, &ranks[rank]), 0);
}

static int finish(uint32_t rank) {
  pthread_join(ranks[rank].thread, NULL);
  return ranks[rank].result;
}

static void assert_failed(uint32_t rank, const char *code) {
  assert_int_equal(finish(rank), -1);
  assert_string_equal(ranks[rank].error.code, code);
  vv_meeting_close(&ranks[rank].meeting);
}

static void meet(uint32_t count) {
  for (uint32_t rank = 0; rank < count; rank++) start(rank, count);
  for (uint32_t rank = 0; rank < count; rank++) assert_int_equal(finish(rank), 0);
}

static void part(uint32_t count) {
  for (uint32_t rank = 0; rank < count; rank++) vv_meeting_close(&ranks[rank].meeting);
}

/* A port of its own for each test: what lingers of one does not meet the next. */
static int find_place(void **state) {
  (void)state;
  assert_int_equal(vv_address_parse("127.0.0.1", 0, &place, &ignored), 0);
  close(vv_socket_listening(&place, 0, 0, 1, &ignored));
  return 0;
}

/* Ranks by hand */

static int dial(void) {
  int fd = -1;
  for (int tries = 0; tries < 3000; tries++) {
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, &place.any, place.length) == 0) return fd;
    close(fd);
    poll(NULL, 0, 20);
  }
  fail_msg("nobody listens");
  return -1;
}

static void hear_all(int fd, uint8_t *bytes, size_t count) {
  assert_int_equal(recv(fd, bytes, count, MSG_WAITALL), (ssize_t)count);
}

static void join_with(int fd, uint32_t rank, uint32_t count, uint8_t letter[VV_LETTER_JOIN_BYTES]) {
  uint8_t bytes[VV_LETTER_CHALLENGE_BYTES], challenge[VV_LETTER_NONCE_BYTES];
  const struct vv_letter_join join = {count, rank, {INADDR_LOOPBACK, 5000, 1}, {9}};
  hear_all(fd, bytes, sizeof bytes);
  assert_true(vv_letter_challenge_parse(bytes, challenge));
  vv_letter_join_emit(key, challenge, &join, letter);
  assert_true(vv_socket_write_all(fd, letter, VV_LETTER_JOIN_BYTES));
}

static int join_by_hand(uint32_t rank, uint32_t count) {
  uint8_t letter[VV_LETTER_JOIN_BYTES];
  const int fd = dial();
  join_with(fd, rank, count, letter);
  return fd;
}

/* Takes the welcome of rank 1 of 2; the session's key. */
static void be_welcomed(int fd, uint8_t session_key[VV_KEY_BYTES]) {
  uint8_t bytes[VV_LETTER_WELCOME_BYTES(2)], session[VV_LETTER_NONCE_BYTES], nonce[VV_LETTER_NONCE_BYTES] = {9};
  struct vv_letter_seat seats[2];
  hear_all(fd, bytes, sizeof bytes);
  assert_true(vv_letter_welcome_parse(key, nonce, bytes, 2, session, seats));
  vv_letter_session_key(key, session, session_key);
}

static bool has_ended(int fd) {
  uint8_t byte;
  return recv(fd, &byte, 1, 0) <= 0;
}

/* Meetings */

static void all_meet_and_agree(void **state) {
  (void)state;
  enum { COUNT = 5 };
  meet(COUNT);
  for (uint32_t rank = 0; rank < COUNT; rank++) {
    assert_memory_equal(ranks[rank].meeting.peers, ranks[0].meeting.peers, COUNT * sizeof *ranks[0].meeting.peers);
    assert_int_equal(ntohs(ranks[rank].meeting.peers[3].sin_port), 5003);
    assert_memory_equal(ranks[rank].meeting.key, ranks[0].meeting.key, VV_KEY_BYTES);
    ranks[rank].values[0] = 10 + rank;
    ranks[rank].values[3] = UINT32_MAX - rank;
  }
  for (uint32_t rank = 0; rank < COUNT; rank++) pthread_create(&ranks[rank].thread, NULL, agree, &ranks[rank]);
  for (uint32_t rank = 0; rank < COUNT; rank++) {
    assert_int_equal(finish(rank), 0);
    assert_int_equal(ranks[rank].values[0], 10);
    assert_int_equal(ranks[rank].values[3], UINT32_MAX - 4);
  }
  part(COUNT);
}

static void each_meeting_has_a_key_of_its_own_and_forgets_it(void **state) {
  (void)state;
  uint8_t first[VV_KEY_BYTES];
  meet(2);
  memcpy(first, ranks[1].meeting.key, sizeof first);
  part(2);
  static const struct vv_meeting zeros;
  assert_memory_equal(&ranks[1].meeting, &zeros, sizeof zeros);
  meet(2);
  assert_memory_not_equal(first, ranks[1].meeting.key, sizeof first);
  assert_memory_not_equal(key, ranks[1].meeting.key, sizeof key);
  part(2);
}

/* What a rank said in an earlier meeting, and what it said in this one, from whoever heard it. */
static void a_join_is_good_once(void **state) {
  (void)state;
  uint8_t recorded[2][VV_LETTER_JOIN_BYTES], challenge[VV_LETTER_CHALLENGE_BYTES];
  start(0, 2);
  int fd = dial();
  join_with(fd, 1, 2, recorded[0]);
  assert_int_equal(finish(0), 0);
  close(fd);
  part(1);
  start(0, 3);
  fd = dial();
  join_with(fd, 1, 3, recorded[1]);
  for (int i = 0; i < 2; i++) {
    const int replayer = dial();
    hear_all(replayer, challenge, sizeof challenge);
    vv_socket_write_all(replayer, recorded[i], sizeof recorded[i]);
    assert_true(has_ended(replayer));
    close(replayer);
  }
  start(2, 3);
  assert_int_equal(finish(2), 0);
  assert_int_equal(finish(0), 0);
  close(fd);
  vv_meeting_close(&ranks[0].meeting);
  vv_meeting_close(&ranks[2].meeting);
}

static void strangers_neither_get_in_nor_keep_others_out(void **state) {
  (void)state;
  int fds[300];
  start(0, 3);
  for (int i = 0; i < 300; i++) {
    fds[i] = dial();
    if (i % 3 == 1) vv_socket_write_all(fds[i], (const uint8_t *)"vvj1\0\0\0\3", 8);
    if (i % 3 == 2) shutdown(fds[i], SHUT_WR);
  }
  start(1, 3);
  start(2, 3);
  for (uint32_t rank = 0; rank < 3; rank++) assert_int_equal(finish(rank), 0);
  for (int i = 0; i < 300; i++) close(fds[i]);
  part(3);
}

static void a_rank_that_is_started_again_takes_its_place(void **state) {
  (void)state;
  start(0, 3);
  for (int i = 0; i < 3; i++) close(join_by_hand(1, 3));
  start(1, 3);
  start(2, 3);
  for (uint32_t rank = 0; rank < 3; rank++) assert_int_equal(finish(rank), 0);
  assert_int_equal(ntohs(ranks[2].meeting.peers[1].sin_port), 5001);
  part(3);
}

/* Its letter and its end come in one segment: when the last of all seems to be there, it is gone. */
static void who_is_gone_when_all_have_come_is_waited_for_again(void **state) {
  uint8_t letter[VV_LETTER_JOIN_BYTES];
  const int on = 1;
  (void)state;
  start(0, 2);
  const int fd = dial();
  assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on), 0);
  join_with(fd, 1, 2, letter);
  close(fd);
  start(1, 2);
  for (uint32_t rank = 0; rank < 2; rank++) assert_int_equal(finish(rank), 0);
  part(2);
}

/* An earlier rank 0, which ends before all are there, and the one that is started in its stead. */
static void rank_0_that_is_started_again_is_found(void **state) {
  (void)state;
  struct vv_address at = place;
  const int listener = vv_socket_listening(&at, vv_address_port(&at), vv_address_port(&at), 8, &ignored);
  start(1, 2);
  close(accept(listener, NULL, NULL));
  close(listener);
  start(0, 2);
  assert_int_equal(finish(0), 0);
  assert_int_equal(finish(1), 0);
  part(2);
}

/* Comes to `listener`, and finds nobody; when, in ns. */
static vv_ns be_left_alone(int listener) {
  const int fd = accept(listener, NULL, NULL);
  const vv_ns now_ns = vv_clock_ns();
  close(fd);
  return now_ns;
}

/* Who was not answered comes again in its time, 20 ms, or when it is rung for: never sooner without. */
static void who_finds_nobody_comes_again_when_rank_0_rings(void **state) {
  (void)state;
  vv_ns soonest_ns[2] = {VV_SEC, VV_SEC};
  struct vv_address at = place;
  const uint8_t another[VV_KEY_BYTES] = {5};
  const int listener = vv_socket_listening(&at, vv_address_port(&at), vv_address_port(&at), 8, &ignored);
  start(1, 2);
  be_left_alone(listener); /* and is visited again at once */
  for (int i = 0; i < 200 && soonest_ns[1] > 19 * VV_MS; i++) {
    const vv_ns left_ns = be_left_alone(listener);
    poll(NULL, 0, 2);
    vv_bell_ring(&place, i % 4 == 1 ? key : another);
    const vv_ns again_ns = be_left_alone(listener) - left_ns;
    if (again_ns < soonest_ns[i % 4 == 1]) soonest_ns[i % 4 == 1] = again_ns;
    be_left_alone(listener);
  }
  assert_true(soonest_ns[1] <= 19 * VV_MS);
  assert_true(soonest_ns[0] > 19 * VV_MS);
  close(listener);
  start(0, 2);
  assert_int_equal(finish(0), 0);
  assert_int_equal(finish(1), 0);
  part(2);
}

static void two_of_one_rank_are_told_to_all(void **state) {
  (void)state;
  start(0, 4); /* rank 3 never comes: all wait */
  start(2, 4);
  const int first = join_by_hand(1, 4), second = join_by_hand(1, 4);
  assert_failed(0, "rank-taken");
  assert_failed(2, "rank-taken");
  uint8_t letter[VV_LETTER_REFUSAL_BYTES], nonce[VV_LETTER_NONCE_BYTES] = {9};
  struct vv_letter_refusal refusal;
  hear_all(first, letter, sizeof letter);
  assert_true(vv_letter_refusal_parse(key, nonce, letter, &refusal) && refusal.rank == 1);
  hear_all(second, letter, sizeof letter);
  assert_true(vv_letter_refusal_parse(key, nonce, letter, &refusal) && refusal.why == VV_LETTER_TAKEN);
  close(first);
  close(second);
}

static void unequal_groups_are_told_to_all(void **state) {
  (void)state;
  start(0, 3);
  start(1, 3);
  start(2, 4);
  assert_failed(0, "ranks-differ");
  assert_failed(1, "ranks-differ");
  assert_failed(2, "ranks-differ");
}

/* The one test that waits for a time-out: rank 0's, which all others hear of. Who came and left is not to blame. */
static void who_does_not_come_is_named_to_all(void **state) {
  (void)state;
  ranks[0] = (struct rank){.config = config_of(0, 4), .patience_ms = 5000};
  pthread_create(&ranks[0].thread, NULL, go_to_meeting, &ranks[0]);
  start(1, 4);
  close(join_by_hand(3, 4));
  for (uint32_t rank = 0; rank < 2; rank++) {
    assert_failed(rank, "timeout");
    assert_non_null(strstr(ranks[rank].error.text, "1 of 4 ranks"));
    assert_non_null(strstr(ranks[rank].error.text, "rank 2"));
  }
}

/* Notes */

/* Rank 0 of 2, and rank 1 by hand. */
static int meet_by_hand(uint8_t session_key[VV_KEY_BYTES]) {
  start(0, 2);
  const int fd = join_by_hand(1, 2);
  be_welcomed(fd, session_key);
  assert_int_equal(finish(0), 0);
  return fd;
}

static void write_note(const uint8_t session_key[VV_KEY_BYTES], uint32_t number, uint8_t bytes[VV_LETTER_NOTE_BYTES]) {
  const struct vv_letter_note note = {VV_LETTER_VALUES, {7, 8, 9, 10}};
  vv_letter_note_emit(session_key, &(struct vv_letter_way){1, 0, number}, &note, bytes);
}

static struct pollfd await_input(void) {
  struct pollfd one = {.fd = ranks[0].meeting.links[1].fd, .events = POLLIN};
  assert_int_equal(poll(&one, 1, PATIENCE_MS), 1);
  return one;
}

/* Neither does it keep who waits awake, nor does it hide the end. */
static void a_note_that_is_not_whole_is_waited_for(void **state) {
  (void)state;
  uint8_t session_key[VV_KEY_BYTES], bytes[VV_LETTER_NOTE_BYTES];
  struct vv_letter_note note;
  const int fd = meet_by_hand(session_key);
  write_note(session_key, 0, bytes);
  vv_socket_write_all(fd, bytes, 5);
  struct pollfd one = await_input();
  assert_true(vv_meeting_hear(&ranks[0].meeting, 1, &note));
  assert_int_equal(note.kind, VV_LETTER_NOTHING);
  assert_int_equal(poll(&one, 1, 0), 0);
  vv_socket_write_all(fd, bytes + 5, sizeof bytes - 5);
  await_input();
  assert_true(vv_meeting_hear(&ranks[0].meeting, 1, &note));
  assert_int_equal(note.numbers[3], 10);
  write_note(session_key, 1, bytes);
  vv_socket_write_all(fd, bytes, 5);
  close(fd);
  await_input();
  while (vv_meeting_hear(&ranks[0].meeting, 1, &note)) assert_int_equal(note.kind, VV_LETTER_NOTHING);
  assert_int_equal(ranks[0].meeting.links[1].fd, -1);
  part(1);
}

/* Of an earlier meeting; without a key; the same again. Each ends the link. */
static void a_note_is_of_this_session_and_good_once(void **state) {
  (void)state;
  uint8_t earlier_key[VV_KEY_BYTES], session_key[VV_KEY_BYTES], bytes[VV_LETTER_NOTE_BYTES];
  struct vv_letter_note note;
  close(meet_by_hand(earlier_key));
  part(1);
  for (int attempt = 0; attempt < 3; attempt++) {
    const int fd = meet_by_hand(session_key);
    assert_memory_not_equal(earlier_key, session_key, sizeof session_key);
    write_note(attempt == 0 ? earlier_key : attempt == 1 ? key : session_key, 0, bytes);
    vv_socket_write_all(fd, bytes, sizeof bytes);
    await_input();
    assert_int_equal(vv_meeting_hear(&ranks[0].meeting, 1, &note), attempt == 2);
    assert_int_equal(note.kind, attempt == 2 ? VV_LETTER_VALUES : VV_LETTER_NOTHING);
    if (attempt == 2) vv_socket_write_all(fd, bytes, sizeof bytes);
    if (attempt == 2) await_input();
    assert_false(vv_meeting_hear(&ranks[0].meeting, 1, &note));
    close(fd);
    part(1);
  }
}

static int count_readable(int fd) {
  int bytes = 0;
  assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
  return bytes;
}

/* What is told in one turn goes together, in its order, and no later than when there is room for no more. */
static void notes_are_sent_together(void **state) {
  enum { MANY = VV_MEETING_NOTES_AT_ONCE + 1, BYTES = VV_LETTER_NOTE_BYTES };
  (void)state;
  meet(2);
  const int fd = ranks[1].meeting.links[0].fd;
  struct vv_letter_note note = {VV_LETTER_WORD, {0}};
  for (uint32_t i = 0; i < MANY; i++) {
    note.numbers[0] = i;
    vv_meeting_tell(&ranks[0].meeting, &note);
    assert_int_equal(count_readable(fd), i < MANY - 1 ? 0 : (MANY - 1) * BYTES);
  }
  vv_meeting_send(&ranks[0].meeting);
  vv_meeting_send(&ranks[0].meeting);
  assert_int_equal(count_readable(fd), MANY * BYTES);
  for (uint32_t i = 0; i < MANY; i++) {
    assert_true(vv_meeting_hear(&ranks[1].meeting, 0, &note));
    assert_int_equal(note.numbers[0], i);
  }
  part(2);
}

/* Rank 1 never answers, and is before rank 3 in any order: the death of rank 3 is known at once for all that. */
static void who_dies_while_others_agree_is_named_to_all_at_once(void **state) {
  (void)state;
  meet(4);
  for (uint32_t rank = 0; rank < 4; rank += 2) pthread_create(&ranks[rank].thread, NULL, agree, &ranks[rank]);
  vv_meeting_close(&ranks[3].meeting);
  for (uint32_t rank = 0; rank < 4; rank += 2) {
    assert_int_equal(finish(rank), -1);
    assert_string_equal(ranks[rank].error.code, "rank-died");
    assert_int_equal(ranks[rank].meeting.lost, 3);
  }
  part(3);
}

static void who_gives_up_is_named_to_all(void **state) {
  (void)state;
  meet(3);
  for (uint32_t rank = 0; rank < 2; rank++) pthread_create(&ranks[rank].thread, NULL, agree, &ranks[rank]);
  const struct vv_letter_note gave_up = vv_letter_lost(&(struct vv_letter_refusal){VV_LETTER_GAVE_UP, 2, 0});
  vv_meeting_tell(&ranks[2].meeting, &gave_up);
  vv_meeting_send(&ranks[2].meeting);
  for (uint32_t rank = 0; rank < 2; rank++) {
    assert_int_equal(finish(rank), -1);
    assert_string_equal(ranks[rank].error.code, "rank-failed");
    assert_int_equal(ranks[rank].meeting.lost, 2);
  }
  part(3);
}

/* Descriptors */

/* Rank 0 in a process of its own, which may have so many; 0: it has met the others. */
static pid_t start_host(uint32_t count, rlim_t soft, rlim_t hard) {
  const pid_t host = fork();
  if (host != 0) return host;
  const struct rlimit limit = {soft, hard};
  struct vv_error error = {0};
  const struct vv_meeting_config config = config_of(0, count);
  setrlimit(RLIMIT_NOFILE, &limit);
  const int result = vv_meeting_open(&ranks[0].meeting, &config, vv_clock_ns() + PATIENCE_MS * 1000000LL, &error);
  const bool full = result != 0 && strcmp(error.code, "no-descriptors") == 0;
  vv_meeting_close(&ranks[0].meeting);
  _exit(result == 0 ? 0 : full ? 1 : 2);
}

static int status_of(pid_t process) {
  int status = -1;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_soft_limit_of_descriptors_is_raised(void **state) {
  (void)state;
  const pid_t host = start_host(RANKS_MAX, 64, 512);
  for (uint32_t rank = 1; rank < RANKS_MAX; rank++) start(rank, RANKS_MAX);
  for (uint32_t rank = 1; rank < RANKS_MAX; rank++) {
    assert_int_equal(finish(rank), 0);
    vv_meeting_close(&ranks[rank].meeting);
  }
  assert_int_equal(status_of(host), 0);
}

static void too_few_descriptors_are_told_to_all(void **state) {
  (void)state;
  enum { COUNT = 40 };
  const pid_t host = start_host(COUNT, 40, 40);
  for (uint32_t rank = 1; rank < COUNT; rank++) start(rank, COUNT);
  for (uint32_t rank = 1; rank < COUNT; rank++) assert_failed(rank, "no-descriptors");
  assert_int_equal(status_of(host), 1);
}

#define EACH(test) cmocka_unit_test_setup(test, find_place)

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(all_meet_and_agree),
      EACH(each_meeting_has_a_key_of_its_own_and_forgets_it),
      EACH(a_join_is_good_once),
      EACH(strangers_neither_get_in_nor_keep_others_out),
      EACH(a_rank_that_is_started_again_takes_its_place),
      EACH(who_is_gone_when_all_have_come_is_waited_for_again),
      EACH(rank_0_that_is_started_again_is_found),
      EACH(who_finds_nobody_comes_again_when_rank_0_rings),
      EACH(two_of_one_rank_are_told_to_all),
      EACH(unequal_groups_are_told_to_all),
      EACH(who_does_not_come_is_named_to_all),
      EACH(a_note_that_is_not_whole_is_waited_for),
      EACH(a_note_is_of_this_session_and_good_once),
      EACH(notes_are_sent_together),
      EACH(who_dies_while_others_agree_is_named_to_all_at_once),
      EACH(who_gives_up_is_named_to_all),
      EACH(a_soft_limit_of_descriptors_is_raised),
      EACH(too_few_descriptors_are_told_to_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
