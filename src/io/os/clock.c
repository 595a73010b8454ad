/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/clock.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define READINGS 2001

static vv_ns read_ns(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return now.tv_sec * VV_SEC + now.tv_nsec;
}

vv_ns vv_clock_ns(void) {
  return read_ns(CLOCK_MONOTONIC);
}

int vv_clock_left_ms(vv_ns deadline_ns) {
  const vv_ns left_ns = deadline_ns - vv_clock_ns();
  if (left_ns <= 0) return 0;
  return (int)(((left_ns < VV_SEC ? left_ns : VV_SEC) + VV_MS - 1) / VV_MS);
}

vv_ns vv_clock_cpu_ns(void) {
  return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

vv_ns vv_clock_real_ns(void) {
  return read_ns(CLOCK_REALTIME);
}

static int by_value(const void *a, const void *b) {
  vv_ns x = *(const vv_ns *)a, y = *(const vv_ns *)b;
  return (x > y) - (x < y);
}

/* The median distance of successive readings: what a pair of them adds to an interval. */
static vv_ns cost_ns(vv_ns (*clock)(void)) {
  static vv_ns step_ns[READINGS - 1];
  vv_ns before_ns = clock();
  for (int i = 0; i < READINGS - 1; i++) {
    vv_ns now_ns = clock();
    step_ns[i] = now_ns - before_ns;
    before_ns = now_ns;
  }
  qsort(step_ns, READINGS - 1, sizeof step_ns[0], by_value);
  return step_ns[(READINGS - 1) / 2];
}

/* A coarse clock stands still between its steps: the smallest one that it is seen to take is its quantum. */
static vv_ns smallest_step_ns(void) {
  vv_ns smallest_ns = VV_NEVER, before_ns = vv_clock_ns();
  for (int i = 0; i < READINGS || smallest_ns == VV_NEVER; i++) {
    vv_ns now_ns = vv_clock_ns(), step_ns = now_ns - before_ns;
    if (step_ns > 0 && step_ns < smallest_ns) smallest_ns = step_ns;
    before_ns = now_ns;
  }
  return smallest_ns;
}

/* A step that is no longer than a reading takes says nothing about the clock: then the kernel's word stands. */
static vv_ns quantum_ns(vv_ns reading_ns) {
  vv_ns seen_ns = smallest_step_ns();
  struct timespec told;
  bool fine = seen_ns <= 2 * reading_ns + 100 && clock_getres(CLOCK_MONOTONIC, &told) == 0;
  return fine ? told.tv_sec * VV_SEC + told.tv_nsec : seen_ns;
}

struct vv_clock_quality vv_clock_measure(void) {
  vv_ns reading_ns = cost_ns(vv_clock_ns);
  return (struct vv_clock_quality){.resolution_ns = quantum_ns(reading_ns), .cost_ns = reading_ns};
}

vv_ns vv_clock_cpu_cost_ns(void) {
  static vv_ns known_ns = -1;
  if (known_ns < 0) known_ns = cost_ns(vv_clock_cpu_ns);
  return known_ns;
}
