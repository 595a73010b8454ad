/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix: the numbers that vaiven-matmul multiplies, float or double, row by row, and what is done with them on one
 * rank. Number k of matrix 0 (B) and 1 (C) follows from its place alone, so every rank can make any of them.
 */
#ifndef VAIVEN_MATMUL_MATRIX_H
#define VAIVEN_MATMUL_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum matrix { MATRIX_B, MATRIX_C, MATRIX_SIGNS };

/* In -1 .. 1, exact in a float. */
double matrix_number(enum matrix which, uint64_t place);

/* The numbers from place `first` on. */
void matrix_fill(enum matrix which, uint64_t first, void *numbers, size_t count, bool single);

/* a (rows x columns) += b (rows x inner, of a matrix with b_width columns) x c (inner x columns), by one processor. */
void matrix_multiply_add(void *a, const void *b, const void *c, int rows, int columns, int inner, int b_width,
                         bool single);

/*
 * How many products of its own this rank computes in a second, each `slower` times over: by the quickest of a tenth of
 * a second, for what else runs on its processor makes products later, never earlier. 0: no memory.
 */
double matrix_products_per_s(int slower, bool single);

/* Number of floating-point operations of such a product. */
double matrix_product_flops(void);

/*
 * Freivalds' check of rows `first` .. of A = B x C, where B is n x n and C is n x m: A s = B (C s) for a vector s of
 * signs, B and C made anew. The largest difference, over the root of n m, the usual size of such a number; NaN: no
 * memory. A false number passes if another one of its row makes up for it.
 */
double matrix_error(const void *a, int first, int rows, int n, int m, bool single);

#endif
