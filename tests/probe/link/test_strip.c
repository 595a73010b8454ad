/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of another clock contain the truth whatever messages wait for; clocks that are set meanwhile are found out. */
#include "probe/link/strip.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/base/rng.h"

#define TRIALS  1000
#define COVERED 950
#define NOW_NS  (1800000000 * VV_SEC)
#define WIRE_NS 13440.0 /* of a short frame over two links of 100 Mb/s */

/* What each way takes beyond the wire: at least, and on average beyond that. The rest is software and queues. */
struct network {
  const char *name;
  double there_ns, there_queue_ns;
  double back_ns, back_queue_ns;
  double drift_ppm;
  double width_ns; /* what the half-width is below, at the median */
};

static const struct network networks[] = {
    {"both ways alike", 6560, 2000, 6560, 2000, 0, 10000},
    {"the way back queued", 6560, 2000, 6560, 20000, 0, 14000},
    {"the way there never free", 106560, 50000, 6560, 2000, 0, 70000},
    {"another path back", 6560, 2000, 9560, 2000, 0, 12000},
    {"their clock is slow", 6560, 2000, 6560, 20000, -50, 14000},
    {"their clock is fast", 6560, 20000, 6560, 2000, 50, 14000},
    {"nobody waits", 100, 0, 100, 0, 50, 200},
};

/* What is true of one trial. */
struct trial {
  struct vv_rng rng;
  double ahead_ns, drift; /* at NOW_NS, and per ns */
  double step_ns, step_at_ns;
  double took_ns;
};

static double waited_ns(struct vv_rng *rng, double mean_ns) {
  return -mean_ns * log(1 - vv_rng_unit(rng));
}

static double truth_ns(const struct trial *trial, double after_ns) {
  return trial->ahead_ns + trial->drift * after_ns + (after_ns > trial->step_at_ns ? trial->step_ns : 0);
}

static struct trial make_trial(uint64_t seed, double drift_ppm) {
  struct trial trial = {.rng = {seed}, .drift = drift_ppm * 1e-6, .step_at_ns = INFINITY};
  trial.ahead_ns = (vv_rng_unit(&trial.rng) - 0.5) * 1e12;
  trial.took_ns = 1e7 + 1e9 * vv_rng_unit(&trial.rng);
  return trial;
}

/* Three visits to the other end, as a cell makes them: before it, between what is tried and what counts, after it. */
static void read_all(struct trial *trial, const struct network *network,
                     struct vv_strip_reading readings[VV_STRIP_READINGS_MAX]) {
  double at_ns = 0;
  for (size_t i = 0; i < VV_STRIP_READINGS_MAX; i++) {
    if (i == VV_STRIP_READINGS_MAX / 3) at_ns = 0.2 * trial->took_ns;
    if (i == 2 * VV_STRIP_READINGS_MAX / 3) at_ns = trial->took_ns;
    double sent_ns = at_ns;
    at_ns += WIRE_NS + network->there_ns + waited_ns(&trial->rng, network->there_queue_ns);
    double theirs_ns = at_ns + truth_ns(trial, at_ns);
    at_ns += WIRE_NS + network->back_ns + waited_ns(&trial->rng, network->back_queue_ns);
    readings[i] = (struct vv_strip_reading){.earliest_ns = NOW_NS + (int64_t)floor(sent_ns + WIRE_NS),
                                            .theirs_ns = NOW_NS + (int64_t)llround(theirs_ns),
                                            .latest_ns = NOW_NS + (int64_t)ceil(at_ns - WIRE_NS)};
  }
}

static struct vv_strip make_strip(const struct trial *trial) {
  return (struct vv_strip){.at_ns = {NOW_NS + (int64_t)(0.2 * trial->took_ns), NOW_NS + trial->took_ns}};
}

static bool covers(const struct vv_strip *strip, const struct trial *trial) {
  bool within = true;
  for (int i = 0; i < 2; i++) {
    double truth = truth_ns(trial, (double)(strip->at_ns[i] - NOW_NS));
    within = within && (double)strip->low_ns[i] - 1 <= truth && truth <= (double)strip->high_ns[i] + 1;
  }
  return within;
}

static void the_truth_is_within_whatever_waits(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof networks / sizeof networks[0]; n++) {
    int within = 0, drifts = 0, narrow = 0, near = 0;
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
      struct vv_strip_reading readings[VV_STRIP_READINGS_MAX];
      struct trial trial = make_trial(seed, networks[n].drift_ppm);
      struct vv_strip strip = make_strip(&trial);
      int64_t drift_ppb[2];
      vv_ns middle_ns = strip.at_ns[0] / 2 + strip.at_ns[1] / 2;
      read_all(&trial, &networks[n], readings);
      assert_true(vv_strip_fit(&strip, readings, VV_STRIP_READINGS_MAX));
      vv_strip_drift_ppb(&strip, drift_ppb);
      vv_ns half_ns = vv_strip_half_width_ns(&strip);
      double off_ns = (double)vv_strip_ahead_ns(&strip, middle_ns) - truth_ns(&trial, (double)(middle_ns - NOW_NS));
      within += covers(&strip, &trial);
      near += fabs(off_ns) <= (double)half_ns + 1;
      drifts += drift_ppb[0] - 1 <= 1e9 * trial.drift && 1e9 * trial.drift <= drift_ppb[1] + 1;
      narrow += (double)half_ns < networks[n].width_ns;
    }
    printf("%s: %d within, %d drifts, %d narrow\n", networks[n].name, within, drifts, narrow);
    assert_true(within >= COVERED && drifts >= COVERED && near >= COVERED && narrow >= TRIALS / 2);
  }
}

static void a_clock_that_is_set_meanwhile_is_found_out(void **state) {
  (void)state;
  const double steps_ns[] = {-3.6e12, -1e6, -3e5, 3e5, 1e6, 3.6e12}; /* an hour is what time zones are wrong by */
  for (size_t n = 0; n < sizeof steps_ns / sizeof steps_ns[0]; n++) {
    for (uint64_t seed = 0; seed < TRIALS; seed++) {
      struct vv_strip_reading readings[VV_STRIP_READINGS_MAX];
      struct trial trial = make_trial(seed, 50);
      struct vv_strip strip = make_strip(&trial);
      trial.step_ns = steps_ns[n];
      trial.step_at_ns = trial.took_ns * (0.2 + 0.7 * vv_rng_unit(&trial.rng));
      read_all(&trial, &networks[0], readings);
      assert_false(vv_strip_fit(&strip, readings, VV_STRIP_READINGS_MAX));
    }
  }
}

static void a_clock_that_goes_too_fast_is_no_clock(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    struct vv_strip_reading readings[VV_STRIP_READINGS_MAX];
    struct trial trial = make_trial(1, sign * 2000);
    struct vv_strip strip = make_strip(&trial);
    read_all(&trial, &networks[0], readings);
    assert_false(vv_strip_fit(&strip, readings, VV_STRIP_READINGS_MAX));
  }
}

static void one_reading_bounds_as_far_as_it_goes(void **state) {
  (void)state;
  struct vv_strip_reading one = {.earliest_ns = 1000, .theirs_ns = 501500, .latest_ns = 2000};
  struct vv_strip strip = {.at_ns = {1500, 1500}};
  assert_true(vv_strip_fit(&strip, &one, 1));
  assert_true(strip.low_ns[0] <= 499500 && 500500 <= strip.high_ns[0]);
  assert_int_equal(vv_strip_ahead_ns(&strip, 1500), (strip.low_ns[0] + strip.high_ns[0]) / 2);
}

/* What a far end says may be anything: within the bounds of its numbers nothing overflows. */
static void clocks_out_of_the_world_do_no_harm(void **state) {
  (void)state;
  const vv_ns shown_ns[] = {-3000000000000000000, 0, 3000000000000000000};
  for (int i = 0; i < 27; i++) {
    struct vv_strip_reading readings[3];
    for (int k = 0, rest = i; k < 3; k++, rest /= 3) {
      readings[k] = (struct vv_strip_reading){NOW_NS + 1000 * k, shown_ns[rest % 3], NOW_NS + 1000 * k + 100};
    }
    struct vv_strip strip = {.at_ns = {NOW_NS, NOW_NS + 3000}};
    vv_strip_fit(&strip, readings, 3);
    assert_true(vv_strip_half_width_ns(&strip) <= INT64_C(200000000000000000));
    vv_strip_ahead_ns(&strip, NOW_NS + 1000000000000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_truth_is_within_whatever_waits),
      cmocka_unit_test(a_clock_that_is_set_meanwhile_is_found_out),
      cmocka_unit_test(a_clock_that_goes_too_fast_is_no_clock),
      cmocka_unit_test(one_reading_bounds_as_far_as_it_goes),
      cmocka_unit_test(clocks_out_of_the_world_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
