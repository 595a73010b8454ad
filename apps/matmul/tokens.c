/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tokens.h"

#define GATHERS   2    /* of a layer: behind attention, and behind what follows it */
#define DIFFERENT 4096 /* rounds until numbers come again; with a rank they are exact in a float */

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static float number_of(int round, int rank) {
  return (float)(round % DIFFERENT * CARRIER_RANKS_MAX + rank);
}

/* Its first and last number of each part are looked at: all would take longer than what is measured. */
static int wrong_of(const float *all, int part, int round, int ranks) {
  int wrong = 0;
  for (int rank = 0; rank < ranks; rank++) {
    float right = number_of(round, rank);
    wrong += all[rank * part] != right;
    wrong += all[(rank + 1) * part - 1] != right;
  }
  return wrong;
}

/* What the slowest rank took for each token. The first token, which makes the connections, is not counted. */
static int measure(const struct options *wanted, struct carrier at, float *own, float *all, double *took_ns) {
  int part = wanted->width / at.ranks, rounds = wanted->layers * GATHERS, wrong = 0;
  for (int token = -1; token < wanted->tokens; token++) {
    if (token <= 0) carrier_barrier();
    double began_ns = now_ns();
    for (int i = 0; i < rounds; i++) {
      int round = (token + 1) * rounds + i;
      for (int number = 0; number < part; number++) own[number] = number_of(round, at.rank);
      if (wanted->mesh)
        carrier_mesh(own, all, (size_t)part * sizeof *own);
      else
        carrier_allgather(own, all, (size_t)part * sizeof *own);
      wrong += wrong_of(all, part, round, at.ranks);
    }
    if (token >= 0) took_ns[token] = now_ns() - began_ns;
  }
  return wrong;
}

/* Of the ranks' rows of `count` numbers, the largest in each column. */
static void print_largest(const double *rows, int ranks, int count) {
  for (int i = 0; i < count; i++) {
    double most = 0;
    for (int rank = 0; rank < ranks; rank++) {
      double one = rows[rank * (count + 1) + i];
      if (one > most) most = one;
    }
    printf("%s%.0f", i > 0 ? "," : "", most);
  }
}

int tokens_run(const struct options *wanted, struct carrier at) {
  int count = wanted->tokens, wrong = 0;
  float *own = malloc((size_t)wanted->width * sizeof *own), *all = malloc((size_t)wanted->width * sizeof *all);
  double *row = malloc((size_t)(count + 1) * sizeof *row); /* its times, and how many numbers were wrong */
  double *rows = malloc((size_t)at.ranks * (size_t)(count + 1) * sizeof *rows);
  if (!own || !all || !row || !rows) {
    fprintf(stderr, "vaiven-matmul: no memory for %d tokens of %d numbers\n", count, wanted->width);
    exit(1);
  }
  row[count] = measure(wanted, at, own, all, row);
  carrier_allgather(row, rows, (size_t)(count + 1) * sizeof *row);
  for (int rank = 0; rank < at.ranks; rank++) wrong += (int)rows[rank * (count + 1) + count];
  if (at.rank == 0) {
    printf("{\"type\":\"tokens\",\"carrier\":\"%s\",\"mesh\":%s,\"ranks\":%d,\"layers\":%d,\"width\":%d,\"token_ns\":[",
           carrier_name, wanted->mesh ? "true" : "false", at.ranks, wanted->layers, wanted->width);
    print_largest(rows, at.ranks, count);
    printf("],\"wrong\":%d}\n", wrong);
  }
  free(own);
  free(all);
  free(row);
  free(rows);
  return wrong > 0;
}
