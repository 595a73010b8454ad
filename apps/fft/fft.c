/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-fft: the discrete Fourier transform of N complex numbers that lie in equal parts on the ranks of an MPI job,
 * by Bailey's six steps: with N = n1 n2 and the numbers as a matrix of n1 rows,
 *
 *   transpose, transform the n2 rows of n1, turn each number, transpose,
 *   transform the n1 rows of n2, transpose
 *
 * where each transposition is one MPI_Alltoall. Ranks must divide n1 and n2, so N is a multiple of the square of their
 * number. Single precision; the transforms of rows are Kiss FFT's.
 *
 *   --points N         so many numbers (1048576)
 *   --times T          so often (10), after one time that does not count, for it makes the connections, too
 *   --within-ms MS     no more times after that, but --times-min L (1)
 *   --save DIRECTORY   what was transformed and what came out, as in memory, into `in` and `out` of that directory
 *
 * Rank 0 prints one JSON record. For each time: `whole_ns` of the slowest rank, from a barrier until its last exchange
 * is over, what of that it was in MPI_Alltoall (`communicating_ns`), and what not (`computing_ns`); `each_ns` has the
 * whole of every rank. The last time is checked by the way back: `error` is the largest difference from the input,
 * whose numbers are up to 1. Status 1: it is above 1e-4, or the words are wrong.
 */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiss_fft.h"

#define TIMES_MAX 1000
#define ERROR_MAX 1e-4

/* A matrix of which each rank has rows / ranks rows; and what it takes to transform it. */
struct plan {
  int ranks, rank;
  int64_t points, rows, columns; /* n1, n2 */
  size_t own;                    /* points of this rank */
  kiss_fft_cpx *packed, *turned; /* of `own` points */
  kiss_fft_cfg rows_of_n1, rows_of_n2;
  double exchange_s; /* in MPI_Alltoall, since it was set to 0 */
};

struct config {
  int64_t points;
  int times, times_min;
  double within_s;
  const char *save;
};

/* Of one rank, one time. */
struct took {
  double whole_s, exchange_s;
};

/* The factor of N next to its root so that ranks divide it and the other; 0: there is none. */
static int64_t split(int64_t points, int ranks) {
  for (int64_t rows = (int64_t)sqrt((double)points); rows >= ranks; rows--) {
    if (rows % ranks == 0 && points % rows == 0 && points / rows % ranks == 0) return rows;
  }
  return 0;
}

/* rows x columns, in parts of rows, becomes columns x rows, in parts of columns. */
static void transpose(struct plan *plan, kiss_fft_cpx *data, int64_t rows, int64_t columns) {
  int64_t high = rows / plan->ranks, wide = columns / plan->ranks;
  kiss_fft_cpx *to = plan->packed;
  for (int other = 0; other < plan->ranks; other++) {
    for (int64_t column = 0; column < wide; column++) {
      const kiss_fft_cpx *from = data + other * wide + column;
      for (int64_t row = 0; row < high; row++) *to++ = from[row * columns];
    }
  }
  int bytes = (int)(high * wide * (int64_t)sizeof *data);
  double start_s = MPI_Wtime();
  MPI_Alltoall(plan->packed, bytes, MPI_BYTE, plan->turned, bytes, MPI_BYTE, MPI_COMM_WORLD);
  plan->exchange_s += MPI_Wtime() - start_s;
  for (int other = 0; other < plan->ranks; other++) {
    const kiss_fft_cpx *from = plan->turned + other * wide * high;
    for (int64_t column = 0; column < wide; column++) {
      memcpy(data + column * rows + other * high, from + column * high, (size_t)high * sizeof *data);
    }
  }
}

static void transform_rows(struct plan *plan, kiss_fft_cpx *data, kiss_fft_cfg how, int64_t length) {
  for (size_t at = 0; at < plan->own; at += (size_t)length) kiss_fft(how, data + at, plan->turned + at);
  memcpy(data, plan->turned, plan->own * sizeof *data);
}

/* Row j2 is of this rank from `first` on: each of its numbers k1 is turned by -2 pi j2 k1 / N. */
static void turn(const struct plan *plan, kiss_fft_cpx *data) {
  int64_t high = plan->columns / plan->ranks, first = high * plan->rank;
  for (int64_t row = 0; row < high; row++) {
    for (int64_t k = 0; k < plan->rows; k++) {
      double angle = -2 * M_PI * (double)((first + row) * k % plan->points) / (double)plan->points;
      kiss_fft_cpx *at = &data[row * plan->rows + k], was = *at;
      float real = (float)cos(angle), imaginary = (float)sin(angle);
      at->r = was.r * real - was.i * imaginary;
      at->i = was.r * imaginary + was.i * real;
    }
  }
}

static void transform(struct plan *plan, kiss_fft_cpx *data) {
  transpose(plan, data, plan->rows, plan->columns);
  transform_rows(plan, data, plan->rows_of_n1, plan->rows);
  turn(plan, data);
  transpose(plan, data, plan->columns, plan->rows);
  transform_rows(plan, data, plan->rows_of_n2, plan->columns);
  transpose(plan, data, plan->rows, plan->columns);
}

/* The same numbers for any count of ranks: from their place, well mixed, in -1 .. 1. */
static float number_at(uint64_t place) {
  uint64_t mixed = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return (float)((double)(mixed >> 40) / (1 << 23) - 1);
}

static void fill(const struct plan *plan, kiss_fft_cpx *data) {
  uint64_t first = plan->own * (uint64_t)plan->rank;
  for (size_t i = 0; i < plan->own; i++) {
    data[i] = (kiss_fft_cpx){number_at(2 * (first + i)), number_at(2 * (first + i) + 1)};
  }
}

/* The way back is the way there between two reflections. The largest difference from the input, of all ranks. */
static double error_of(struct plan *plan, kiss_fft_cpx *data, kiss_fft_cpx *input) {
  double worst = 0, all = 0;
  for (size_t i = 0; i < plan->own; i++) data[i].i = -data[i].i;
  transform(plan, data);
  fill(plan, input);
  for (size_t i = 0; i < plan->own; i++) {
    double real = data[i].r / (double)plan->points - input[i].r;
    double imaginary = -data[i].i / (double)plan->points - input[i].i;
    worst = fmax(worst, fmax(fabs(real), fabs(imaginary)));
  }
  MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/* All parts behind one another, by rank 0, a part at a time. False: it could not be written. */
static bool save(const struct plan *plan, const char *directory, const char *name, const kiss_fft_cpx *data) {
  char path[4096];
  int bytes = (int)(plan->own * sizeof *data);
  if (plan->rank > 0) return MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "wb");
  bool written = file && fwrite(data, 1, (size_t)bytes, file) == (size_t)bytes;
  for (int from = 1; from < plan->ranks; from++) {
    MPI_Recv(plan->packed, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    written = written && fwrite(plan->packed, 1, (size_t)bytes, file) == (size_t)bytes;
  }
  return file && fclose(file) == 0 && written;
}

/* Whether there is one more time, as rank 0 says: clocks differ. */
static bool goes_on(const struct config *wanted, int done, double start_s) {
  int more = done < wanted->times_min || (done < wanted->times && MPI_Wtime() - start_s < wanted->within_s);
  MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return more;
}

static struct took transform_timed(struct plan *plan, kiss_fft_cpx *data) {
  fill(plan, data);
  plan->exchange_s = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double start_s = MPI_Wtime();
  transform(plan, data);
  return (struct took){MPI_Wtime() - start_s, plan->exchange_s};
}

/* What each rank took, at rank 0: its times behind one another, `all` of ranks. How many there are. */
static int measure(struct plan *plan, kiss_fft_cpx *data, const struct config *wanted, struct took *all) {
  static struct took own[TIMES_MAX];
  int done = 0;
  transform_timed(plan, data);
  double start_s = MPI_Wtime();
  while (goes_on(wanted, done, start_s)) own[done++] = transform_timed(plan, data);
  int bytes = done * (int)sizeof *own;
  MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  return done;
}

static void print_ns(int i, double s) {
  printf("%s%.0f", i > 0 ? "," : "", s * 1e9);
}

static void print_record(const struct plan *plan, const struct took *all, int times, double error) {
  static struct took slowest[TIMES_MAX];
  for (int i = 0; i < times; i++) {
    slowest[i] = all[i];
    for (int rank = 1; rank < plan->ranks; rank++) {
      const struct took *other = &all[rank * times + i];
      if (other->whole_s > slowest[i].whole_s) slowest[i] = *other;
    }
  }
  printf("{\"type\":\"fft\",\"points\":%lld,\"ranks\":%d,\"whole_ns\":[", (long long)plan->points, plan->ranks);
  for (int i = 0; i < times; i++) print_ns(i, slowest[i].whole_s);
  printf("],\"computing_ns\":[");
  for (int i = 0; i < times; i++) print_ns(i, slowest[i].whole_s - slowest[i].exchange_s);
  printf("],\"communicating_ns\":[");
  for (int i = 0; i < times; i++) print_ns(i, slowest[i].exchange_s);
  printf("],\"each_ns\":[");
  for (int rank = 0; rank < plan->ranks; rank++) {
    printf(rank > 0 ? ",[" : "[");
    for (int i = 0; i < times; i++) print_ns(i, all[rank * times + i].whole_s);
    printf("]");
  }
  printf("],\"error\":%.2g}\n", error);
}

static int run(struct plan *plan, const struct config *wanted) {
  kiss_fft_cpx *data = malloc(plan->own * sizeof *data), *input = malloc(plan->own * sizeof *input);
  struct took *all = malloc((size_t)plan->ranks * TIMES_MAX * sizeof *all);
  if (!data || !input || !all) return 1;
  bool saved = true;
  int times = measure(plan, data, wanted, all);
  if (wanted->save) {
    fill(plan, input);
    saved = save(plan, wanted->save, "in", input) && save(plan, wanted->save, "out", data);
  }
  double error = error_of(plan, data, input);
  bool right = error <= ERROR_MAX;
  if (plan->rank == 0) print_record(plan, all, times, error);
  if (plan->rank == 0 && !right) fprintf(stderr, "vaiven-fft: the result is wrong: off by %g\n", error);
  free(data);
  free(input);
  free(all);
  return !saved || !right;
}

static bool parse(int argc, char **argv, struct config *wanted) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    if (strcmp(argv[i], "--points") == 0)
      wanted->points = strtoll(argv[i + 1], NULL, 10);
    else if (strcmp(argv[i], "--times") == 0)
      wanted->times = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--times-min") == 0)
      wanted->times_min = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--within-ms") == 0)
      wanted->within_s = atoi(argv[i + 1]) / 1e3;
    else if (strcmp(argv[i], "--save") == 0)
      wanted->save = argv[i + 1];
    else
      return false;
  }
  return wanted->times >= 1 && wanted->times <= TIMES_MAX && wanted->points >= 1 && wanted->points <= 1 << 28 &&
         wanted->times_min >= 1 && wanted->times_min <= wanted->times && wanted->within_s > 0;
}

static int work(int argc, char **argv, struct plan *plan) {
  struct config wanted = {.points = 1 << 20, .times = 10, .times_min = 1, .within_s = INFINITY};
  bool understood = parse(argc, argv, &wanted);
  plan->points = wanted.points;
  plan->rows = understood ? split(wanted.points, plan->ranks) : 0;
  if (plan->rows == 0) {
    if (plan->rank == 0 && !understood)
      fprintf(stderr,
              "usage: vaiven-fft [--points N] [--times T] [--times-min L] [--within-ms MS] [--save DIRECTORY]\n");
    if (plan->rank == 0 && understood)
      fprintf(stderr, "vaiven-fft: %lld points cannot be cut twice among %d ranks: take a multiple of %d\n",
              (long long)wanted.points, plan->ranks, plan->ranks * plan->ranks);
    return 1;
  }
  plan->columns = plan->points / plan->rows;
  plan->own = (size_t)(plan->points / plan->ranks);
  plan->packed = malloc(plan->own * sizeof *plan->packed);
  plan->turned = malloc(plan->own * sizeof *plan->turned);
  plan->rows_of_n1 = kiss_fft_alloc((int)plan->rows, 0, NULL, NULL);
  plan->rows_of_n2 = kiss_fft_alloc((int)plan->columns, 0, NULL, NULL);
  bool room = plan->packed && plan->turned && plan->rows_of_n1 && plan->rows_of_n2;
  int status = room ? run(plan, &wanted) : 1;
  free(plan->packed);
  free(plan->turned);
  kiss_fft_free(plan->rows_of_n1);
  kiss_fft_free(plan->rows_of_n2);
  return status;
}

int main(int argc, char **argv) {
  struct plan plan = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &plan.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &plan.ranks);
  int status = work(argc, argv, &plan);
  MPI_Finalize();
  return status;
}
