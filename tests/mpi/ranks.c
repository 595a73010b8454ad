/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that knows of no transport, for test_btl.py: what argv[1] names,
 * every byte checked. Rank 0 prints "R ranks, W wrong".
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (4 << 20)

static int rank, ranks;

static unsigned char byte_of(size_t at, size_t size, int from) {
  return (unsigned char)(at * 7 + (at >> 8) + size + (size_t)from);
}

static void fill(unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) bytes[i] = byte_of(i, size, rank);
}

static long differences(const unsigned char *bytes, size_t size, int from) {
  long wrong = 0;
  for (size_t i = 0; i < size; i++) wrong += bytes[i] != byte_of(i, size, from);
  return wrong;
}

/* To the next, from the one before; sizes around those at which something changes, and strided ones. */
static long sizes(void) {
  static const size_t tried[] = {0,    1,    7,     1363,  1364,  1378,  1379,   1400,   1401,   1484,   1485,   1500,
                                 2999, 4096, 65000, 65513, 65514, 65536, 100000, 131049, 131050, 131072, 262144, LARGE};
  unsigned char *out = malloc(LARGE), *in = malloc(LARGE);
  int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  long wrong = 0;
  for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
    MPI_Datatype strided;
    int half = (int)tried[i] / 2;
    fill(out, tried[i]);
    memset(in, 0, tried[i]);
    MPI_Sendrecv(out, (int)tried[i], MPI_BYTE, next, 0, in, (int)tried[i], MPI_BYTE, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    wrong += differences(in, tried[i], before);
    MPI_Type_vector(half, 1, 2, MPI_BYTE, &strided); /* every other byte: nothing can be sent from where it lies */
    MPI_Type_commit(&strided);
    memset(in, 0, tried[i]);
    MPI_Sendrecv(out, 1, strided, next, 0, in, half, MPI_BYTE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < half; k++) wrong += in[k] != byte_of(2 * (size_t)k, tried[i], before);
    MPI_Type_free(&strided);
  }
  free(out);
  free(in);
  return wrong;
}

/* Everybody to rank 0, which takes them as they come. */
static long any(void) {
  enum { EACH = 60, STEP = 3001 };
  unsigned char *bytes = malloc(EACH * STEP);
  long wrong = 0;
  for (int i = 0; rank > 0 && i < EACH; i++) {
    fill(bytes, (size_t)i * STEP);
    MPI_Send(bytes, i * STEP, MPI_BYTE, 0, i, MPI_COMM_WORLD);
  }
  int next[64] = {0};
  for (int i = 0; rank == 0 && i < EACH * (ranks - 1); i++) {
    MPI_Status status;
    MPI_Recv(bytes, EACH * STEP, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    wrong += status.MPI_TAG != next[status.MPI_SOURCE]++; /* those of one rank in their order */
    wrong += differences(bytes, (size_t)status.MPI_TAG * STEP, status.MPI_SOURCE);
  }
  free(bytes);
  return wrong;
}

/* Rank 0 calls no MPI for so many seconds, in which all others send to it more than any window holds. */
static long sleeps(unsigned seconds) {
  enum { EACH = 300, SIZE = 3000 };
  unsigned char *bytes = malloc(LARGE), *large = malloc(LARGE);
  MPI_Request requests[EACH + 1];
  long wrong = 0;
  if (rank == 0) sleep(seconds);
  fill(bytes, SIZE);
  fill(large, LARGE);
  if (rank > 0) {
    for (int i = 0; i < EACH; i++) MPI_Isend(bytes, SIZE, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(large, LARGE, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[EACH]);
    MPI_Waitall(EACH + 1, requests, MPI_STATUSES_IGNORE);
  }
  for (int from = 1; rank == 0 && from < ranks; from++) {
    for (int i = 0; i < EACH; i++) {
      memset(bytes, 0, SIZE);
      MPI_Recv(bytes, SIZE, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += differences(bytes, SIZE, from);
    }
    MPI_Recv(large, LARGE, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += differences(large, LARGE, from);
  }
  free(bytes);
  free(large);
  return wrong;
}

/* Rank 0 sends as soon as it has begun, and calls no MPI for a time: what it has sent arrives meanwhile. */
static long leaves(void) {
  double begun = MPI_Wtime();
  unsigned char byte = 1;
  for (int to = 1; rank == 0 && to < ranks; to++) MPI_Send(&byte, 1, MPI_BYTE, to, 3, MPI_COMM_WORLD);
  if (rank == 0) sleep(4);
  if (rank > 0) MPI_Recv(&byte, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return rank > 0 && MPI_Wtime() - begun > 3;
}

/* Rank 1 calls no MPI for a time after each message: who sends the next one meanwhile need not wait for it. */
static long rests(void) {
  enum { COUNT = 8000, MESSAGES = 4 };
  static unsigned char bytes[COUNT];
  double longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < MESSAGES && rank == 0; i++) {
    double begun = MPI_Wtime();
    MPI_Send(bytes, COUNT, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    if (MPI_Wtime() - begun > longest) longest = MPI_Wtime() - begun;
    usleep(500000); /* what is acknowledged meanwhile waits to be read */
  }
  for (int i = 0; i < MESSAGES && rank == 1; i++) {
    MPI_Recv(bytes, COUNT, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(400000);
  }
  return longest > 0.2;
}

/* Collective operations, in which all are senders and receivers at once. */
static long together(void) {
  enum { COUNT = 5000 };
  int *out = calloc((size_t)ranks * COUNT, sizeof *out), *in = calloc((size_t)ranks * COUNT, sizeof *in);
  long wrong = 0, sum = 0, one = rank;
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < ranks * COUNT; i++) out[i] = rank * 1000003 + i + round;
    MPI_Alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * COUNT; i++) {
      wrong += in[i] != i / COUNT * 1000003 + rank * COUNT + i % COUNT + round;
    }
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != (long)ranks * (ranks - 1) / 2;
  }
  free(out);
  free(in);
  return wrong;
}

static void end_as(const char *how) {
  if (strcmp(how, "killed") == 0)
    raise(SIGKILL);
  else if (strcmp(how, "stopped") == 0)
    raise(SIGSTOP);                              /* Open MPI has it go on before it ends it */
  else if (system("ip link set eth0 down") != 0) /* unplugged */
    abort();
}

/* In the middle of what rank 0 sends it, rank 1 ends as argv[2] says. */
static long ends(const char *how) {
  enum { HUGE_BYTES = 64 << 20 };
  unsigned char *bytes = calloc(1, HUGE_BYTES);
  MPI_Request request;
  int done = 0;
  if (rank == 0) MPI_Isend(bytes, HUGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Irecv(bytes, HUGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; rank < 2 && !done; i++) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    bool begun = i > 20000 || bytes[0] != 0;
    if (rank == 1 && begun) end_as(how);
    if (rank == 0 && i == 0) bytes[0] = 1;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return 1; /* it must not come to this */
}

struct job {
  int tag;
  long wrong;
};

static void *exchange(void *argument) {
  enum { ROUNDS = 100 };
  static const int tried[] = {0, 1, 1000, 5000, 100000};
  struct job *job = argument;
  unsigned char *out = malloc(100000), *in = malloc(100000);
  int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  for (int i = 0; i < ROUNDS; i++) {
    int size = tried[i % 5];
    fill(out, (size_t)size);
    MPI_Sendrecv(out, size, MPI_BYTE, next, job->tag, in, size, MPI_BYTE, before, job->tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    job->wrong += differences(in, (size_t)size, before);
  }
  free(out);
  free(in);
  return NULL;
}

static long threads(void) {
  enum { THREADS = 4 };
  pthread_t running[THREADS];
  struct job jobs[THREADS];
  long wrong = 0;
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (struct job){.tag = i};
    pthread_create(&running[i], NULL, exchange, &jobs[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(running[i], NULL);
    wrong += jobs[i].wrong;
  }
  return wrong;
}

static long work(char **argv) {
  if (strcmp(argv[1], "sizes") == 0) return sizes();
  if (strcmp(argv[1], "any") == 0) return any();
  if (strcmp(argv[1], "sleeps") == 0) return sleeps(argv[2] ? (unsigned)atoi(argv[2]) : 4);
  if (strcmp(argv[1], "leaves") == 0) return leaves();
  if (strcmp(argv[1], "rests") == 0) return rests();
  if (strcmp(argv[1], "together") == 0) return together();
  if (strcmp(argv[1], "threads") == 0) return threads();
  return ends(argv[2]);
}

int main(int argc, char **argv) {
  int level;
  long wrong, all = 0;
  bool multiple = argc > 1 && strcmp(argv[1], "threads") == 0;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  wrong = multiple && level != MPI_THREAD_MULTIPLE ? 1 : work(argv);
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %ld wrong\n", ranks, all);
  MPI_Finalize();
  return all != 0;
}
