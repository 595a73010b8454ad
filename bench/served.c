/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collective operations take in a loop: a program of any MPI, which knows of no
 * group. Rank 0 prints a line for each operation and number of bytes, "allgather 512
 * 81200", the time of one in ns: all ranks begin together and the last is the one that
 * counts, over as many as take so long that the two barriers about them are nothing.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES_MAX (1 << 20)
#define LOOP_S    0.3

static char *given, *result;

static void barrier(int bytes) {
  (void)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A root sees the next one through when the others have this one: so each is as long as the last rank makes it. */
static void bcast(int bytes) {
  static int root;
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  root = (root + 1) % ranks;
  MPI_Bcast(given, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

/* Begun, and waited for at once. */
static void ibcast(int bytes) {
  static int root;
  int ranks;
  MPI_Request request;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  root = (root + 1) % ranks;
  MPI_Ibcast(given, bytes, MPI_BYTE, root, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void allgather(int bytes) {
  MPI_Allgather(given, bytes, MPI_BYTE, result, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void allreduce(int bytes) {
  MPI_Allreduce(given, result, bytes / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static double loop_s(void (*operation)(int bytes), int bytes, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double began_s = MPI_Wtime();
  for (int i = 0; i < count; i++) operation(bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - began_s;
}

/* As many as all do: rank 0 says how many. */
static double one_s(void (*operation)(int bytes), int bytes) {
  int count = 4;
  double spent_s = loop_s(operation, bytes, count);
  count = (int)(count * LOOP_S / spent_s) + 1;
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return loop_s(operation, bytes, count) / count;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*operation)(int bytes);
    int bytes[8]; /* each; a 0 ends them, but the first */
  } all[] = {{"barrier", barrier, {0}},
             {"bcast", bcast, {1, 1000, 10000, 100000, 1000000}},
             {"ibcast", ibcast, {1, 1000, 10000, 100000, 1000000}},
             {"allgather", allgather, {8, 64, 512, 4096, 32768, 131072}},
             {"allreduce", allreduce, {8, 64, 512, 4096, 32768, 131072, 1048576}}};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  given = calloc(1, BYTES_MAX);
  result = calloc((size_t)ranks, BYTES_MAX);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    for (int k = 0; k == 0 || (k < 8 && all[i].bytes[k] > 0); k++) {
      const double spent_s = one_s(all[i].operation, all[i].bytes[k]);
      if (rank == 0) printf("%s %d %.0f\n", all[i].name, all[i].bytes[k], 1e9 * spent_s);
    }
  }
  MPI_Finalize();
  return 0;
}
