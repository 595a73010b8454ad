/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of two ranks that send each other a message and get it back, by a road of the job (TCP) and by broadcasts
 * (group's own protocol over UDP) in turn:
 *
 *   road RANK ADDRESS MEETING
 *
 * Each line "SIZE SAMPLES" on standard input is done by both ranks. Rank 0 says "took ROAD CAST", the mean round trips
 * in ns; a call that fails says "failed TEXT".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vaiven/group.h"

enum way { ROAD, CAST, WAYS };

static struct vv_group *group;
static struct vv_group_problem problem;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* One message from rank `from` to the other. */
static int carry(enum way way, uint32_t rank, uint32_t from, char *message, size_t size) {
  if (way == CAST) return vv_group_broadcast(group, from, message, size, &problem);
  if (rank == from) return vv_group_send(group, 1 - rank, message, size, &problem);
  return vv_group_take(group, from, message, size, NULL, &problem);
}

/* The mean round trips, of which the first of each way is not counted. */
static int exchange(uint32_t rank, char *message, size_t size, long samples) {
  int64_t spent_ns[WAYS] = {0};
  for (long i = -1; i < samples; i++) {
    for (enum way way = ROAD; way < WAYS; way++) {
      const int64_t began_ns = now_ns();
      if (carry(way, rank, 0, message, size) != 0 || carry(way, rank, 1, message, size) != 0) return -1;
      if (i >= 0) spent_ns[way] += now_ns() - began_ns;
    }
  }
  if (rank == 0) printf("took %" PRId64 " %" PRId64 "\n", spent_ns[ROAD] / samples, spent_ns[CAST] / samples);
  return 0;
}

int main(int argc, char **argv) {
  struct vv_group_config config = {VV_GROUP_CONFIG, .ranks = 2, .timeout_ms = 10000};
  char line[64], *rest;
  if (argc != 4) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  config.rank = (uint32_t)atoi(argv[1]);
  config.address = argv[2];
  config.meeting = argv[3];
  memset(config.key, 7, sizeof config.key);
  group = vv_group_open(&config, &problem);
  if (!group) return printf("failed %s\n", problem.text), 1;
  while (fgets(line, sizeof line, stdin)) {
    const size_t size = strtoul(line, &rest, 10);
    char *message = calloc(1, size);
    if (!message) return 1;
    if (exchange(config.rank, message, size, strtol(rest, NULL, 10)) != 0)
      return printf("failed %s\n", problem.text), 1;
    free(message);
  }
  vv_group_leave(group);
  return 0;
}
