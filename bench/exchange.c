/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of some ranks of which each has bytes for all others, in a loop: by datagrams of UDP multicast that nobody asks
 * for again, and by an allgather of a group, in turn:
 *
 *   exchange RANKS RANK ADDRESS MEETING spin|sleep
 *
 * Each line "SIZE LOOPS" on standard input is done by all ranks. Each says "took RAW OURS LOST": the mean times of one
 * exchange in ns, from when all had begun until this rank had done its last, and how many raw ones were given up
 * because a datagram did not come. A call that fails says "failed TEXT".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vaiven/coll.h"

#define RAW_GROUP  "239.195.7.7"
#define RAW_PORT   7411
#define GIVE_UP_NS 100000000
enum { SIZE_MAX_BYTES = 1400, SIZE_MIN_BYTES = 4 };

static struct vv_group *group;
static struct vv_group_problem problem;
static uint32_t ranks;
static bool spins;
static int raw_fd;
static struct sockaddr_in raw_to;
static uint32_t turn;       /* of all raw exchanges */
static uint32_t came, next; /* datagrams of this one, and already of the next: nobody is further */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int open_raw(const char *address) {
  const int on = 1, room = 1 << 20;
  const unsigned char off = 0;
  const struct timeval most = {.tv_usec = GIVE_UP_NS / 1000};
  struct ip_mreq member;
  raw_fd = socket(AF_INET, SOCK_DGRAM, 0);
  raw_to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(RAW_PORT)};
  inet_pton(AF_INET, RAW_GROUP, &raw_to.sin_addr);
  member.imr_multiaddr = raw_to.sin_addr;
  inet_pton(AF_INET, address, &member.imr_interface);
  setsockopt(raw_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(raw_fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(raw_fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  setsockopt(raw_fd, IPPROTO_IP, IP_MULTICAST_IF, &member.imr_interface, sizeof member.imr_interface);
  setsockopt(raw_fd, IPPROTO_IP, IP_MULTICAST_LOOP, &off, sizeof off);
  if (setsockopt(raw_fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof member) != 0) return -1;
  return bind(raw_fd, (struct sockaddr *)&raw_to, sizeof raw_to);
}

/* Takes one datagram, or waits for it, or finds none. */
static void take_raw(void) {
  uint8_t bytes[SIZE_MAX_BYTES];
  uint32_t its;
  const ssize_t got = recv(raw_fd, bytes, sizeof bytes, spins ? MSG_DONTWAIT : 0);
  if (got < (ssize_t)sizeof its) {
    if (spins) sched_yield();
    return;
  }
  memcpy(&its, bytes, sizeof its);
  came += its == turn;
  next += its == turn + 1;
}

/* True: the datagrams of all others came. */
static bool exchange_raw(const uint8_t *given, size_t size) {
  uint8_t bytes[SIZE_MAX_BYTES];
  turn++;
  came = next;
  next = 0;
  memcpy(bytes, given, size);
  memcpy(bytes, &turn, sizeof turn);
  const int64_t until_ns = now_ns() + GIVE_UP_NS;
  sendto(raw_fd, bytes, size, 0, (struct sockaddr *)&raw_to, sizeof raw_to);
  while (came < ranks - 1 && now_ns() < until_ns) take_raw();
  return came == ranks - 1;
}

static int meet(void) {
  const struct vv_coll_call call = {VV_COLL_CALL, .kind = VV_COLL_BARRIER};
  return vv_coll(group, &call, &problem);
}

static int exchange_ours(const uint8_t *given, uint8_t *result, size_t size) {
  const struct vv_coll_call call = {VV_COLL_CALL,  .kind = VV_COLL_ALLGATHER, .given = given, .result = result,
                                    .count = size, .type = VV_DATA_CHAR};
  return vv_coll(group, &call, &problem);
}

/* Byte i of what that rank gives. */
static uint8_t byte_of(uint32_t rank, size_t i) {
  return (uint8_t)(31 * rank + i);
}

static bool is_right(const uint8_t *result, size_t size) {
  for (uint32_t rank = 0; rank < ranks; rank++) {
    for (size_t i = 0; i < size; i++) {
      if (result[rank * size + i] != byte_of(rank, i)) return false;
    }
  }
  return true;
}

static int loop(uint32_t rank, size_t size, long loops) {
  static uint8_t given[SIZE_MAX_BYTES];
  uint8_t *result = calloc(ranks, size);
  long lost = 0;
  int failed = result == NULL || meet() != 0;
  for (size_t i = 0; i < size; i++) given[i] = byte_of(rank, i);
  const int64_t raw_ns = now_ns();
  for (long i = 0; i < loops && !failed; i++) lost += !exchange_raw(given, size);
  const int64_t between_ns = now_ns();
  failed = failed || meet() != 0;
  const int64_t ours_ns = now_ns();
  for (long i = 0; i < loops && !failed; i++) failed = exchange_ours(given, result, size) != 0;
  const int64_t end_ns = now_ns();
  failed = failed || !is_right(result, size);
  if (!failed) {
    printf("took %" PRId64 " %" PRId64 " %ld\n", (between_ns - raw_ns) / loops, (end_ns - ours_ns) / loops, lost);
  }
  free(result);
  return failed ? -1 : 0;
}

int main(int argc, char **argv) {
  struct vv_group_config config = {VV_GROUP_CONFIG, .timeout_ms = 20000};
  char line[64], *rest;
  if (argc != 6) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  config.ranks = ranks = (uint32_t)atoi(argv[1]);
  config.rank = (uint32_t)atoi(argv[2]);
  config.address = argv[3];
  config.meeting = argv[4];
  config.spin = spins = strcmp(argv[5], "spin") == 0;
  memset(config.key, 7, sizeof config.key);
  if (open_raw(config.address) != 0) return printf("failed %s\n", strerror(errno)), 1;
  group = vv_group_open(&config, &problem);
  if (!group) return printf("failed %s\n", problem.text), 1;
  while (fgets(line, sizeof line, stdin)) {
    const size_t size = strtoul(line, &rest, 10);
    const long loops = strtol(rest, NULL, 10);
    if (size < SIZE_MIN_BYTES || size > SIZE_MAX_BYTES || loops < 1) return 2;
    if (loop(config.rank, size, loops) != 0) return printf("failed %s\n", problem.text), 1;
  }
  vv_group_leave(group);
  return 0;
}
