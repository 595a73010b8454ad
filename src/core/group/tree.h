/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who reports to whom, under a root. Ranks are numbered anew from the root on:
 * place = (rank - root) mod ranks. Up to VV_TREE_FLAT_MAX ranks all report to the
 * root; more form a heap-shaped tree with VV_TREE_FANOUT children each.
 */
#ifndef VV_CORE_GROUP_TREE_H
#define VV_CORE_GROUP_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define VV_TREE_FLAT_MAX 32
#define VV_TREE_FANOUT   8
#define VV_TREE_SLOTS    64

struct vv_tree {
  uint32_t ranks;
  uint32_t rank; /* whose view it is */
  uint32_t root;
};

/* True when the root hears of every rank itself. */
bool vv_tree_flat(uint32_t ranks);

/* The most children that a rank can have in a group of that many ranks. */
uint32_t vv_tree_children_max(uint32_t ranks);

/* The children of this rank. */
uint32_t vv_tree_children(const struct vv_tree *tree);

/* Which child of this rank that rank is, from 0; UINT32_MAX: none. */
uint32_t vv_tree_child_number(const struct vv_tree *tree, uint32_t rank);

/* The rank of child number i. */
uint32_t vv_tree_child(const struct vv_tree *tree, uint32_t number);

/* The rank that this one reports to; of the root, itself. */
uint32_t vv_tree_parent(const struct vv_tree *tree);

/* This rank's turn among those who answer the same call on a hub: 0 .. VV_TREE_SLOTS - 1. */
uint32_t vv_tree_slot(const struct vv_tree *tree);

/*
 * Whom this rank asks for what it lacks, the attempt-th time in a row: first a
 * peer whose link is idle (its parent, or a sibling when that is the root), then
 * the root, then peers further and further away in turn with the root. Never itself.
 */
uint32_t vv_tree_helper(const struct vv_tree *tree, uint32_t attempt);

#endif
