/* SPDX-License-Identifier: BSD-3-Clause */
/* A seeded generator of 64-bit numbers (SplitMix64): the same seed, the same numbers, on every machine. */
#ifndef VV_CORE_BASE_RNG_H
#define VV_CORE_BASE_RNG_H

#include <stdint.h>

struct vv_rng {
  uint64_t state; /* the seed, to begin with */
};

/* The next number, uniform over all 64-bit values. */
uint64_t vv_rng_next(struct vv_rng *rng);

/* Uniform in 0 <= x < 1, in steps of 2^-53. */
double vv_rng_unit(struct vv_rng *rng);

#endif
