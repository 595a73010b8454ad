/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a transport of Open MPI does where there are many ranks: a program of any MPI. Rank 0 prints "name ns" for
 * what argv[1] names, of argv[2] bytes.
 *
 *   idle      messages there and back between ranks 0 and 1, one way, while all others, which have sent to both before,
 *             sleep: the median. Each of the two has a processor of its own
 *   alltoall  MPI_Alltoall of so many bytes for each: from the last that comes to the last that is through, the median
 *
 * Hosts of a lab have one clock.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "timed.h"

enum { EXCHANGES = 20000, EXCHANGES_S = 2, IDLE_S = 3, TIMES = 9 };

static char *bytes, *received;
static int size_bytes, rank, ranks;

static void exchange(int with, int first) {
  if (first) MPI_Send(bytes, size_bytes, MPI_BYTE, with, 0, MPI_COMM_WORLD);
  MPI_Recv(bytes, size_bytes, MPI_BYTE, with, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!first) MPI_Send(bytes, size_bytes, MPI_BYTE, with, 0, MPI_COMM_WORLD);
}

/* Both know how often: the first says of each exchange whether it is the last. */
static double ping_pong(void) {
  static double took[EXCHANGES];
  const double until_ns = now_ns() + EXCHANGES_S * 1e9;
  int count = 0;
  for (char goes_on = 1; goes_on;) {
    const double came_ns = now_ns();
    goes_on = (char)(count + 1 < EXCHANGES && came_ns < until_ns);
    if (rank == 0) bytes[0] = goes_on;
    exchange(1 - rank, rank == 0);
    goes_on = bytes[0];
    took[count++] = (now_ns() - came_ns) / 2;
  }
  return median(took, count);
}

static void keep_a_processor(void) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET((unsigned)rank, &own);
  if (sysconf(_SC_NPROCESSORS_ONLN) > 1) sched_setaffinity(0, sizeof own, &own);
}

static double idle(void) {
  double took_ns = 0;
  for (int two = 0; two < 2; two++) {
    for (int other = 2; other < ranks; other++) {
      if (rank == two) exchange(other, 0);
      if (rank == other) exchange(two, 1);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2) {
    keep_a_processor();
    took_ns = ping_pong();
  } else {
    nanosleep(&(struct timespec){.tv_sec = IDLE_S}, NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return took_ns;
}

static double alltoall(void) {
  double took[TIMES];
  for (int n = -1; n < TIMES; n++) { /* the first makes connections */
    MPI_Barrier(MPI_COMM_WORLD);
    const double came_ns = now_ns();
    MPI_Alltoall(bytes, size_bytes, MPI_BYTE, received, size_bytes, MPI_BYTE, MPI_COMM_WORLD);
    const double through_ns = now_ns(), took_ns = largest(through_ns) - largest(came_ns);
    if (n >= 0) took[n] = took_ns;
  }
  return median(took, TIMES);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    double (*does)(void);
  } known[] = {{"idle", idle}, {"alltoall", alltoall}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_bytes = argc > 2 ? atoi(argv[2]) : 1;
  bytes = calloc((size_t)ranks, (size_t)size_bytes);
  received = calloc((size_t)ranks, (size_t)size_bytes);
  for (size_t i = 0; argc > 1 && i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].name, argv[1]) != 0) continue;
    const double took_ns = known[i].does();
    if (rank == 0) printf("%s %.1f\n", known[i].name, took_ns);
  }
  free(bytes);
  free(received);
  MPI_Finalize();
  return 0;
}
