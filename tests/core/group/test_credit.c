/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit: what fits a buffer, who is counted, when a report is due. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/group/credit.h"

static struct vv_credit_line lines[VV_TREE_FLAT_MAX];

static void test_what_fits_a_buffer(void **state) {
  (void)state;
  assert_int_equal(vv_credit_datagrams(212992, 2990), 50);  /* 53 in three quarters, less a sixteenth */
  assert_int_equal(vv_credit_datagrams(425984, 2990), 100); /* 106 */
  assert_int_equal(vv_credit_datagrams(1000, 2990), 0);
}

static void test_the_slowest_rank_holds_the_horizon(void **state) {
  (void)state;
  struct vv_tree tree = {4, 0, 0};
  struct vv_credit credit;
  vv_credit_init(&credit, lines, &tree, 8, false);
  assert_true(vv_credit_limit(&credit) == 8);
  vv_credit_heard(&credit, &tree, 1, 5, 1);
  vv_credit_heard(&credit, &tree, 2, 4, 2);
  struct vv_credit_line least = vv_credit_reckon(&credit, &tree, 8);
  assert_true(least.consumed == 0 && least.slowest == 3 && vv_credit_limit(&credit) == 8);
  vv_credit_heard(&credit, &tree, 3, 6, 3);
  least = vv_credit_reckon(&credit, &tree, 8);
  assert_true(least.consumed == 4 && least.slowest == 2 && vv_credit_limit(&credit) == 12);
  vv_credit_heard(&credit, &tree, 2, 3, 2); /* old news */
  assert_true(vv_credit_reckon(&credit, &tree, 8).consumed == 4);
}

static void test_a_large_group_counts_subtrees_and_begins_anew(void **state) {
  (void)state;
  struct vv_tree tree = {100, 0, 0};
  struct vv_credit credit;
  vv_credit_init(&credit, lines, &tree, 8, false);
  for (uint32_t i = 0; i < VV_TREE_FANOUT; i++) vv_credit_heard(&credit, &tree, vv_tree_child(&tree, i), 7, 50 + i);
  vv_credit_heard(&credit, &tree, 99, 3, 99); /* no child: its parent says it */
  assert_true(vv_credit_reckon(&credit, &tree, 7).consumed == 7);
  tree.root = 50;
  vv_credit_turn(&credit, &tree);
  assert_true(vv_credit_least(&credit, &tree, 9).consumed == (vv_tree_children(&tree) > 0 ? 7 : 9));
  assert_true(vv_credit_reckon(&credit, &tree, 9).consumed == 7); /* not the root: it knows no more */
}

static void test_reports_come_by_halves(void **state) {
  (void)state;
  struct vv_tree tree = {3, 1, 0};
  struct vv_credit credit;
  vv_credit_init(&credit, lines, &tree, 8, false);
  assert_false(vv_credit_due(&credit, &tree, 3));
  assert_true(vv_credit_due(&credit, &tree, 5));
  assert_false(vv_credit_due(&credit, &tree, 7));
  assert_true(vv_credit_due(&credit, &tree, 8));
}

static void test_a_poll_is_answered_at_once_and_again_when_it_is_met(void **state) {
  (void)state;
  struct vv_tree tree = {3, 1, 0};
  struct vv_credit credit;
  vv_credit_init(&credit, lines, &tree, 100, true);
  assert_false(vv_credit_due(&credit, &tree, 99)); /* only polled */
  vv_credit_init(&credit, lines, &tree, 100, true);
  vv_credit_poll(&credit, 10);
  assert_true(vv_credit_due(&credit, &tree, 4));
  assert_false(vv_credit_due(&credit, &tree, 9));
  assert_true(vv_credit_due(&credit, &tree, 10));
  assert_false(vv_credit_due(&credit, &tree, 60));
}

/* Which of twelve polls a rank of that place answers that has consumed nothing meanwhile, one bit each. */
static unsigned answers(struct vv_credit *credit, const struct vv_tree *tree) {
  unsigned answered = 0;
  for (unsigned i = 0; i < 12; i++) {
    vv_credit_poll(credit, 10);
    answered |= (unsigned)vv_credit_due(credit, tree, 4) << i;
  }
  return answered;
}

static void test_a_parent_that_may_sleep_hears_the_same_more_rarely(void **state) {
  (void)state;
  struct vv_tree child = {100, 1, 0}, grandchild = {100, 99, 0};
  struct vv_credit credit;
  vv_credit_init(&credit, lines, &child, 100, true);
  assert_int_equal(answers(&credit, &child), 0xfff);
  vv_credit_init(&credit, lines, &grandchild, 100, true);
  assert_int_equal(answers(&credit, &grandchild), 0x113); /* the news, the same once more, then every fourth */
  vv_credit_poll(&credit, 10);
  assert_true(vv_credit_due(&credit, &grandchild, 10));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_fits_a_buffer),
      cmocka_unit_test(test_the_slowest_rank_holds_the_horizon),
      cmocka_unit_test(test_a_large_group_counts_subtrees_and_begins_anew),
      cmocka_unit_test(test_reports_come_by_halves),
      cmocka_unit_test(test_a_poll_is_answered_at_once_and_again_when_it_is_met),
      cmocka_unit_test(test_a_parent_that_may_sleep_hears_the_same_more_rarely),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
