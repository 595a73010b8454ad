/* SPDX-License-Identifier: BSD-3-Clause */
/* tokens: what a language model that is spread over hosts by tensor parallelism sends for each token, and nothing else.
 */
#ifndef VAIVEN_MATMUL_TOKENS_H
#define VAIVEN_MATMUL_TOKENS_H

#include "carrier.h"
#include "options.h"

/* Sends for so many tokens; rank 0 prints the record. Ranks divide the width. 0, or 1: a number was wrong. */
int tokens_run(const struct options *wanted, struct carrier at);

#endif
