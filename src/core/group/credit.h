/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far everybody is, and so how far a root may send.
 *
 * Credit belongs to the DATA socket of a receiver, not to a root: whoever is
 * root of whatever operation, position p is sent only when all ranks have
 * consumed position p - window. The horizon is what all have consumed, as far as
 * this rank knows; it may lag behind the truth and never runs ahead of it.
 *
 * Who knows: every rank reports to the root of its operation when it has crossed
 * half a window, and to a root that polls. Up to VV_TREE_FLAT_MAX ranks
 * this table has a line for each rank, and whatever a rank sends counts. In a
 * larger group it has a line for each child, holds what the child's whole
 * subtree has consumed, and begins anew at the horizon when the root changes.
 */
#ifndef VV_CORE_GROUP_CREDIT_H
#define VV_CORE_GROUP_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/group/tree.h"

struct vv_credit_line {
  uint64_t consumed;
  uint32_t slowest; /* the rank that holds it there */
};

struct vv_credit {
  struct vv_credit_line *lines; /* flat: by rank; else by child */
  uint32_t window_datagrams;
  uint64_t horizon;
  uint64_t reported; /* to the present root */
  uint64_t polled;   /* a root waits until all have consumed what is below; 0: none */
  bool only_polled;
  bool answer;       /* a poll waits for an answer, whatever it is */
  uint32_t repeated; /* answers in a row that had nothing new to say */
};

/*
 * How many datagrams may be in a receive buffer. Linux frees what was read only
 * in quarters of the buffer, or when the queue is empty: hence three quarters;
 * less a reserve of one in sixteen for frames that a network repeats.
 * `charge_bytes`: what the kernel charges for a full datagram that came the real
 * way, the largest seen.
 */
uint32_t vv_credit_datagrams(uint64_t buffer_bytes, uint64_t charge_bytes);

size_t vv_credit_bytes(uint32_t ranks);

/* only_polled: nobody reports unless asked, because on a hub it would collide with what the root sends. */
void vv_credit_init(struct vv_credit *credit, void *memory, const struct vv_tree *tree, uint32_t window_datagrams,
                    bool only_polled);

/* The root has changed: the tree is that of the new one. */
void vv_credit_turn(struct vv_credit *credit, const struct vv_tree *tree);

/* `rank` (a child; in a flat group anybody) says that its subtree has consumed what is below position. */
void vv_credit_heard(struct vv_credit *credit, const struct vv_tree *tree, uint32_t rank, uint64_t position,
                     uint32_t slowest);

/* Somebody knows that all have consumed what is below position. */
void vv_credit_horizon(struct vv_credit *credit, uint64_t position);

/* What this rank and its subtree have consumed, and who holds it there. */
struct vv_credit_line vv_credit_least(const struct vv_credit *credit, const struct vv_tree *tree, uint64_t own);

/* What all have consumed, by this table, and who holds it there; the horizon moves there. */
struct vv_credit_line vv_credit_reckon(struct vv_credit *credit, const struct vv_tree *tree, uint64_t own);

/* The root waits until all have consumed what is below position. */
void vv_credit_poll(struct vv_credit *credit, uint64_t position);

/*
 * True when it is time to report `least` up the tree; it is then taken as
 * reported. A root that polls is awake, but a parent between may sleep, and what
 * its children say waits in its buffer: of answers that only repeat what it was
 * told it gets the first, in case that was lost, and then every fourth.
 */
bool vv_credit_due(struct vv_credit *credit, const struct vv_tree *tree, uint64_t least);

/* The position below which a root may send. */
uint64_t vv_credit_limit(const struct vv_credit *credit);

#endif
