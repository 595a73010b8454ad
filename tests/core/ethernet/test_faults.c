/* SPDX-License-Identifier: BSD-3-Clause */
/* Each fault happens as often as asked for, and none that was not asked for. */
#include "core/ethernet/faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FRAMES = 200000, STEP_NS = 1000 };

struct tally {
  uint32_t dropped[VV_DROPS];
  uint32_t passed;
  uint32_t doubled;
  uint32_t overtaken; /* arrivals before that of an earlier frame */
  uint32_t bursts;    /* of losses, of any length */
};

static struct tally pass(uint64_t seed, uint32_t link, struct vv_faults_config config) {
  struct vv_faults faults;
  struct tally tally = {0};
  vv_ns latest_ns = 0;
  bool lost = false;
  vv_faults_init(&faults, seed, link);
  faults.config = config;
  for (vv_ns i = 1; i <= FRAMES; i++) {
    struct vv_faults_fate fate = vv_faults_decide(&faults, i * STEP_NS);
    if (fate.copies == 0 && !lost) tally.bursts++;
    lost = fate.copies == 0;
    if (lost) {
      tally.dropped[fate.why]++;
      continue;
    }
    assert_true(fate.arrives_ns >= i * STEP_NS + config.delay_ns);
    assert_true(fate.arrives_ns <= i * STEP_NS + config.delay_ns + config.reorder_ns);
    if (fate.arrives_ns < latest_ns) tally.overtaken++;
    if (fate.arrives_ns > latest_ns) latest_ns = fate.arrives_ns;
    tally.passed++;
    if (fate.copies == 2) tally.doubled++;
  }
  return tally;
}

/* Within five standard deviations of a binomial. */
static void assert_share(uint32_t count, uint32_t of, double share) {
  double off = (double)count - share * of;
  if (off * off > 25 * of * share * (1 - share)) fail_msg("%u of %u, not %g", count, of, share);
}

static void test_a_good_link_passes_everything_at_once(void **state) {
  (void)state;
  struct tally tally = pass(1, 0, (struct vv_faults_config){0});
  assert_int_equal(tally.passed, FRAMES);
  assert_int_equal(tally.doubled + tally.overtaken, 0);
  tally = pass(1, 0, (struct vv_faults_config){.delay_ns = 777777});
  assert_int_equal(tally.passed, FRAMES);
  assert_int_equal(tally.doubled + tally.overtaken, 0);
}

static void test_each_fault_as_often_as_asked_for(void **state) {
  (void)state;
  struct tally tally = pass(2, 0, (struct vv_faults_config){.loss = 0.05});
  assert_share(tally.dropped[VV_DROP_LOSS], FRAMES, 0.05);
  assert_int_equal(tally.passed, FRAMES - tally.dropped[VV_DROP_LOSS]);
  assert_share(tally.bursts, tally.dropped[VV_DROP_LOSS], 0.95); /* each by itself */
  tally = pass(3, 0, (struct vv_faults_config){.corrupt = 0.01});
  assert_share(tally.dropped[VV_DROP_CORRUPT], FRAMES, 0.01);
  assert_int_equal(tally.passed, FRAMES - tally.dropped[VV_DROP_CORRUPT]);
  tally = pass(4, 0, (struct vv_faults_config){.duplicate = 0.1});
  assert_share(tally.doubled, FRAMES, 0.1);
  assert_int_equal(tally.passed, FRAMES);
}

/* A burst of Gilbert and Elliott lasts 1 / leave frames, and enter / (enter + leave) of all frames are in one. */
static void test_losses_come_in_bursts(void **state) {
  (void)state;
  struct vv_faults_config config = {.burst_enter = 0.01, .burst_leave = 0.2, .burst_loss = 1};
  struct tally tally = pass(5, 0, config);
  double lost = tally.dropped[VV_DROP_LOSS], mean = lost / tally.bursts, share = lost / FRAMES;
  assert_true(mean > 4.6 && mean < 5.4);                         /* of 1900 bursts: deviation 0.1 */
  assert_true(share > 0.0476 - 0.004 && share < 0.0476 + 0.004); /* deviation 0.0014 */
}

/* Late by up to 10 frames, half of them by more than 5: a late frame is behind its followers, the others keep order. */
static void test_reordered_frames_are_overtaken(void **state) {
  (void)state;
  struct vv_faults_config config = {.reorder = 0.02, .reorder_ns = 10 * STEP_NS, .delay_ns = 500};
  struct tally tally = pass(6, 0, config);
  assert_int_equal(tally.passed, FRAMES);
  assert_true(tally.overtaken > FRAMES * 0.02);
}

static void test_a_shorter_delay_overtakes_nothing(void **state) {
  (void)state;
  struct vv_faults faults;
  vv_faults_init(&faults, 7, 0);
  faults.config.delay_ns = 1000000;
  assert_int_equal(vv_faults_decide(&faults, 10).arrives_ns, 1000010);
  faults.config.delay_ns = 0;
  assert_int_equal(vv_faults_decide(&faults, 20).arrives_ns, 1000010);
  assert_int_equal(vv_faults_decide(&faults, 2000000).arrives_ns, 2000000);
}

static void test_nothing_passes_a_cut(void **state) {
  (void)state;
  struct vv_faults faults;
  vv_faults_init(&faults, 8, 0);
  faults.cut = true;
  struct vv_faults_fate fate = vv_faults_decide(&faults, 10);
  assert_int_equal(fate.copies, 0);
  assert_int_equal(fate.why, VV_DROP_CUT);
  faults.cut = false;
  assert_int_equal(vv_faults_decide(&faults, 20).copies, 1);
}

/* The frames that a link loses stay the same when it is also asked to do other things, and differ between links. */
static void test_faults_are_independent(void **state) {
  (void)state;
  struct vv_faults plain, busy, other;
  vv_faults_init(&plain, 9, 4);
  vv_faults_init(&busy, 9, 4);
  vv_faults_init(&other, 9, 5);
  plain.config = other.config = (struct vv_faults_config){.loss = 0.5};
  busy.config = (struct vv_faults_config){.loss = 0.5, .duplicate = 0.5, .reorder = 0.5, .reorder_ns = 9};
  uint32_t same = 0;
  for (uint64_t i = 0; i < 10000; i++) {
    bool passes = vv_faults_decide(&plain, i).copies > 0;
    assert_int_equal(vv_faults_decide(&busy, i).copies > 0, passes);
    same += (vv_faults_decide(&other, i).copies > 0) == passes;
  }
  assert_share(same, 10000, 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_good_link_passes_everything_at_once),
      cmocka_unit_test(test_each_fault_as_often_as_asked_for),
      cmocka_unit_test(test_losses_come_in_bursts),
      cmocka_unit_test(test_reordered_frames_are_overtaken),
      cmocka_unit_test(test_a_shorter_delay_overtakes_nothing),
      cmocka_unit_test(test_nothing_passes_a_cut),
      cmocka_unit_test(test_faults_are_independent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
