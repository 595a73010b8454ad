/* SPDX-License-Identifier: BSD-3-Clause */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "matrix.h"

#define SAMPLE_ROWS 192 /* of the product that tells a rank's speed: some ms on a slow machine, and in its cache */
#define SAMPLE_S    0.1
#define PLACES_BITS 40 /* of the places in a matrix */

double matrix_number(enum matrix which, uint64_t place) {
  uint64_t mixed = (place + ((uint64_t)which << PLACES_BITS) + 1) * UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return (double)(mixed >> 40) / (1 << 23) - 1;
}

void matrix_fill(enum matrix which, uint64_t first, void *numbers, size_t count, bool single) {
  float *floats = numbers;
  double *doubles = numbers;
  for (size_t i = 0; i < count; i++) {
    double number = matrix_number(which, first + i);
    if (single)
      floats[i] = (float)number;
    else
      doubles[i] = number;
  }
}

void matrix_multiply_add(void *a, const void *b, const void *c, int rows, int columns, int inner, int b_width,
                         bool single) {
  openblas_set_num_threads(1); /* a rank is a processor's work: others have ranks of their own */
  if (single)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1, b, b_width, c, columns, 1, a,
                columns);
  else
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1, b, b_width, c, columns, 1, a,
                columns);
}

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void multiply_sample(double *numbers, int times, bool single) {
  size_t count = (size_t)SAMPLE_ROWS * SAMPLE_ROWS;
  for (int i = 0; i < times; i++) {
    matrix_multiply_add(numbers, numbers + count, numbers + 2 * count, SAMPLE_ROWS, SAMPLE_ROWS, SAMPLE_ROWS,
                        SAMPLE_ROWS, single);
  }
}

double matrix_products_per_s(int slower, bool single) {
  size_t count = (size_t)3 * SAMPLE_ROWS * SAMPLE_ROWS;
  double *numbers = calloc(count, sizeof *numbers);
  if (!numbers) return 0;
  multiply_sample(numbers, 1, single); /* brings code and numbers into the caches */
  double began_s = now_s(), last_s = began_s, quickest_s = INFINITY;
  while (last_s - began_s < SAMPLE_S) {
    multiply_sample(numbers, slower, single);
    double ended_s = now_s();
    quickest_s = fmin(quickest_s, ended_s - last_s);
    last_s = ended_s;
  }
  free(numbers);
  return 1 / quickest_s;
}

double matrix_product_flops(void) {
  return 2.0 * SAMPLE_ROWS * SAMPLE_ROWS * SAMPLE_ROWS;
}

static double sign(int column) {
  return matrix_number(MATRIX_SIGNS, (uint64_t)column) < 0 ? -1 : 1;
}

double matrix_error(const void *a, int first, int rows, int n, int m, bool single) {
  const float *floats = a;
  const double *doubles = a;
  double worst = 0, *turned = calloc((size_t)n, sizeof *turned); /* C s */
  if (!turned) return NAN;
  for (int k = 0; k < n; k++) {
    for (int j = 0; j < m; j++) turned[k] += sign(j) * matrix_number(MATRIX_C, (uint64_t)k * (uint64_t)m + (uint64_t)j);
  }
  for (int i = 0; i < rows; i++) {
    double difference = 0;
    uint64_t row = (uint64_t)(first + i) * (uint64_t)n;
    for (int j = 0; j < m; j++) {
      size_t at = (size_t)i * (size_t)m + (size_t)j;
      difference += sign(j) * (single ? (double)floats[at] : doubles[at]);
    }
    for (int k = 0; k < n; k++) difference -= matrix_number(MATRIX_B, row + (uint64_t)k) * turned[k];
    worst = difference == difference ? fmax(worst, fabs(difference)) : INFINITY;
  }
  free(turned);
  return worst / sqrt((double)n * m);
}
