/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that knows of no group, for test_coll.py: what argv[1] names, every
 * byte checked. Rank 0 prints "R ranks, W wrong".
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define BCAST_INIT MPI_Bcast_init
#else /* Open MPI 4 has it by a name of its own */
#include <mpi-ext.h>
#define BCAST_INIT MPIX_Bcast_init
#endif

#define LARGE (3 << 20)

static int rank, ranks;

static unsigned char byte_of(size_t at, size_t size, int root) {
  return (unsigned char)(at * 7 + (at >> 8) + size + (size_t)root * 31);
}

/* A broadcast of bytes by that rank of the communicator. */
static long cast_on(MPI_Comm communicator, unsigned char *bytes, size_t size, int root) {
  int own;
  long wrong = 0;
  MPI_Comm_rank(communicator, &own);
  for (size_t i = 0; i < size; i++) bytes[i] = own == root ? byte_of(i, size, root) : 0;
  wrong += MPI_Bcast(bytes, (int)size, MPI_BYTE, root, communicator) != MPI_SUCCESS;
  for (size_t i = 0; i < size; i++) wrong += bytes[i] != byte_of(i, size, root);
  return wrong;
}

static long sizes(void) {
  static const size_t tried[] = {0, 1, 8, 1000, 1442, 1443, 1444, 1472, 3000, 65536, 100000, LARGE};
  unsigned char *bytes = malloc(LARGE);
  long wrong = 0;
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    for (int root = 0; root<ranks; root += tried[i]> 10000 ? 2 : 1)
      wrong += cast_on(MPI_COMM_WORLD, bytes, tried[i], root);
  }
  for (int n = 0; n < 200; n++) wrong += cast_on(MPI_COMM_WORLD, bytes, (size_t)n * 17, n % ranks);
  free(bytes);
  return wrong;
}

/* Sizes of which the later ones can be foretold from those before, roots in turn, and what stays with the MPI. */
static long foretold(void) {
  static const size_t tried[] = {3000, 30000, 300000};
  unsigned char *bytes = malloc(300000);
  float own[2] = {1, 1}, sum[2];
  long wrong = 0;
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    for (int n = 0; n < 3 * ranks; n++) {
      MPI_Barrier(MPI_COMM_WORLD);
      wrong += cast_on(MPI_COMM_WORLD, bytes, tried[i], n % ranks);
    }
  }
  for (int n = 0; n < 5; n++) MPI_Allreduce(own, sum, 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  wrong += sum[0] != (float)ranks;
  free(bytes);
  return wrong;
}

/* Types of addresses, and no buffer: the root's alone, everybody's, and of what each gives. */
static long absolute(void) {
  enum { COUNT = 1000 };
  struct {
    long first;
    int others[COUNT];
  } own, *all = malloc((size_t)ranks * sizeof own);
  long wrong = 0;
  MPI_Datatype here, there, types[2] = {MPI_LONG, MPI_INT};
  MPI_Aint places[2], offsets[2] = {0, sizeof own.first};
  int counts[2] = {1, COUNT};
  MPI_Get_address(&own.first, &places[0]), MPI_Get_address(own.others, &places[1]);
  MPI_Type_create_struct(2, counts, offsets, types, &here);
  MPI_Type_create_struct(2, counts, places, types, &there);
  MPI_Type_commit(&here), MPI_Type_commit(&there);
  for (int turn = 0; turn < 2 * ranks; turn++) {
    const int root = turn / 2;
    const bool by_address = rank == root || turn % 2;
    own.first = rank == root ? -root : 1;
    for (int i = 0; i < COUNT; i++) own.others[i] = rank == root ? i + root : -1;
    MPI_Bcast(by_address ? MPI_BOTTOM : &own, 1, by_address ? there : here, root, MPI_COMM_WORLD);
    wrong += own.first != -root;
    for (int i = 0; i < COUNT; i++) wrong += own.others[i] != i + root;
  }
  own.first = rank;
  MPI_Allgather(MPI_BOTTOM, 1, there, all, 1, here, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++) wrong += all[i].first != i || memcmp(all[i].others, own.others, sizeof own.others);
  MPI_Type_free(&here), MPI_Type_free(&there);
  free(all);
  return wrong;
}

/* Numbers that lie apart, in another order, or with holes; root and others with types of equal signature. */
static long types(void) {
  enum { COUNT = 3000 };
  int *numbers = malloc(2 * COUNT * sizeof *numbers);
  struct pair {
    double value;
    int place;
  } pairs[50];
  long wrong = 0;
  MPI_Datatype apart, turned, whole;
  MPI_Aint places[2] = {sizeof(int), 0};
  int ones[2] = {1, 1};
  MPI_Type_vector(COUNT, 1, 2, MPI_INT, &apart);
  MPI_Type_create_hindexed(2, ones, places, MPI_INT, &turned);
  MPI_Type_contiguous(COUNT, MPI_INT, &whole);
  MPI_Type_commit(&apart), MPI_Type_commit(&turned), MPI_Type_commit(&whole);
  for (int root = 0; root < ranks; root++) {
    const bool sends = rank == root;
    for (int i = 0; i < 2 * COUNT; i++) numbers[i] = sends ? i * 3 + root : -1;
    MPI_Bcast(numbers, 1, apart, root, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * COUNT; i++) wrong += numbers[i] != (sends || i % 2 == 0 ? i * 3 + root : -1);
    /* What the root sends in pairs that are turned round, the others take as they come. */
    for (int i = 0; i < COUNT; i++) numbers[i] = sends ? i + root : -1;
    MPI_Bcast(numbers, sends ? COUNT / 2 : COUNT, sends ? turned : MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) wrong += numbers[i] != (sends ? i : i ^ 1) + root;
    for (int i = 0; i < COUNT; i++) numbers[i] = sends ? i - root : -1;
    MPI_Bcast(numbers, sends ? 1 : COUNT, sends ? whole : MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) wrong += numbers[i] != i - root;
    for (int i = 0; i < 50; i++) pairs[i] = sends ? (struct pair){i * 0.5, i} : (struct pair){0, 0};
    MPI_Bcast(pairs, 50, MPI_DOUBLE_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++) wrong += pairs[i].value != i * 0.5 || pairs[i].place != i;
  }
  MPI_Type_free(&apart), MPI_Type_free(&turned), MPI_Type_free(&whole);
  free(numbers);
  return wrong + absolute();
}

/* Everybody's numbers at everybody: in place and not, in parts of unlike lengths, of types that lie apart. */
static long gathers(void) {
  enum { COUNT = 7000 };
  int *all = malloc((size_t)ranks * 2 * COUNT * sizeof *all), own[2 * COUNT];
  int *counts = malloc((size_t)ranks * sizeof *counts), *firsts = malloc((size_t)ranks * sizeof *firsts);
  long wrong = 0;
  MPI_Datatype apart;
  MPI_Type_vector(COUNT, 1, 2, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  for (int count = 1; count <= COUNT; count += 777) {
    for (int i = 0; i < count; i++) own[i] = rank * 10000 + i;
    for (int i = 0; i < ranks * count; i++) all[i] = -1;
    MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * count; i++) wrong += all[i] != i / count * 10000 + i % count;
    for (int i = 0; i < ranks * count; i++) all[i] = i / count == rank ? rank * 777 + i % count : -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * count; i++) wrong += all[i] != i / count * 777 + i % count;
  }
  /* Every other number of each, which the others have side by side. */
  for (int i = 0; i < 2 * COUNT; i++) own[i] = rank * 10000 + i;
  MPI_Allgather(own, 1, apart, all, COUNT, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * COUNT; i++) wrong += all[i] != i / COUNT * 10000 + 2 * (i % COUNT);
  int first = 5;
  for (int i = 0; i < ranks; i++) counts[i] = i % 3 * 3000, firsts[i] = first, first += counts[i] + 3;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < first; i++) all[i] = -1;
    for (int i = 0; i < counts[rank]; i++) own[i] = all[firsts[rank] + i] = rank * 1000 + i;
    MPI_Allgatherv(round ? MPI_IN_PLACE : own, counts[rank], MPI_INT, all, counts, firsts, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0, i = 0; k < ranks; k++) {
      for (; i < firsts[k]; i++) wrong += all[i] != -1;
      for (; i < firsts[k] + counts[k]; i++) wrong += all[i] != k * 1000 + i - firsts[k];
    }
  }
  MPI_Type_free(&apart);
  free(all), free(counts), free(firsts);
  return wrong;
}

static void last(void *in, void *out, int *count, MPI_Datatype *type) {
  (void)type;
  memcpy(out, in, (size_t)*count * sizeof(int));
}

/* Of the one clock that hosts of a lab have. */
static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Reductions of all that ours has and of some that it leaves to the MPI, and barriers that nobody leaves too early. */
static long reduces(void) {
  enum { COUNT = 20000 };
  double *own = malloc(COUNT * sizeof *own), *sum = malloc(COUNT * sizeof *sum);
  struct {
    double value;
    int rank;
  } pair = {rank == 2 ? 9.5 : 1, rank}, most;
  long wrong = 0;
  for (int count = 1; count <= COUNT; count = count * 7 + 1) {
    for (int i = 0; i < count; i++) own[i] = rank + i;
    MPI_Allreduce(own, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) wrong += sum[i] != ranks * i + ranks * (ranks - 1) / 2;
    MPI_Allreduce(MPI_IN_PLACE, own, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) wrong += own[i] != ranks - 1 + i;
  }
  unsigned char bits = (unsigned char)(1 << rank % 8), all = 0;
  MPI_Allreduce(&bits, &all, 1, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
  wrong += all != (unsigned char)((1 << ranks) - 1);
  MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  wrong += most.value != 9.5 || most.rank != 2;
  int one = rank + 1, logical = 0, mine = 0;
  MPI_Allreduce(&one, &logical, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  wrong += logical != 1;
  MPI_Op own_op;
  MPI_Op_create(last, 1, &own_op);
  MPI_Allreduce(&one, &mine, 1, MPI_INT, own_op, MPI_COMM_WORLD);
  wrong += mine < 1 || mine > ranks;
  MPI_Op_free(&own_op);
  for (int late = 0; late < ranks; late++) {
    if (rank == late) usleep(50000);
    double came_s = now_s();
    MPI_Barrier(MPI_COMM_WORLD);
    double through_s = now_s();
    MPI_Bcast(&came_s, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
    wrong += through_s < came_s; /* who came early was kept */
  }
  free(own), free(sum);
  return wrong;
}

/* Halves, which may share an id, turned round, before all have met and after, and across. */
static long communicators(void) {
  unsigned char *bytes = malloc(100000);
  MPI_Comm half, turned, copy, across;
  long wrong = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  for (int n = 0; n < 20; n++) wrong += cast_on(half, bytes, 50000, n % (ranks / 2));
  for (int n = 0; n < 20; n++) wrong += cast_on(turned, bytes, 100, n % ranks);
  for (int n = 0; n < 20; n++) {
    wrong += cast_on(MPI_COMM_WORLD, bytes, 100000, n % ranks);
    wrong += cast_on(half, bytes, 100 + (size_t)n, n % (ranks / 2));
    wrong += cast_on(turned, bytes, 20000, n % ranks);
  }
  for (int n = 0; n < 300; n++) {
    MPI_Comm_dup(n % 2 ? MPI_COMM_WORLD : half, &copy);
    if (n % 3 == 0) wrong += cast_on(copy, bytes, 3000, 0);
    MPI_Comm_free(&copy);
  }
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &across);
  int word = rank == 0 ? 77 : -1;
  MPI_Bcast(&word, 1, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, across);
  wrong += word != (rank % 2 || rank == 0 ? 77 : -1);
  MPI_Comm_free(&across), MPI_Comm_free(&half), MPI_Comm_free(&turned);
  free(bytes);
  return wrong;
}

enum { AT_ONCE = 80 };

/* That many at once, each with its ranks in the order of their keys. */
static long at_once(int (*key)(int which)) {
  MPI_Comm all[AT_ONCE];
  unsigned char bytes[2000];
  long wrong = cast_on(MPI_COMM_WORLD, bytes, 10, 0);
  for (int i = 0; i < AT_ONCE; i++) MPI_Comm_split(MPI_COMM_WORLD, 0, key(i), &all[i]);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < AT_ONCE; i++) wrong += cast_on(all[i], bytes, 1000 + (size_t)i, i % ranks);
  }
  for (int i = 0; i < AT_ONCE; i++) MPI_Comm_free(&all[i]);
  return wrong;
}

/* Each another order, and none that of the ranks. */
static int unlike_key(int which) {
  int left[64], place = 0;
  which++;
  for (int i = 0; i < ranks; i++) left[i] = i;
  for (int count = ranks; count > 0; which /= count--, place++) {
    const int drawn = which % count, taken = left[drawn];
    memmove(left + drawn, left + drawn + 1, (size_t)(count - drawn - 1) * sizeof *left);
    if (taken == rank) return place;
  }
  return -1;
}

static int own_key(int which) {
  (void)which;
  return rank;
}

static int turned_key(int which) {
  (void)which;
  return -rank;
}

/* More orders than a rank may have groups. */
static long many(void) {
  return at_once(unlike_key);
}

/* Each is one of the same ranks. */
static long copies(void) {
  return at_once(own_key);
}

static long turned(void) {
  return at_once(turned_key);
}

/* Made and freed: all of them but one, each of them in turn, and again. */
static long parts(void) {
  unsigned char bytes[2000];
  long wrong = cast_on(MPI_COMM_WORLD, bytes, 10, 0);
  for (int n = 0; n < 2 * ranks; n++) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank == n % ranks ? MPI_UNDEFINED : 0, rank, &part);
    if (part == MPI_COMM_NULL) continue;
    wrong += cast_on(part, bytes, 1000 + (size_t)n, n % (ranks - 1));
    MPI_Comm_free(&part);
  }
  return wrong;
}

/* Rank 2 waits in a broadcast whose root comes late; what rank 1 sends it meanwhile arrives. */
static long rendezvous(void) {
  unsigned char *bytes = calloc(1, LARGE), small[8];
  MPI_Request request = MPI_REQUEST_NULL;
  long wrong = cast_on(MPI_COMM_WORLD, small, sizeof small, 0);
  if (rank == 2) MPI_Irecv(bytes, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime();
  if (rank == 1) {
    memset(bytes, 9, LARGE);
    MPI_Send(bytes, LARGE, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
    wrong += MPI_Wtime() - began > 4;
  }
  if (rank == 0) sleep(6);
  wrong += cast_on(MPI_COMM_WORLD, small, sizeof small, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; rank == 2 && i < LARGE; i++) wrong += bytes[i] != 9;
  free(bytes);
  return wrong;
}

/* The root has returned and computes, or waits for a message of who has not got the broadcast yet. */
static long leaves(void) {
  unsigned char *bytes = malloc(LARGE), word = 1;
  long wrong = 0;
  for (int n = 0; n < 6; n++) {
    double began = MPI_Wtime();
    wrong += cast_on(MPI_COMM_WORLD, bytes, LARGE, 0);
    if (rank == 0 && n % 2 == 0) sleep(2);
    if (rank > 0 && n % 2 == 0) wrong += MPI_Wtime() - began > 1.9;
    if (rank == 0) MPI_Recv(&word, 1, MPI_BYTE, ranks - 1, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == ranks - 1) MPI_Send(&word, 1, MPI_BYTE, 0, n, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(bytes);
  return wrong;
}

/* Among other operations of all kinds, some of which are only begun. */
static long mixed(void) {
  unsigned char *bytes = malloc(60000), *other = malloc(60000);
  long wrong = 0, one = rank, sum;
  MPI_Request request;
  for (int n = 0; n < 40; n++) {
    int root = n % ranks;
    for (int i = 0; i < 60000; i++) other[i] = rank == root ? byte_of((size_t)i, 60000, n) : 0;
    MPI_Ibcast(other, 60000, MPI_BYTE, root, MPI_COMM_WORLD, &request);
    wrong += cast_on(MPI_COMM_WORLD, bytes, 20000 + (size_t)n, (n + 1) % ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != (long)ranks * (ranks - 1) / 2;
    wrong += cast_on(MPI_COMM_WORLD, bytes, 10, root);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 60000; i++) wrong += other[i] != byte_of((size_t)i, 60000, n);
  }
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  wrong += cast_on(MPI_COMM_WORLD, bytes, 50000, 0);
  free(bytes);
  free(other);
  return wrong;
}

/* A broadcast that is begun again and again, with others while it is under way. */
static long persistent(void) {
  enum { COUNT = 40000 };
  unsigned char *bytes = malloc(COUNT), *other = malloc(COUNT);
  long wrong = 0;
  MPI_Request request;
  BCAST_INIT(other, COUNT, MPI_BYTE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int n = 0; n < 20; n++) {
    for (int i = 0; i < COUNT; i++) other[i] = rank == 1 ? byte_of((size_t)i, COUNT, n) : 0;
    MPI_Start(&request);
    wrong += cast_on(MPI_COMM_WORLD, bytes, 10000 + (size_t)n, n % ranks);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++) wrong += other[i] != byte_of((size_t)i, COUNT, n);
  }
  MPI_Request_free(&request);
  free(bytes);
  free(other);
  return wrong;
}

/* A broadcast that is only begun, and what is to come of it. */
struct begun {
  unsigned char *bytes;
  size_t size;
  int root;
  MPI_Request request;
};

static struct begun begin_on(MPI_Comm communicator, size_t size, int root) {
  struct begun begun = {malloc(size), size, root, MPI_REQUEST_NULL};
  int own;
  MPI_Comm_rank(communicator, &own);
  for (size_t i = 0; i < size; i++) begun.bytes[i] = own == root ? byte_of(i, size, root) : 0;
  MPI_Ibcast(begun.bytes, (int)size, MPI_BYTE, root, communicator, &begun.request);
  return begun;
}

/* Of one that has ended. */
static long end_of(struct begun *begun) {
  long wrong = 0;
  for (size_t i = 0; i < begun->size; i++) wrong += begun->bytes[i] != byte_of(i, begun->size, begun->root);
  free(begun->bytes);
  return wrong;
}

static long wait_for(struct begun *begun) {
  const long failed = MPI_Wait(&begun->request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  return failed + end_of(begun);
}

/* Two communicators of the same ranks, which begin on them in unlike orders. */
static long begun_across(MPI_Comm copy) {
  MPI_Comm order[2] = {rank % 2 ? copy : MPI_COMM_WORLD, rank % 2 ? MPI_COMM_WORLD : copy};
  unsigned char bytes[3000];
  struct begun all[8];
  long wrong = 0;
  for (int n = 0; n < 8; n++) all[n] = begin_on(order[n % 2], 20000 + (order[n % 2] == copy ? 5 : 0), n / 2 % ranks);
  for (int n = 0; n < 4; n++) wrong += cast_on(MPI_COMM_WORLD, bytes, sizeof bytes, n % ranks);
  for (int n = 7; n >= 0; n--) wrong += wait_for(&all[n]);
  return wrong;
}

/* The root waits for a rank that begins when it has heard of it; and computes, while the others get it. */
static long begun_elsewhere(void) {
  unsigned char *large = calloc(1, LARGE);
  long wrong = 0;
  struct begun one;
  if (rank == 1) MPI_Recv(large, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  one = begin_on(MPI_COMM_WORLD, 100000, 1);
  if (rank == 0) MPI_Send(large, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  wrong += wait_for(&one);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began_s = now_s();
  one = begin_on(MPI_COMM_WORLD, LARGE, 0);
  if (rank == 0) sleep(3);
  wrong += wait_for(&one);
  wrong += rank != 0 && now_s() - began_s > 2;
  free(large);
  return wrong;
}

/* A type and a communicator are gone before it has ended. */
static long begun_and_freed(void) {
  enum { COUNT = 5000 };
  int *numbers = malloc(2 * COUNT * sizeof *numbers);
  long wrong = 0;
  MPI_Comm copy;
  MPI_Datatype apart;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int n = 0; n < 3; n++) {
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    for (int i = 0; i < 2 * COUNT; i++) numbers[i] = rank == n ? i * 3 + n : -1;
    MPI_Ibcast(numbers, 1, apart, n, copy, &request);
    MPI_Type_free(&apart);
    if (n < 2) MPI_Barrier(copy);
    if (n == 2) MPI_Comm_free(&copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * COUNT; i++) wrong += numbers[i] != (rank == n || i % 2 == 0 ? i * 3 + n : -1);
  }
  free(numbers);
  return wrong;
}

/* Many at once, among messages and requests that are none, ended in all ways there are. */
static long begun_in_all_ways(void) {
  enum { MANY = 30 };
  struct begun all[MANY];
  MPI_Request requests[MANY + 3];
  MPI_Status states[MANY + 3];
  int in = -1, done = 0, which[MANY + 3], count, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  long wrong = 0;
  for (int way = 0; way < 6; way++) {
    for (int n = 0; n < MANY; n++)
      all[n] = begin_on(MPI_COMM_WORLD, 1 + (size_t)n * 1000, n % ranks), requests[n] = all[n].request;
    requests[MANY] = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_INT, before, way, MPI_COMM_WORLD, &requests[MANY + 1]);
    MPI_Isend(&way, 1, MPI_INT, next, way, MPI_COMM_WORLD, &requests[MANY + 2]);
    for (done = 0; way == 0 && !done;) MPI_Testall(MANY + 3, requests, &done, states);
    for (int left = MANY + 2; way == 1 && left > 0; left -= count)
      MPI_Waitsome(MANY + 3, requests, &count, which, states);
    for (int left = MANY + 2; way == 2 && left > 0; left--) MPI_Waitany(MANY + 3, requests, which, states);
    for (done = 0; way == 3 && !done;) MPI_Request_get_status(requests[MANY - 1], &done, states);
    for (int n = 0; way == 4 && n < MANY; n++) {
      for (done = 0; !done;) MPI_Test(&requests[n], &done, states);
    }
    MPI_Waitall(MANY + 3, requests, states);
    wrong += in != way;
    for (int n = 0; n < MANY; n++) wrong += end_of(&all[n]);
  }
  return wrong;
}

static long begun(void) {
  unsigned char bytes[100];
  MPI_Comm copy;
  struct begun one = begin_on(MPI_COMM_WORLD, 1000, 1);
  long wrong = wait_for(&one);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int n = 0; n < 2; n++) {
    wrong += cast_on(copy, bytes, sizeof bytes, 0);
    one = begin_on(copy, 1000, 1);
    wrong += wait_for(&one);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  wrong += begun_across(copy) + begun_elsewhere() + begun_and_freed() + begun_in_all_ways();
  MPI_Comm_free(&copy);
  return wrong;
}

static MPI_Comm of_thread[3];

static void *thread(void *which) {
  MPI_Comm own = of_thread[(long)which];
  unsigned char *bytes = malloc(30000);
  long wrong = 0;
  for (int n = 0; n < 60; n++) {
    struct begun one = begin_on(own, 1 + (size_t)n * 499, (n + 1) % ranks);
    wrong += cast_on(own, bytes, (size_t)n * 499, n % ranks);
    wrong += wait_for(&one);
  }
  free(bytes);
  return (void *)wrong;
}

/* Each thread on a communicator of its own, and the first with messages beside. */
static long threads(void) {
  pthread_t others[3];
  long wrong = 0;
  void *found;
  for (int i = 0; i < 3; i++) MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
  for (long i = 0; i < 3; i++) pthread_create(&others[i], NULL, thread, (void *)i);
  for (int n = 0; n < 100; n++) {
    int out = rank * 1000 + n, in = -1, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Sendrecv(&out, 1, MPI_INT, next, n, &in, 1, MPI_INT, before, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += in != before * 1000 + n;
  }
  for (int i = 0; i < 3; i++) pthread_join(others[i], &found), wrong += (long)found;
  for (int i = 0; i < 3; i++) MPI_Comm_free(&of_thread[i]);
  return wrong;
}

/* Everybody's 32 KiB. */
static long gather_on(MPI_Comm communicator) {
  enum { BYTES = 32768 };
  unsigned char *own = malloc(BYTES), *all = malloc((size_t)ranks * BYTES);
  long wrong = 0;
  memset(own, rank + 1, BYTES);
  MPI_Allgather(own, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, communicator);
  for (int i = 0; i < ranks * BYTES; i++) wrong += all[i] != i / BYTES + 1;
  free(own), free(all);
  return wrong;
}

static void *first_waits(void *gathers) {
  unsigned char bytes[3000];
  return (void *)(gathers ? gather_on(of_thread[0]) : cast_on(of_thread[0], bytes, sizeof bytes, 1));
}

/* A thread that was alone waits for rank 1, which comes when another thread has had its turn, too. */
static long passes(void) {
  unsigned char bytes[3000];
  pthread_t other;
  long wrong = 0;
  void *found;
  for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
  for (int i = 0; i < 2; i++) wrong += cast_on(of_thread[i], bytes, sizeof bytes, 0);
  for (int n = 0; n < 4; n++) {
    void *gathers = n % 2 ? bytes : NULL;
    if (rank != 1) pthread_create(&other, NULL, first_waits, gathers);
    usleep(rank == 1 ? 0 : 50000);
    wrong += n < 2 ? cast_on(of_thread[1], bytes, sizeof bytes, 0) : gather_on(of_thread[1]);
    if (rank == 1)
      found = first_waits(gathers);
    else
      pthread_join(other, &found);
    wrong += (long)found;
  }
  for (int i = 0; i < 2; i++) MPI_Comm_free(&of_thread[i]);
  return wrong;
}

/* What the program gets wrong it hears of as ever. */
static long errors(void) {
  int word = 0, class = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  long wrong = cast_on(MPI_COMM_WORLD, (unsigned char[8]){0}, 8, 0);
  MPI_Error_class(MPI_Bcast(&word, 1, MPI_INT, ranks, MPI_COMM_WORLD), &class);
  wrong += class != MPI_ERR_ROOT;
  MPI_Error_class(MPI_Bcast(&word, -1, MPI_INT, 0, MPI_COMM_WORLD), &class);
  wrong += class != MPI_ERR_COUNT;
  MPI_Error_class(MPI_Bcast(&word, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), &class);
  wrong += class != MPI_ERR_TYPE;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int begun = 0; begun < 2; begun++) { /* as before, and since such broadcasts are served */
    MPI_Error_class(MPI_Ibcast(&word, 1, MPI_INT, ranks, MPI_COMM_WORLD, &request), &class);
    wrong += class != MPI_ERR_ROOT;
    MPI_Error_class(MPI_Ibcast(&word, -1, MPI_INT, 0, MPI_COMM_WORLD, &request), &class);
    wrong += class != MPI_ERR_COUNT;
    MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Error_class(MPI_Wait(NULL, MPI_STATUS_IGNORE), &class);
    wrong += class != MPI_ERR_REQUEST && class != MPI_ERR_ARG;
    wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return wrong + cast_on(MPI_COMM_WORLD, (unsigned char[8]){0}, 8, 1);
}

/* One rank has no descriptor left for a group, but all that its MPI needs. */
static long lacks(void) {
  int *there = calloc(2 * (size_t)ranks, sizeof *there);
  unsigned char bytes[3000];
  MPI_Comm copy;
  long wrong = 0;
  MPI_Alltoall(there, 1, MPI_INT, there + ranks, 1, MPI_INT, MPI_COMM_WORLD);
  for (int other = 0; other < ranks; other++) { /* a rank that has asked for nobody's message may not know him yet */
    MPI_Sendrecv(bytes, 1, MPI_BYTE, other, 0, bytes + 1, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  int free_fd = dup(0); /* the lowest, now that its MPI has what it needs */
  struct rlimit most = {(rlim_t)free_fd + 2, (rlim_t)free_fd + 2};
  close(free_fd);
  if (rank == 2) wrong += setrlimit(RLIMIT_NOFILE, &most) != 0;
  for (int n = 0; n < 10; n++) wrong += cast_on(MPI_COMM_WORLD, bytes, sizeof bytes, n % ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int n = 0; n < 10; n++) wrong += cast_on(copy, bytes, sizeof bytes, n % ranks);
  MPI_Comm_free(&copy);
  free(there);
  return wrong;
}

/* A call in which rank 2 does not do as the others: all hear of it, now or in a call after it. */
static long unequal(void (*does)(unsigned char *bytes)) {
  unsigned char *bytes = calloc(1, LARGE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  long heard = 0, wrong = cast_on(MPI_COMM_WORLD, bytes, 1000, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  does(bytes);
  for (int n = 0; n < 3; n++) heard += MPI_Bcast(bytes, 5000, MPI_BYTE, n % ranks, MPI_COMM_WORLD) != MPI_SUCCESS;
  free(bytes);
  return wrong + (heard == 0);
}

static void cast_another_size(unsigned char *bytes) {
  MPI_Bcast(bytes, rank == 2 ? 100000 : 200000, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void cast_by_another_root(unsigned char *bytes) {
  MPI_Bcast(bytes, 100000, MPI_BYTE, rank == 2 ? 1 : 0, MPI_COMM_WORLD);
}

static void call_another(unsigned char *bytes) {
  enum { COUNT = 50000 };
  if (rank == 2)
    MPI_Allreduce(MPI_IN_PLACE, bytes, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Bcast(bytes, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
}

static long unequal_sizes(void) {
  return unequal(cast_another_size);
}

static long unequal_roots(void) {
  return unequal(cast_by_another_root);
}

static long unequal_calls(void) {
  return unequal(call_another);
}

/* In the middle of it a rank ends. */
static long ends(void) {
  unsigned char *bytes = malloc(LARGE);
  long wrong = cast_on(MPI_COMM_WORLD, bytes, LARGE, 0);
  if (rank == 1) _exit(3);
  for (int n = 0; n < 1000; n++) wrong += cast_on(MPI_COMM_WORLD, bytes, LARGE, 0);
  return wrong;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    long (*does)(void);
  } known[] = {{"sizes", sizes},
               {"foretold", foretold},
               {"gathers", gathers},
               {"reduces", reduces},
               {"types", types},
               {"communicators", communicators},
               {"many", many},
               {"copies", copies},
               {"turned", turned},
               {"parts", parts},
               {"leaves", leaves},
               {"rendezvous", rendezvous},
               {"mixed", mixed},
               {"begun", begun},
               {"threads", threads},
               {"passes", passes},
               {"errors", errors},
               {"lacks", lacks},
               {"ends", ends},
               {"persistent", persistent},
               {"unequal-sizes", unequal_sizes},
               {"unequal-roots", unequal_roots},
               {"unequal-calls", unequal_calls}};
  long wrong = 1, all = 0;
  const char *what = argc > 1 ? argv[1] : "";
  const bool has_threads = strcmp(what, "threads") == 0 || strcmp(what, "passes") == 0;
  int provided, wanted = has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].name, what) == 0) wrong = known[i].does();
  }
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %ld wrong\n", ranks, all);
  MPI_Finalize();
  return 0;
}
