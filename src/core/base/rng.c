/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/rng.h"

uint64_t vv_rng_next(struct vv_rng *rng) {
  uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

double vv_rng_unit(struct vv_rng *rng) {
  return (double)(vv_rng_next(rng) >> 11) * 0x1p-53;
}
