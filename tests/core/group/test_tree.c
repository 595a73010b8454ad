/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree: every rank has one parent, which knows it as a child; helpers are never oneself and reach everybody. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/group/tree.h"

static const uint32_t sizes[] = {2, 3, 8, 9, 32, 33, 40, 100, 1000};

static void test_parents_and_children_agree(void **state) {
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    uint32_t ranks = sizes[s], children = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
      struct vv_tree tree = {ranks, rank, ranks / 3}, parent = tree;
      parent.rank = vv_tree_parent(&tree);
      uint32_t number = vv_tree_child_number(&parent, rank);
      children += vv_tree_children(&tree);
      assert_true(vv_tree_children(&tree) <= vv_tree_children_max(ranks));
      assert_int_equal(number == UINT32_MAX, rank == tree.root);
      if (rank != tree.root) assert_int_equal(vv_tree_child(&parent, number), rank);
    }
    assert_int_equal(children, ranks - 1);
  }
}

static void test_few_ranks_report_to_the_root_and_many_are_not_deep(void **state) {
  (void)state;
  struct vv_tree few = {VV_TREE_FLAT_MAX, 5, 9};
  assert_int_equal(vv_tree_parent(&few), 9);
  uint32_t depth = 0;
  for (struct vv_tree many = {10000, 9999, 0}; many.rank != 0; many.rank = vv_tree_parent(&many)) depth++;
  assert_true(depth <= 5);
}

static void test_the_root_is_helper_every_other_time(void **state) {
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    struct vv_tree tree = {sizes[s], sizes[s] - 1, 0};
    for (uint32_t attempt = 0; attempt < 3 * sizes[s]; attempt++) {
      uint32_t helper = vv_tree_helper(&tree, attempt);
      assert_true(helper < sizes[s] && helper != tree.rank);
      assert_true(attempt % 2 == 0 || helper == 0);
    }
  }
}

static void test_helpers_reach_everybody(void **state) {
  (void)state;
  struct vv_tree tree = {40, 17, 3};
  bool asked[40] = {false};
  for (uint32_t attempt = 0; attempt < 160; attempt++) asked[vv_tree_helper(&tree, attempt)] = true;
  for (uint32_t rank = 0; rank < 40; rank++) assert_int_equal(asked[rank], rank != 17);
}

static void test_first_helpers_share_the_work(void **state) {
  (void)state;
  uint32_t asked[16] = {0};
  for (uint32_t rank = 1; rank < 16; rank++) {
    struct vv_tree tree = {16, rank, 0};
    asked[vv_tree_helper(&tree, 0)]++;
  }
  for (uint32_t rank = 1; rank < 16; rank++) assert_int_equal(asked[rank], 1);
}

static void test_slots_differ(void **state) {
  (void)state;
  bool taken[VV_TREE_SLOTS] = {false};
  for (uint32_t rank = 0; rank < 16; rank++) {
    struct vv_tree tree = {16, rank, 4};
    uint32_t slot = vv_tree_slot(&tree);
    assert_true(slot < VV_TREE_SLOTS);
    if (rank == 4) continue;
    assert_true(slot < 15 && !taken[slot]);
    taken[slot] = true;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parents_and_children_agree),
      cmocka_unit_test(test_few_ranks_report_to_the_root_and_many_are_not_deep),
      cmocka_unit_test(test_the_root_is_helper_every_other_time),
      cmocka_unit_test(test_helpers_reach_everybody),
      cmocka_unit_test(test_first_helpers_share_the_work),
      cmocka_unit_test(test_slots_differ),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
