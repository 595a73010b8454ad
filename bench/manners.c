/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts as programs call them: a program of any MPI, which knows of no group. Rank 0
 * prints "name ns" for what argv[1] names, of argv[2] bytes where that matters.
 *
 *   skewed    ranks come up to 20 ms apart: from the last that comes to the last that has it, the median
 *   back      one root, again and again: each
 *   rotating  each rank in turn: each
 *   begun     MPI_Ibcast and MPI_Wait: as skewed, but all come at once
 *   first     the first broadcast of the job, all come at once
 *   further   a copy of MPI_COMM_WORLD, a broadcast on it, and its end: each
 *   parted    one of all ranks of it but the last, likewise
 *   unlike    one of all ranks of it but one, each time another one, likewise
 *   left      a broadcast of 1 B of a communicator of one host, which stays with the MPI, at its root: the median call.
 *             With one rank of MPI_COMM_SELF's copy, for nobody else is there
 *   init      MPI_Init, at the rank that is in it longest
 *
 * Hosts of a lab have one clock.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timed.h"

enum { TIMES = 15, LOOP = 20, BATCH = 32, BATCHES = 2000, SKEW_US = 20000 };

static char *bytes;
static int size_bytes, rank, ranks;

static void cast(int root) {
  MPI_Bcast(bytes, size_bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void begun_cast(int root) {
  MPI_Request request;
  MPI_Ibcast(bytes, size_bytes, MPI_BYTE, root, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* From the last that comes to the last that is through. */
static double from_last(void (*does)(int root), int skew_us) {
  double took[TIMES];
  unsigned drawn = (unsigned)rank + 1;
  does(0); /* the first makes connections */
  for (int n = 0; n < TIMES; n++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const int late_us = skew_us > 0 ? rand_r(&drawn) % skew_us : 0;
    nanosleep(&(struct timespec){.tv_nsec = late_us * 1000L}, NULL);
    const double came_ns = now_ns();
    does(n % ranks);
    const double through_ns = now_ns();
    took[n] = largest(through_ns) - largest(came_ns);
  }
  return median(took, TIMES);
}

static double skewed(void) {
  return from_last(cast, SKEW_US);
}

static double begun(void) {
  return from_last(begun_cast, 0);
}

static void cast_by_first(int root) {
  (void)root;
  cast(0);
}

static double loop(void (*does)(int root)) {
  cast(0);
  MPI_Barrier(MPI_COMM_WORLD);
  const double came_ns = now_ns();
  for (int n = 0; n < LOOP; n++) does(n % ranks);
  const double through_ns = now_ns();
  return (largest(through_ns) - largest(came_ns)) / LOOP;
}

static double back(void) {
  return loop(cast_by_first);
}

static double rotating(void) {
  return loop(cast);
}

static double first(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double came_ns = now_ns();
  cast(0);
  const double through_ns = now_ns();
  return largest(through_ns) - largest(came_ns);
}

static void copied(int root) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Bcast(bytes, size_bytes, MPI_BYTE, root, copy);
  MPI_Comm_free(&copy);
}

static void without(int left_out, int root) {
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank == left_out ? MPI_UNDEFINED : 0, rank, &part);
  if (part == MPI_COMM_NULL) return;
  MPI_Bcast(bytes, size_bytes, MPI_BYTE, root % (ranks - 1), part);
  MPI_Comm_free(&part);
}

static void parted_off(int root) {
  without(ranks - 1, root);
}

static double further(void) {
  return loop(copied);
}

static double parted(void) {
  return loop(parted_off);
}

/* Ranks that have had no communicator yet. */
static double unlike(void) {
  cast(0);
  MPI_Barrier(MPI_COMM_WORLD);
  const double came_ns = now_ns();
  for (int n = 0; n < ranks; n++) without(n, 0);
  const double through_ns = now_ns();
  return (largest(through_ns) - largest(came_ns)) / ranks;
}

static double left(void) {
  static double took[BATCHES];
  MPI_Comm few;
  MPI_Comm_dup(ranks > 1 ? MPI_COMM_WORLD : MPI_COMM_SELF, &few);
  for (int n = 0; n < BATCHES; n++) {
    MPI_Barrier(few);
    const double came_ns = now_ns();
    for (int i = 0; i < BATCH; i++) MPI_Bcast(bytes, 1, MPI_BYTE, 0, few);
    took[n] = (now_ns() - came_ns) / BATCH;
  }
  MPI_Comm_free(&few);
  return median(took, BATCHES);
}

static double init_ns;

static double init(void) {
  return largest(init_ns);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    double (*does)(void);
  } known[] = {{"skewed", skewed},   {"back", back},     {"rotating", rotating}, {"begun", begun}, {"first", first},
               {"further", further}, {"parted", parted}, {"unlike", unlike},     {"left", left},   {"init", init}};
  const double came_ns = now_ns();
  MPI_Init(&argc, &argv);
  init_ns = now_ns() - came_ns;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_bytes = argc > 2 ? atoi(argv[2]) : 1;
  bytes = calloc(1, (size_t)size_bytes);
  for (size_t i = 0; argc > 1 && i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].name, argv[1]) != 0) continue;
    const double took_ns = known[i].does();
    if (rank == 0) printf("%s %.1f\n", known[i].name, took_ns);
  }
  free(bytes);
  MPI_Finalize();
  return 0;
}
