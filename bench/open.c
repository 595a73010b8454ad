/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank of groups that are opened and left, again and again, at instants that are common to all:
 *
 *   open RANKS RANK ADDRESS MEETING
 *
 * Each line on standard input is an instant, CLOCK_MONOTONIC in ns. The rank opens a group then, says
 * "opened FROM TO" (ns, the call and its return) or "failed TEXT", and leaves it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vaiven/group.h"

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char **argv) {
  struct vv_group_config config = {VV_GROUP_CONFIG, .timeout_ms = 10000};
  struct vv_group_problem problem;
  char line[64];
  if (argc != 5) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  config.ranks = (uint32_t)atoi(argv[1]);
  config.rank = (uint32_t)atoi(argv[2]);
  config.address = argv[3];
  config.meeting = argv[4];
  memset(config.key, 7, sizeof config.key);
  while (fgets(line, sizeof line, stdin)) {
    const int64_t at_ns = strtoll(line, NULL, 10);
    const struct timespec at = {at_ns / 1000000000, at_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) continue;
    const int64_t from_ns = now_ns();
    struct vv_group *end = vv_group_open(&config, &problem);
    const int64_t to_ns = now_ns();
    if (!end) return printf("failed %s\n", problem.text), 1;
    printf("opened %" PRId64 " %" PRId64 "\n", from_ns, to_ns);
    vv_group_leave(end);
  }
  return 0;
}
