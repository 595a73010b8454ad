/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/tree.h"

#include <assert.h>

static uint32_t place_of(const struct vv_tree *tree, uint32_t rank) {
  return rank >= tree->root ? rank - tree->root : rank + tree->ranks - tree->root;
}

static uint32_t rank_at(const struct vv_tree *tree, uint32_t place) {
  uint32_t behind = tree->ranks - tree->root;
  return place < behind ? tree->root + place : place - behind;
}

static uint32_t fanout(const struct vv_tree *tree) {
  return vv_tree_flat(tree->ranks) ? VV_TREE_FLAT_MAX : VV_TREE_FANOUT;
}

bool vv_tree_flat(uint32_t ranks) {
  return ranks <= VV_TREE_FLAT_MAX;
}

uint32_t vv_tree_children_max(uint32_t ranks) {
  return vv_tree_flat(ranks) ? ranks - 1 : VV_TREE_FANOUT;
}

uint32_t vv_tree_children(const struct vv_tree *tree) {
  uint64_t first = (uint64_t)place_of(tree, tree->rank) * fanout(tree) + 1;
  if (first >= tree->ranks) return 0;
  return tree->ranks - first < fanout(tree) ? (uint32_t)(tree->ranks - first) : fanout(tree);
}

uint32_t vv_tree_child_number(const struct vv_tree *tree, uint32_t rank) {
  uint32_t place = place_of(tree, rank);
  if (place == 0 || (place - 1) / fanout(tree) != place_of(tree, tree->rank)) return UINT32_MAX;
  return (place - 1) % fanout(tree);
}

uint32_t vv_tree_child(const struct vv_tree *tree, uint32_t number) {
  assert(number < vv_tree_children(tree));
  return rank_at(tree, place_of(tree, tree->rank) * fanout(tree) + 1 + number);
}

uint32_t vv_tree_parent(const struct vv_tree *tree) {
  uint32_t place = place_of(tree, tree->rank);
  return place == 0 ? tree->root : rank_at(tree, (place - 1) / fanout(tree));
}

uint32_t vv_tree_slot(const struct vv_tree *tree) {
  return (place_of(tree, tree->rank) + VV_TREE_SLOTS - 1) % VV_TREE_SLOTS;
}

/* The receiver that is `steps` behind this one among all receivers, or among those that report to the root too. */
static uint32_t peer(const struct vv_tree *tree, uint32_t steps, uint32_t peers) {
  uint32_t place = place_of(tree, tree->rank);
  return rank_at(tree, 1 + (place - 1 + steps) % peers);
}

uint32_t vv_tree_helper(const struct vv_tree *tree, uint32_t attempt) {
  uint32_t place = place_of(tree, tree->rank);
  uint32_t receivers = tree->ranks - 1;
  assert(tree->ranks >= 2 && place > 0);
  if (attempt % 2 == 1 || receivers == 1) return tree->root;
  if (attempt == 0 && place > fanout(tree)) return vv_tree_parent(tree);
  uint32_t near = receivers < fanout(tree) ? receivers : fanout(tree);
  uint32_t peers = attempt == 0 ? near : receivers;
  return peer(tree, 1 + attempt / 2 % (peers - 1), peers);
}
