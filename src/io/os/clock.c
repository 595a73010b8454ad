/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/clock.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define READINGS 2001

static int64_t read_ns(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t vv_clock_ns(void) {
  return read_ns(CLOCK_MONOTONIC);
}

int vv_clock_left_ms(int64_t deadline_ns) {
  const int64_t left_ns = deadline_ns - vv_clock_ns();
  if (left_ns <= 0) return 0;
  return left_ns > 1000000000 ? 1000 : (int)((left_ns + 999999) / 1000000);
}

int64_t vv_clock_cpu_ns(void) {
  return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t vv_clock_real_ns(void) {
  return read_ns(CLOCK_REALTIME);
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The median distance of successive readings: what a pair of them adds to an interval. */
static int64_t cost_ns(int64_t (*clock)(void)) {
  static int64_t step_ns[READINGS - 1];
  int64_t before_ns = clock();
  for (int i = 0; i < READINGS - 1; i++) {
    int64_t now_ns = clock();
    step_ns[i] = now_ns - before_ns;
    before_ns = now_ns;
  }
  qsort(step_ns, READINGS - 1, sizeof step_ns[0], by_value);
  return step_ns[(READINGS - 1) / 2];
}

/* A coarse clock stands still between its steps: the smallest one that it is seen to take is its quantum. */
static int64_t smallest_step_ns(void) {
  int64_t smallest_ns = INT64_MAX, before_ns = vv_clock_ns();
  for (int i = 0; i < READINGS || smallest_ns == INT64_MAX; i++) {
    int64_t now_ns = vv_clock_ns(), step_ns = now_ns - before_ns;
    if (step_ns > 0 && step_ns < smallest_ns) smallest_ns = step_ns;
    before_ns = now_ns;
  }
  return smallest_ns;
}

/* A step that is no longer than a reading takes says nothing about the clock: then the kernel's word stands. */
static int64_t quantum_ns(int64_t reading_ns) {
  int64_t seen_ns = smallest_step_ns();
  struct timespec told;
  bool fine = seen_ns <= 2 * reading_ns + 100 && clock_getres(CLOCK_MONOTONIC, &told) == 0;
  return fine ? (int64_t)told.tv_sec * 1000000000 + told.tv_nsec : seen_ns;
}

struct vv_clock_quality vv_clock_measure(void) {
  int64_t reading_ns = cost_ns(vv_clock_ns);
  return (struct vv_clock_quality){.resolution_ns = quantum_ns(reading_ns), .cost_ns = reading_ns};
}

int64_t vv_clock_cpu_cost_ns(void) {
  static int64_t known_ns = -1;
  if (known_ns < 0) known_ns = cost_ns(vv_clock_cpu_ns);
  return known_ns;
}
