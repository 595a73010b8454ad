/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carrier.h"
#include "options.h"

#define SENTENCE_BYTES 200
#define ROWS_MAX       32768
#define SLOWER_MAX     1000
#define LAYERS_MAX     10000
#define WIDTH_MAX      1000000

struct integer {
  const char *name;
  int *value, min, max;
};

struct real {
  const char *name;
  double *value;
};

struct flag {
  const char *name;
  bool *value;
};

static bool read_integer(const char *text, const struct integer *option, char *wrong) {
  char *end;
  errno = 0;
  long value = text ? strtol(text, &end, 10) : 0;
  if (text && *text && *end == '\0' && errno == 0 && value >= option->min && value <= option->max) {
    *option->value = (int)value;
    return true;
  }
  snprintf(wrong, SENTENCE_BYTES, "%s wants a number from %d to %d, not %.40s", option->name, option->min, option->max,
           text ? text : "nothing");
  return false;
}

static bool read_real(const char *text, const struct real *option, char *wrong) {
  char *end;
  double value = text ? strtod(text, &end) : 0;
  if (text && *text && *end == '\0' && isfinite(value) && value >= 0) {
    *option->value = value;
    return true;
  }
  snprintf(wrong, SENTENCE_BYTES, "%s wants a number from 0 on, not %.40s", option->name, text ? text : "nothing");
  return false;
}

/* The words that an option took, from *at on: 0, and a sentence: none. -1: it is no number. */
static int read_number(char **at, struct options *wanted, char *wrong) {
  const struct integer integers[] = {
      {"--n", &wanted->n, 1, ROWS_MAX},
      {"--m", &wanted->m, 1, ROWS_MAX},
      {"--panel", &wanted->panel_rows, 1, ROWS_MAX},
      {"--times", &wanted->times, 1, OPTIONS_TIMES_MAX},
      {"--times-min", &wanted->times_min, 1, OPTIONS_TIMES_MAX},
      {"--ranks", &wanted->ranks, 1, CARRIER_RANKS_MAX},
      {"--slow", &wanted->slow_rank, 0, CARRIER_RANKS_MAX - 1},
      {"--tokens", &wanted->tokens, 1, OPTIONS_TIMES_MAX},
      {"--layers", &wanted->layers, 1, LAYERS_MAX},
      {"--width", &wanted->width, 1, WIDTH_MAX},
  };
  const struct integer factor = {"--slow RANK", &wanted->slow_factor, 1, SLOWER_MAX};
  const struct real reals[] = {{"--alpha-ns", &wanted->alpha_ns},
                               {"--beta-ns-per-byte", &wanted->beta_ns_per_byte},
                               {"--within-ms", &wanted->within_ms}};
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
    if (strcmp(at[0], integers[i].name) != 0) continue;
    if (!read_integer(at[1], &integers[i], wrong)) return 0;
    if (integers[i].value != &wanted->slow_rank) return 2;
    return read_integer(at[2], &factor, wrong) ? 3 : 0;
  }
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    if (strcmp(at[0], reals[i].name) == 0) return read_real(at[1], &reals[i], wrong) ? 2 : 0;
  }
  return -1;
}

/* The same of any option. */
static int read_option(char **at, struct options *wanted, char *wrong) {
  const struct flag flags[] = {{"--float", &wanted->single},
                               {"--equal", &wanted->equal},
                               {"--overlap", &wanted->overlap},
                               {"--mesh", &wanted->mesh}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    if (strcmp(at[0], flags[i].name) != 0) continue;
    *flags[i].value = true;
    return 1;
  }
  if (strcmp(at[0], "--save") == 0) {
    wanted->save = at[1];
    if (!at[1]) snprintf(wrong, SENTENCE_BYTES, "--save wants a directory");
    return at[1] ? 2 : 0;
  }
  int took = read_number(at, wanted, wrong);
  if (took >= 0) return took;
  snprintf(wrong, SENTENCE_BYTES, "there is no option %.40s", at[0]);
  return 0;
}

bool options_parse(char **argv, struct options *wanted, char *wrong) {
  *wanted = (struct options){.n = 1024,
                             .times = 3,
                             .times_min = 1,
                             .within_ms = INFINITY,
                             .slow_rank = -1,
                             .slow_factor = 1,
                             .alpha_ns = -1,
                             .beta_ns_per_byte = -1,
                             .layers = 64,
                             .width = 4096};
  wanted->panel_rows = ROWS_MAX;
  for (char **at = argv + 1; *at;) {
    int took = read_option(at, wanted, wrong);
    if (took == 0) return false;
    at += took;
  }
  if (wanted->m == 0) wanted->m = wanted->n;
  const char *lacks = NULL;
  if (wanted->mesh && wanted->tokens == 0) lacks = "--mesh is a way of --tokens, and that is not asked for";
  if ((wanted->alpha_ns < 0) != (wanted->beta_ns_per_byte < 0))
    lacks = "--alpha-ns and --beta-ns-per-byte tell something only together";
  if (wanted->times_min > wanted->times) lacks = "--times-min is more than --times";
  if (lacks) snprintf(wrong, SENTENCE_BYTES, "%s", lacks);
  return !lacks;
}
