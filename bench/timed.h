/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs of any MPI measure with, in ns: a clock that the hosts of a lab share, medians, the last rank's time.
 */
#ifndef VV_BENCH_TIMED_H
#define VV_BENCH_TIMED_H

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static inline double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int by_value(const void *a, const void *b) {
  const double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

static inline double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static inline double largest(double own) {
  double all;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

#endif
