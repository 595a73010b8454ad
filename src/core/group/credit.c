/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/credit.h"

#include "core/wire/gpdu.h"

/* Of a buffer three quarters are given back for sure; of those one part in sixteen is a reserve. */
enum { GIVEN_BACK = 3, OF_BUFFER = 4, RESERVE = 16 };
enum { REPEATED_EACH = 4 };

uint32_t vv_credit_datagrams(uint64_t buffer_bytes, uint64_t charge_bytes) {
  uint64_t room = buffer_bytes * GIVEN_BACK / OF_BUFFER / charge_bytes;
  uint64_t credit = room - room / RESERVE;
  return credit > VV_GPDU_WINDOW_MAX ? VV_GPDU_WINDOW_MAX : (uint32_t)credit;
}

static uint32_t lines_of(uint32_t ranks) {
  return vv_tree_flat(ranks) ? ranks : vv_tree_children_max(ranks);
}

size_t vv_credit_bytes(uint32_t ranks) {
  return lines_of(ranks) * sizeof(struct vv_credit_line);
}

/* Of each line the rank, or the child, that it is about. */
static void begin_lines(struct vv_credit *credit, const struct vv_tree *tree) {
  bool flat = vv_tree_flat(tree->ranks);
  uint32_t lines = flat ? tree->ranks : vv_tree_children(tree);
  for (uint32_t i = 0; i < lines; i++) {
    credit->lines[i] = (struct vv_credit_line){credit->horizon, flat ? i : vv_tree_child(tree, i)};
  }
}

void vv_credit_init(struct vv_credit *credit, void *memory, const struct vv_tree *tree, uint32_t window_datagrams,
                    bool only_polled) {
  *credit = (struct vv_credit){.lines = memory, .window_datagrams = window_datagrams, .only_polled = only_polled};
  begin_lines(credit, tree);
}

void vv_credit_turn(struct vv_credit *credit, const struct vv_tree *tree) {
  credit->polled = 0;
  credit->answer = false;
  credit->repeated = 0;
  if (vv_tree_flat(tree->ranks)) return;
  credit->reported = credit->horizon;
  begin_lines(credit, tree);
}

void vv_credit_heard(struct vv_credit *credit, const struct vv_tree *tree, uint32_t rank, uint64_t position,
                     uint32_t slowest) {
  uint32_t number = vv_tree_flat(tree->ranks) ? rank : vv_tree_child_number(tree, rank);
  if (number == UINT32_MAX || position <= credit->lines[number].consumed) return;
  credit->lines[number] = (struct vv_credit_line){position, slowest};
}

void vv_credit_horizon(struct vv_credit *credit, uint64_t position) {
  if (position > credit->horizon) credit->horizon = position;
}

static struct vv_credit_line lesser(struct vv_credit_line a, struct vv_credit_line b) {
  return b.consumed < a.consumed ? b : a;
}

struct vv_credit_line vv_credit_least(const struct vv_credit *credit, const struct vv_tree *tree, uint64_t own) {
  struct vv_credit_line least = {own, tree->rank};
  uint32_t lines = vv_tree_flat(tree->ranks) ? 0 : vv_tree_children(tree);
  for (uint32_t i = 0; i < lines; i++) least = lesser(least, credit->lines[i]);
  return least;
}

struct vv_credit_line vv_credit_reckon(struct vv_credit *credit, const struct vv_tree *tree, uint64_t own) {
  struct vv_credit_line least = {own, tree->rank};
  if (vv_tree_flat(tree->ranks)) {
    credit->lines[tree->rank] = least;
    for (uint32_t i = 0; i < tree->ranks; i++) least = lesser(least, credit->lines[i]);
  } else if (tree->rank == tree->root) {
    least = vv_credit_least(credit, tree, own);
  } else {
    return (struct vv_credit_line){credit->horizon, tree->rank};
  }
  vv_credit_horizon(credit, least.consumed);
  return least;
}

void vv_credit_poll(struct vv_credit *credit, uint64_t position) {
  credit->polled = position;
  credit->answer = true;
}

bool vv_credit_due(struct vv_credit *credit, const struct vv_tree *tree, uint64_t least) {
  uint32_t half = credit->window_datagrams / 2;
  bool crossed = !credit->only_polled && least / half > credit->reported / half;
  bool awaited = least >= credit->polled && credit->reported < credit->polled;
  if (!crossed && !awaited && !credit->answer) return false;
  credit->repeated = least > credit->reported ? 0 : credit->repeated + 1;
  credit->reported = least;
  credit->answer = false;
  return vv_tree_parent(tree) == tree->root || credit->repeated <= 1 || credit->repeated % REPEATED_EACH == 0;
}

uint64_t vv_credit_limit(const struct vv_credit *credit) {
  return credit->horizon + credit->window_datagrams;
}
