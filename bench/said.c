/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts, timed by every rank as OSU's and Intel's benchmarks time them, and all by one clock:
 *
 *   said BYTES ROUNDS
 *
 * A round is a barrier and an MPI_Bcast from rank 0. Rank 0 prints a line for each rank of each round: "ROUND RANK
 * BEGAN ENDED", just before and just after its call, CLOCK_MONOTONIC in ns, which the hosts of a lab share. The first
 * rounds are not printed: connections are made in them.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARMUP_ROUNDS = 3 };

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void print_round(int round, const int64_t *times_ns, int ranks) {
  for (int rank = 0; rank < ranks; rank++) {
    printf("%d %d %" PRId64 " %" PRId64 "\n", round, rank, times_ns[2 * rank], times_ns[2 * rank + 1]);
  }
}

int main(int argc, char **argv) {
  int rank, ranks;
  if (argc != 3) return 2;
  const int bytes = atoi(argv[1]), rounds = atoi(argv[2]);
  if (bytes < 1 || rounds < 1) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *message = calloc((size_t)bytes, 1);
  int64_t *all_ns = calloc((size_t)ranks * 2, sizeof *all_ns), own_ns[2];
  if (!message || !all_ns) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int round = -WARMUP_ROUNDS; round < rounds; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    own_ns[0] = now_ns();
    MPI_Bcast(message, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    own_ns[1] = now_ns();
    MPI_Gather(own_ns, 2, MPI_INT64_T, all_ns, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0 && round >= 0) print_round(round, all_ns, ranks);
  }
  free(all_ns);
  free(message);
  MPI_Finalize();
  return 0;
}
