/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/kit/warmup.h"

#include <stdlib.h>

#define WINDOW_MIN   3  /* exchanges */
#define WINDOWS_MAX  20 /* of a warm-up, at most */
#define WARM_PERCENT 2  /* the medians of two windows in a row differ by no more */
#define WARM_SHARE   4  /* of the cell's time at most one part in so many */

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

vv_ns vv_warmup_median_ns(vv_ns *values_ns, size_t count) {
  if (count == 0) return 0;
  qsort(values_ns, count, sizeof *values_ns, by_value);
  return values_ns[count / 2];
}

struct warming {
  struct vv_session *session;
  vv_warmup_exchange_fn *exchange;
  void *context;
};

/* A window of `count` exchanges; its median, 0 if none was answered. */
static int run_window(const struct warming *warming, uint32_t count, vv_ns *median_ns, struct vv_error *error) {
  vv_ns values_ns[VV_WARMUP_WINDOW_MAX];
  size_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    int got = warming->exchange(warming->context, &values_ns[used], error);
    if (got < 0) return -1;
    used += got > 0;
  }
  *median_ns = vv_warmup_median_ns(values_ns, used);
  return 0;
}

static bool is_close(vv_ns a_ns, vv_ns b_ns) {
  vv_ns larger_ns = a_ns > b_ns ? a_ns : b_ns;
  return llabs(a_ns - b_ns) * 100 <= WARM_PERCENT * larger_ns;
}

/* So many exchanges that two windows fit in half of the time there is for warming up; 0: not even two of the least. */
static uint32_t window_size(vv_ns budget_ns, vv_ns rtt_ns) {
  if (rtt_ns < 1) rtt_ns = 1;
  if (budget_ns < (1 + 2 * WINDOW_MIN) * rtt_ns) return 0;
  int64_t fits = budget_ns / (4 * rtt_ns);
  return fits > VV_WARMUP_WINDOW_MAX ? VV_WARMUP_WINDOW_MAX : fits < WINDOW_MIN ? WINDOW_MIN : (uint32_t)fits;
}

int vv_warmup(struct vv_session *session, vv_warmup_exchange_fn *exchange, void *context,
              struct vv_warmup_warmth *warmth, struct vv_error *error) {
  const struct warming warming = {session, exchange, context};
  vv_ns start_ns = vv_session_clock_ns(session), budget_ns = session->config->cell_ns / WARM_SHARE;
  vv_ns before_ns, now_ns;
  uint32_t count = 0;
  *warmth = (struct vv_warmup_warmth){0};
  /* One exchange shows how many fit; if too few seem to, a second: the first may bear what a pause costs. */
  for (int i = 0; i < 2 && count == 0; i++) {
    vv_ns begun_ns = vv_session_clock_ns(session);
    if (i > 0 && begun_ns - start_ns >= budget_ns) break;
    if (run_window(&warming, 1, &before_ns, error) != 0) return -1;
    warmth->exchanges++;
    count = window_size(budget_ns, vv_session_clock_ns(session) - begun_ns);
  }
  for (int i = 0; count > 0 && i < WINDOWS_MAX && !warmth->warm; i++) {
    if (vv_session_clock_ns(session) - start_ns >= budget_ns) break;
    if (run_window(&warming, count, &now_ns, error) != 0) return -1;
    warmth->exchanges += count;
    warmth->warm = i > 0 && is_close(before_ns, now_ns);
    before_ns = now_ns;
  }
  vv_ns elapsed_ns = vv_session_clock_ns(session) - start_ns;
  /* A clock that is too coarse for one exchange is good enough for all of them. */
  bool coarse = before_ns < 10 * session->clock.resolution_ns;
  warmth->rtt_ns = coarse ? elapsed_ns / warmth->exchanges : before_ns;
  if (warmth->rtt_ns < 1) warmth->rtt_ns = 1;
  return 0;
}
