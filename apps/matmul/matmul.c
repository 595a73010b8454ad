/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-matmul: A = B x C by broadcasts, on ranks that may differ in speed. B is n x n; C and A are n x m.
 *
 *   --n N, --m M       rows (1024), and columns of C (as many)
 *   --float            single precision, not double
 *   --equal            equal parts; else each rank first multiplies small matrices, and rows of A, B and C are dealt
 *                      out in proportion to the speeds that this tells
 *   --panel ROWS       C goes in panels of so many rows at most; else each rank's part is one
 *   --overlap          the next panel's broadcast is begun while this panel is multiplied
 *   --times T          so often (3), after one time that does not count, for it makes the connections, too
 *   --within-ms MS     no more times after that, but --times-min L (1)
 *   --slow RANK FACTOR a model of unlike machines: that rank does all that it multiplies so many times
 *   --alpha-ns A --beta-ns-per-byte B   of a broadcast to these ranks: what is the prediction?
 *   --save DIRECTORY   the ranks write B, C and A into files `b`, `c`, `a` there, which all of them see
 *   --tokens T         instead: the allgathers of a language model that is spread over the ranks, for T tokens, each
 *                      of --layers L (64) with two, of --width W (4096) floats in equal parts
 *   --mesh             each of these as messages from every rank to every other one
 *   --ranks N          so many tasks, where PVM's first one starts the others (one on each host); else it is checked
 *
 * Ranks keep their rows of B, C and A. Rank after rank the owner of a panel broadcasts it, and each rank multiplies it
 * by its columns of B and adds that to its rows of A.
 *
 * Rank 0 prints one JSON record. For each time: `whole_ns` of the slowest rank, from a barrier to its last number, and
 * what of that it was `computing_ns`, and `communicating_ns`, waiting for others among it; `each_ns` has the whole of
 * every rank. `predicted_ns` is of the communication alone: alpha for each panel and beta for each of its bytes.
 * `error` is Freivalds' check of the last time (matrix.h). Status 1: it is too large, or something failed. Status 2:
 * the words are wrong.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"
#include "matrix.h"
#include "options.h"
#include "tokens.h"

#define ERROR_MAX_FLOAT  1e-4
#define ERROR_MAX_DOUBLE 1e-11
#define PANEL_BYTES_MAX  (1 << 30) /* MPI counts in int */
#define PATH_BYTES_MAX   4096

/* Rows of C that one rank broadcasts. */
struct panel {
  int owner, first, rows;
};

/* Of one time. */
struct took {
  double whole_ns, computing_ns, communicating_ns;
};

struct work {
  const struct options *wanted;
  struct carrier at;
  size_t number_bytes, row_bytes;    /* row_bytes: of C and A */
  double speeds[CARRIER_RANKS_MAX];  /* products a second, by rank */
  int firsts[CARRIER_RANKS_MAX + 1]; /* rank r has the rows firsts[r] .. firsts[r + 1] - 1 */
  int panel_count, panel_rows_max;
  struct panel *panels;
  uint8_t *a, *b, *c, *came[2], *spare; /* came: panels of others, in turn. spare: where a slow rank repeats itself */
};

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int rows_of(const struct work *work, int rank) {
  return work->firsts[rank + 1] - work->firsts[rank];
}

static int slower(const struct work *work) {
  return work->wanted->slow_rank == work->at.rank ? work->wanted->slow_factor : 1;
}

/* setting up ---------------------------------------------------------- */

static void need_memory(const struct work *work, bool there) {
  if (there) return;
  fprintf(stderr, "vaiven-matmul: rank %d has no memory for its rows\n", work->at.rank);
  exit(1);
}

/* By sums that are rounded, so no rank is off by a row or more, and all ranks deal alike. */
static void deal(struct work *work) {
  double sum = 0, all = 0, own = 1;
  if (!work->wanted->equal) own = matrix_products_per_s(slower(work), work->wanted->single);
  need_memory(work, own > 0);
  carrier_allgather(&own, work->speeds, sizeof own);
  for (int rank = 0; rank < work->at.ranks; rank++) all += work->speeds[rank];
  for (int rank = 0; rank < work->at.ranks; rank++) {
    sum += work->speeds[rank];
    work->firsts[rank + 1] = (int)(work->wanted->n * (sum / all) + 0.5);
  }
}

/* False: no memory. */
static bool cut_panels(struct work *work) {
  size_t most = PANEL_BYTES_MAX / work->row_bytes;
  int high = work->wanted->panel_rows;
  if ((size_t)high > most) high = (int)most;
  work->panels = malloc((size_t)work->wanted->n * sizeof *work->panels);
  if (!work->panels) return false;
  for (int rank = 0; rank < work->at.ranks; rank++) {
    for (int first = work->firsts[rank]; first < work->firsts[rank + 1]; first += high) {
      int left = work->firsts[rank + 1] - first, rows = left < high ? left : high;
      work->panels[work->panel_count++] = (struct panel){.owner = rank, .first = first, .rows = rows};
      if (rows > work->panel_rows_max) work->panel_rows_max = rows;
    }
  }
  return true;
}

/* The rows of this rank. False: no memory. */
static bool fill(struct work *work) {
  int n = work->wanted->n, m = work->wanted->m, first = work->firsts[work->at.rank];
  size_t rows = (size_t)rows_of(work, work->at.rank), b_count = rows * (size_t)n, c_count = rows * (size_t)m;
  size_t panel_bytes = (size_t)work->panel_rows_max * work->row_bytes;
  work->b = malloc(b_count * work->number_bytes + 1); /* a rank may have no rows */
  work->c = malloc(c_count * work->number_bytes + 1);
  work->a = malloc(c_count * work->number_bytes + 1);
  for (int i = 0; i < 2; i++) work->came[i] = malloc(panel_bytes);
  if (slower(work) > 1) work->spare = calloc(c_count + 1, work->number_bytes);
  if (!work->b || !work->c || !work->a || !work->came[0] || !work->came[1]) return false;
  matrix_fill(MATRIX_B, (uint64_t)first * (uint64_t)n, work->b, b_count, work->wanted->single);
  matrix_fill(MATRIX_C, (uint64_t)first * (uint64_t)m, work->c, c_count, work->wanted->single);
  return slower(work) == 1 || work->spare;
}

static void release(struct work *work) {
  free(work->panels);
  free(work->a);
  free(work->b);
  free(work->c);
  free(work->came[0]);
  free(work->came[1]);
  free(work->spare);
}

/* multiplying --------------------------------------------------------- */

/* Where panel i is, or shall come to, on this rank. */
static uint8_t *place_of(const struct work *work, int i) {
  const struct panel *panel = &work->panels[i];
  if (panel->owner != work->at.rank) return work->came[i % 2];
  return work->c + (size_t)(panel->first - work->firsts[panel->owner]) * work->row_bytes;
}

static size_t bytes_of(const struct work *work, int i) {
  return (size_t)work->panels[i].rows * work->row_bytes;
}

static void begin(const struct work *work, int i) {
  if (i < work->panel_count) {
    carrier_begin_broadcast(work->panels[i].owner, place_of(work, i), bytes_of(work, i));
  }
}

static void communicate(const struct work *work, int i) {
  if (!work->wanted->overlap) {
    carrier_broadcast(work->panels[i].owner, place_of(work, i), bytes_of(work, i));
    return;
  }
  if (i == 0) begin(work, 0);
  carrier_wait();
  begin(work, i + 1);
}

static void compute(const struct work *work, int i) {
  const struct panel *panel = &work->panels[i];
  int rows = rows_of(work, work->at.rank), n = work->wanted->n;
  const uint8_t *b = work->b + (size_t)panel->first * work->number_bytes;
  if (rows == 0) return;
  for (int time = slower(work); time > 0; time--) {
    uint8_t *a = time > 1 ? work->spare : work->a;
    matrix_multiply_add(a, b, place_of(work, i), rows, work->wanted->m, panel->rows, n, work->wanted->single);
  }
}

static struct took multiply(const struct work *work) {
  struct took took = {0};
  memset(work->a, 0, (size_t)rows_of(work, work->at.rank) * work->row_bytes);
  carrier_barrier();
  double began_ns = now_ns(), last_ns = began_ns;
  for (int i = 0; i < work->panel_count; i++) {
    communicate(work, i);
    double came_ns = now_ns();
    took.communicating_ns += came_ns - last_ns;
    compute(work, i);
    last_ns = now_ns();
    took.computing_ns += last_ns - came_ns;
  }
  took.whole_ns = last_ns - began_ns;
  return took;
}

/* what came out ------------------------------------------------------- */

static double error_of_all(const struct work *work) {
  double errors[CARRIER_RANKS_MAX], worst = 0;
  int rows = rows_of(work, work->at.rank), first = work->firsts[work->at.rank];
  double own = matrix_error(work->a, first, rows, work->wanted->n, work->wanted->m, work->wanted->single);
  carrier_allgather(&own, errors, sizeof own);
  for (int rank = 0; rank < work->at.ranks; rank++) {
    if (!(errors[rank] <= worst)) worst = errors[rank];
    if (worst != worst) break; /* NaN: not checked */
  }
  return worst;
}

/* The rows of this rank, at their place in the file. */
static bool save(const struct work *work, const char *name, const uint8_t *rows, int columns) {
  char path[PATH_BYTES_MAX];
  size_t row_bytes = (size_t)columns * work->number_bytes;
  off_t at = (off_t)((size_t)work->firsts[work->at.rank] * row_bytes);
  size_t left_bytes = (size_t)rows_of(work, work->at.rank) * row_bytes;
  snprintf(path, sizeof path, "%s/%s", work->wanted->save, name);
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ssize_t wrote = 0;
  for (; file >= 0 && left_bytes > 0; rows += wrote, at += wrote, left_bytes -= (size_t)wrote) {
    wrote = pwrite(file, rows, left_bytes, at);
    if (wrote <= 0) break;
  }
  bool saved = file >= 0 && close(file) == 0 && left_bytes == 0;
  if (!saved) fprintf(stderr, "vaiven-matmul: rank %d cannot write %s\n", work->at.rank, path);
  return saved;
}

static bool save_all(const struct work *work) {
  int n = work->wanted->n, m = work->wanted->m;
  return save(work, "b", work->b, n) && save(work, "c", work->c, m) && save(work, "a", work->a, m);
}

static void print_parts(const struct work *work) {
  printf("\"rows\":[");
  for (int rank = 0; rank < work->at.ranks; rank++) printf("%s%d", rank > 0 ? "," : "", rows_of(work, rank));
  printf("],\"speed_mflop_per_s\":");
  if (work->wanted->equal) {
    printf("null,");
    return;
  }
  for (int rank = 0; rank < work->at.ranks; rank++) {
    printf("%s%.0f", rank > 0 ? "," : "[", work->speeds[rank] * matrix_product_flops() / 1e6);
  }
  printf("],");
}

/* One number of each time, `member` bytes behind its begin. */
static void print_times(const char *name, const struct took *slowest, int times, size_t member) {
  printf("\"%s\":[", name);
  for (int i = 0; i < times; i++) {
    printf("%s%.0f", i > 0 ? "," : "", *(const double *)(const void *)((const char *)&slowest[i] + member));
  }
  printf("],");
}

/* all: the times of each rank, behind one another. */
static void print_each(const struct work *work, const struct took *all, int times) {
  printf("\"each_ns\":[");
  for (int rank = 0; rank < work->at.ranks; rank++) {
    printf(rank > 0 ? ",[" : "[");
    for (int i = 0; i < times; i++) printf("%s%.0f", i > 0 ? "," : "", all[rank * times + i].whole_ns);
    printf("]");
  }
  printf("],");
}

static void print_communication(const struct work *work, const struct took *slowest, int times) {
  double whole_ns = 0, communicating_ns = 0;
  for (int i = 0; i < times; i++) {
    whole_ns += slowest[i].whole_ns;
    communicating_ns += slowest[i].communicating_ns;
  }
  printf("\"communicating_share\":%.4f,\"predicted_ns\":", communicating_ns / whole_ns);
  if (work->wanted->alpha_ns < 0)
    printf("null,");
  else if (work->at.ranks == 1)
    printf("0,");
  else
    printf("%.0f,", work->panel_count * work->wanted->alpha_ns +
                        work->wanted->n * (double)work->row_bytes * work->wanted->beta_ns_per_byte);
}

static void print_record(const struct work *work, const struct took *slowest, const struct took *all, int times,
                         double error) {
  const struct options *wanted = work->wanted;
  printf("{\"type\":\"matmul\",\"carrier\":\"%s\",\"n\":%d,\"m\":%d,\"number_bytes\":%zu,\"ranks\":%d,", carrier_name,
         wanted->n, wanted->m, work->number_bytes, work->at.ranks);
  print_parts(work);
  printf("\"panels\":%d,\"overlap\":%s,\"slowed\":", work->panel_count, wanted->overlap ? "true" : "false");
  if (wanted->slow_rank < 0)
    printf("null,");
  else
    printf("{\"rank\":%d,\"factor\":%d},", wanted->slow_rank, wanted->slow_factor);
  print_times("whole_ns", slowest, times, offsetof(struct took, whole_ns));
  print_times("computing_ns", slowest, times, offsetof(struct took, computing_ns));
  print_times("communicating_ns", slowest, times, offsetof(struct took, communicating_ns));
  print_each(work, all, times);
  print_communication(work, slowest, times);
  printf(isfinite(error) ? "\"error\":%.2g}\n" : "\"error\":null}\n", error);
}

/* all of it ----------------------------------------------------------- */

/* Whether there is one more time, as rank 0 says: clocks differ. */
static bool goes_on(const struct work *work, int done, double began_ns) {
  const struct options *wanted = work->wanted;
  bool more = done < wanted->times_min || (done < wanted->times && now_ns() - began_ns < wanted->within_ms * 1e6);
  carrier_broadcast(0, &more, sizeof more);
  return more;
}

/* What each rank took, `all`, and for each time what the one with the longest whole did; all ranks know it. How many
 * times there are. */
static int measure(const struct work *work, struct took *own, struct took *all, struct took *slowest) {
  int times = 0;
  multiply(work);
  for (double began_ns = now_ns(); goes_on(work, times, began_ns); times++) own[times] = multiply(work);
  carrier_allgather(own, all, (size_t)times * sizeof *own);
  for (int i = 0; i < times; i++) {
    slowest[i] = all[i];
    for (int rank = 1; rank < work->at.ranks; rank++) {
      const struct took *other = &all[rank * times + i];
      if (other->whole_ns > slowest[i].whole_ns) slowest[i] = *other;
    }
  }
  return times;
}

static int run(struct work *work) {
  size_t most = (size_t)work->wanted->times;
  struct took *took = malloc((2 + (size_t)work->at.ranks) * most * sizeof *took);
  deal(work);
  need_memory(work, took && cut_panels(work) && fill(work));
  struct took *slowest = took + most, *all = slowest + most;
  int times = measure(work, took, all, slowest);
  bool saved = !work->wanted->save || save_all(work);
  double error = error_of_all(work);
  bool right = error <= (work->wanted->single ? ERROR_MAX_FLOAT : ERROR_MAX_DOUBLE);
  if (work->at.rank == 0) print_record(work, slowest, all, times, error);
  if (work->at.rank == 0 && !right) fprintf(stderr, "vaiven-matmul: the result is wrong: off by %g\n", error);
  free(took);
  return !saved || !right;
}

/* What only those can tell who know how many they are. False, and a sentence. */
static bool fits(const struct options *wanted, int ranks, char *wrong, size_t room_bytes) {
  *wrong = '\0';
  if (wanted->ranks > 0 && wanted->ranks != ranks)
    snprintf(wrong, room_bytes, "--ranks says %d, and there are %d", wanted->ranks, ranks);
  if (wanted->slow_rank >= ranks)
    snprintf(wrong, room_bytes, "there is no rank %d to be slow: the last one is %d", wanted->slow_rank, ranks - 1);
  if (wanted->tokens > 0 && wanted->width % ranks != 0)
    snprintf(wrong, room_bytes, "%d numbers cannot be dealt among %d ranks: take a --width that is a multiple",
             wanted->width, ranks);
  return *wrong == '\0';
}

int main(int argc, char **argv) {
  static struct work work;
  struct options wanted;
  char wrong[200];
  int status = 2;
  (void)argc;
  bool understood = options_parse(argv, &wanted, wrong);
  work.wanted = &wanted;
  work.at = carrier_open(understood ? wanted.ranks : 1, argv); /* with wrong words PVM starts nobody else */
  if (!understood || !fits(&wanted, work.at.ranks, wrong, sizeof wrong)) {
    if (work.at.rank == 0) fprintf(stderr, "vaiven-matmul: %s\n", wrong);
    carrier_barrier(); /* a launcher ends the others when the first one fails */
  } else if (wanted.tokens > 0) {
    status = tokens_run(&wanted, work.at);
  } else {
    work.number_bytes = wanted.single ? sizeof(float) : sizeof(double);
    work.row_bytes = (size_t)wanted.m * work.number_bytes;
    status = run(&work);
    release(&work);
  }
  carrier_close();
  return status;
}
