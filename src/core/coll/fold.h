/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: numbers of two ranks become one, number by number. A result of many
 * ranks is folded in the order of the ranks, ((x0 + x1) + x2) + ..., whatever way the
 * numbers came: it is the same, bit for bit, at every rank, for every root, and on
 * every machine whose arithmetic is IEEE 754 without excess precision.
 */
#ifndef VV_CORE_COLL_FOLD_H
#define VV_CORE_COLL_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "vaiven/coll.h"
#include "vaiven/data.h"

/* Whether numbers of that type have that reduction: complex ones have no order, and what is no integer has no bits. */
bool vv_fold_defined(enum vv_coll_op op, enum vv_data_type type);

/* left[i] = left[i] op right[i] for `count` numbers in this machine's representation, aligned or not. It is defined. */
void vv_fold(enum vv_coll_op op, enum vv_data_type type, void *left, const void *right, size_t count);

#endif
