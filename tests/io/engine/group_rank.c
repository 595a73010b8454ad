/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank of a group, told what to do by lines on standard input:
 *
 *   group_rank RANKS RANK ADDRESS MEETING KEY-BYTE ROUTE [TIMEOUT-MS]
 *
 *   cast ROOT SIZE SEED    a broadcast of that pattern; says "done MICROSECONDS", or "wrong" at a receiver; the same
 *                          once more goes on with one that was "stopped"
 *   naps MANY SIZE SEED    so many broadcasts, roots and sizes (to SIZE) drawn from the seed; before one in four
 *                          this rank sleeps for up to 30 ms; says "napped BYTES", of all messages
 *   among RANK,RANK,...    makes a group of those ranks, in which it takes part from now on; says "made"
 *   drop                   leaves that group; says "dropped"
 *   groups MANY            makes and leaves a group of all ranks so often; says "grouped MICROSECONDS"
 *   patience WAITS         its calls are broken off when they have waited so often
 *   counts                 says "counts GIVEN ASKED CPU FOREIGN": CPU is what its thread has had of a processor, in ns
 *   child                  starts a program that outlives it; says "child PID"
 *   stop                   says "stopping" and stops, all threads of it, until a line "go"
 *   leave                  leaves in order; says "left"
 *
 * The first line that it says is "open ROUTE". A call that fails says "failed CODE RANK TEXT" and ends it.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vaiven/group.h"

static uint8_t *buffer;
static uint32_t patience = UINT32_MAX; /* waits */

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The bytes of a message: another one for every seed and place, the same on every machine. */
static uint8_t pattern(uint32_t seed, size_t i) {
  const uint32_t x = (seed * 2654435761u) ^ (uint32_t)(i * 40503u);
  return (uint8_t)(x >> 13);
}

static int failed(const struct vv_group_problem *problem) {
  printf("failed %s %" PRId64 " %s\n", problem->code, problem->rank, problem->text);
  return 1;
}

/* A group of the ranks in that list, and which of them this one is. NULL: it failed, and was said. */
static struct vv_group *make(struct vv_group *end, uint32_t *rank, const char *list) {
  struct vv_group_problem problem;
  uint32_t ranks[VV_GROUP_RANKS_MAX], count = 0, own = 0;
  for (const char *at = list; at && count < VV_GROUP_RANKS_MAX; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    ranks[count] = (uint32_t)atoi(at);
    if (ranks[count] == *rank) own = count;
    count++;
  }
  struct vv_group *made = vv_group_among(end, ranks, count, &problem);
  *rank = own;
  if (!made) failed(&problem);
  return made;
}

static int make_often(struct vv_group *end, const struct vv_group_config *config, uint32_t many) {
  struct vv_group_problem problem;
  uint32_t ranks[VV_GROUP_RANKS_MAX];
  for (uint32_t i = 0; i < config->ranks; i++) ranks[i] = i;
  const int64_t begin_us = now_us();
  for (uint32_t n = 0; n < many; n++) {
    struct vv_group *made = vv_group_among(end, ranks, config->ranks, &problem);
    if (!made) return failed(&problem);
    vv_group_leave(made);
  }
  printf("grouped %" PRId64 "\n", now_us() - begin_us);
  return 0;
}

static int cast(struct vv_group *end, uint32_t rank, uint32_t root, size_t size, uint32_t seed) {
  struct vv_group_problem problem;
  for (size_t i = 0; i < size; i++) buffer[i] = rank == root ? pattern(seed, i) : 0xa5;
  const int64_t begin_us = now_us();
  const int result = vv_group_broadcast(end, root, buffer, size, &problem);
  if (result == VV_GROUP_STOPPED) return puts("stopped") < 0;
  if (result != 0) return failed(&problem);
  const int64_t spent_us = now_us() - begin_us;
  for (size_t i = 0; i < size; i++) {
    if (buffer[i] != pattern(seed, i)) return printf("wrong at %zu of %zu\n", i, size), 1;
  }
  printf("done %" PRId64 "\n", spent_us);
  return 0;
}

/* The next number of a sequence, below `end`. */
static uint32_t draw(uint64_t *sequence, uint32_t end) {
  *sequence = *sequence * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((*sequence >> 33) % end);
}

/* What is drawn for all is the same at all ranks; who sleeps, and for how long, is each one's own. */
static int nap(struct vv_group *end, const struct vv_group_config *config, uint32_t many, uint32_t size_max,
               uint32_t seed) {
  struct vv_group_problem problem;
  uint64_t all = seed, own = ((uint64_t)seed << 32) + config->rank, bytes = 0;
  for (uint32_t n = 0; n < many; n++) {
    const uint32_t root = draw(&all, config->ranks), size = draw(&all, size_max + 1);
    if (draw(&own, 4) == 0) usleep(draw(&own, 30000));
    for (uint32_t i = 0; i < size; i += 997) buffer[i] = config->rank == root ? pattern(n, i) : 0xa5;
    if (vv_group_broadcast(end, root, buffer, size, &problem) != 0) return failed(&problem);
    for (uint32_t i = 0; i < size; i += 997) {
      if (buffer[i] != pattern(n, i)) return printf("wrong at %u of %u\n", i, size), 1;
    }
    bytes += size;
  }
  printf("napped %" PRIu64 "\n", bytes);
  return 0;
}

static int counts(const struct vv_group *end) {
  uint64_t given, asked;
  vv_group_repairs(end, &given, &asked);
  struct timespec had;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &had);
  printf("counts %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIu64 "\n", given, asked,
         (int64_t)had.tv_sec * 1000000000 + had.tv_nsec, vv_group_foreign(end));
  return 0;
}

/* A process of its own reads the "go": this one does not run. */
static int stop(void) {
  const pid_t self = getpid();
  const pid_t waker = fork();
  if (waker == 0) {
    char line[3];
    const ssize_t got = read(STDIN_FILENO, line, sizeof line);
    kill(self, SIGCONT);
    _exit(got == sizeof line ? 0 : 1);
  }
  puts("stopping");
  raise(SIGSTOP);
  return waitpid(waker, NULL, 0) == waker ? 0 : 1;
}

/* Another program, that has all that a program started by this one is given. */
static int child(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (int fd = 0; fd < 3; fd++) close(fd); /* who reads what this rank says waits for it no longer */
    execlp("sleep", "sleep", "600", (char *)NULL);
    _exit(1);
  }
  printf("child %d\n", (int)pid);
  return pid < 0;
}

static bool has_no_patience(void *context) {
  (void)context;
  if (patience == 0) return true;
  patience--;
  return false;
}

static void notice(void *context, const char *text) {
  (void)context;
  fprintf(stderr, "%s\n", text);
}

/* 0: go on; 1: it failed; 2: it has left. */
static int obey(struct vv_group *end, const struct vv_group_config *config, const char *line) {
  static struct vv_group *made; /* of some ranks */
  static uint32_t own;          /* this one's in it */
  uint32_t root, seed, many, most;
  size_t size;
  if (sscanf(line, "cast %" SCNu32 " %zu %" SCNu32, &root, &size, &seed) == 3) {
    return made ? cast(made, own, root, size, seed) : cast(end, config->rank, root, size, seed);
  }
  if (strncmp(line, "among ", 6) == 0) {
    own = config->rank;
    made = make(end, &own, line + 6);
    return made ? puts("made") < 0 : 1;
  }
  if (strcmp(line, "drop\n") == 0) {
    vv_group_leave(made);
    made = NULL;
    return puts("dropped") < 0;
  }
  if (sscanf(line, "groups %" SCNu32, &many) == 1) return make_often(end, config, many);
  if (sscanf(line, "naps %" SCNu32 " %" SCNu32 " %" SCNu32, &many, &most, &seed) == 3) {
    return nap(end, config, many, most, seed);
  }
  if (sscanf(line, "patience %" SCNu32, &patience) == 1) return 0;
  if (strcmp(line, "counts\n") == 0) return counts(end);
  if (strcmp(line, "child\n") == 0) return child();
  if (strcmp(line, "stop\n") == 0) return stop();
  return strcmp(line, "leave\n") == 0 ? 2 : 1;
}

int main(int argc, char **argv) {
  static const char *const routes[] = {"any", "multicast", "broadcast", "unicast"};
  struct vv_group_problem problem;
  struct vv_group_config config = {VV_GROUP_CONFIG, .timeout_ms = 60000, .notice = notice, .stop = has_no_patience};
  char line[200];
  if (argc < 7) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  buffer = malloc((size_t)64 << 20);
  config.ranks = (uint32_t)atoi(argv[1]);
  config.rank = (uint32_t)atoi(argv[2]);
  config.address = argv[3];
  config.meeting = argv[4];
  memset(config.key, atoi(argv[5]), sizeof config.key);
  if (argc > 7) config.timeout_ms = (uint32_t)atoi(argv[7]);
  while (strcmp(routes[config.route], argv[6]) != 0) config.route++;
  struct vv_group *end = vv_group_open(&config, &problem);
  if (!end) return failed(&problem);
  printf("open %s", routes[vv_group_route_of(end)]);
  if (vv_group_shared_bps(end) > 0) printf(" shared %" PRIu64, vv_group_shared_bps(end));
  puts("");
  int result = 0;
  while (result == 0 && fgets(line, sizeof line, stdin)) result = obey(end, &config, line);
  if (result != 2) return 1; /* without a word: the others see a rank that has died */
  vv_group_leave(end);
  puts("left");
  free(buffer);
  return 0;
}
