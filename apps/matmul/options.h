/* SPDX-License-Identifier: BSD-3-Clause */
/* options: what the words behind vaiven-matmul ask for; matmul.c says what they mean. */
#ifndef VAIVEN_MATMUL_OPTIONS_H
#define VAIVEN_MATMUL_OPTIONS_H

#include <stdbool.h>

#define OPTIONS_TIMES_MAX 1000

struct options {
  int n, m; /* rows, columns; m is 0: as many as rows */
  int panel_rows;
  int times, times_min;
  double within_ms;                  /* no more times after that, but times_min */
  int ranks;                         /* 0: as many as there are */
  bool single;                       /* float, not double */
  bool equal, overlap;               /* parts; broadcasts */
  int slow_rank, slow_factor;        /* slow_rank is -1: none */
  double alpha_ns, beta_ns_per_byte; /* of a broadcast; below 0: not given */
  const char *save;                  /* a directory, or NULL */
  int tokens, layers, width;         /* tokens is 0: matrices are multiplied */
  bool mesh;
};

/* Reads the words behind argv[0]. False, and a sentence in `wrong`, which has room for 200 bytes. */
bool options_parse(char **argv, struct options *wanted, char *wrong);

#endif
