/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/coll/fold.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

typedef void fold(uint8_t *left, const uint8_t *right, size_t count);

/* Each pair passes through locals: what a program calls an array of doubles may begin at any byte. */
#define FOLD(name, type, ...)                                                                                          \
  static void name(uint8_t *left, const uint8_t *right, size_t count) {                                                \
    for (size_t i = 0; i < count; i++) {                                                                               \
      type a, b;                                                                                                       \
      memcpy(&a, left + i * sizeof a, sizeof a);                                                                       \
      memcpy(&b, right + i * sizeof b, sizeof b);                                                                      \
      a = (type)__VA_ARGS__;                                                                                           \
      memcpy(left + i * sizeof a, &a, sizeof a);                                                                       \
    }                                                                                                                  \
  }

/* Sums and products are of unsigned numbers of 64 bits, which wrap: their low bits are those of every narrower one. */
#define INTEGER(type)                                                                                                  \
  FOLD(type##_sum, type, ((uint64_t)a + (uint64_t)b))                                                                  \
  FOLD(type##_product, type, ((uint64_t)a * (uint64_t)b))                                                              \
  FOLD(type##_min, type, (b < a ? b : a))                                                                              \
  FOLD(type##_max, type, (b > a ? b : a))                                                                              \
  FOLD(type##_and, type, (a & b))                                                                                      \
  FOLD(type##_or, type, (a | b))                                                                                       \
  FOLD(type##_xor, type, (a ^ b))

/* Only a NaN is unlike itself. */
#define FLOATING(type)                                                                                                 \
  FOLD(type##_sum, type, (a + b))                                                                                      \
  FOLD(type##_product, type, (a * b))                                                                                  \
  FOLD(type##_min, type, (a != a || a <= b ? a : b))                                                                   \
  FOLD(type##_max, type, (a != a || a >= b ? a : b))

#define COMPLEX(type)                                                                                                  \
  FOLD(type##_sum, struct type, {a.re + b.re, a.im + b.im})                                                            \
  FOLD(type##_product, struct type, {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re})

struct complex_float {
  float re, im;
};
struct complex_double {
  double re, im;
};

INTEGER(int8_t)
INTEGER(uint8_t)
INTEGER(int16_t)
INTEGER(uint16_t)
INTEGER(int32_t)
INTEGER(uint32_t)
INTEGER(int64_t)
INTEGER(uint64_t)
FLOATING(float)
FLOATING(double)
COMPLEX(complex_float)
COMPLEX(complex_double)

#define INTEGER_ROW(type)                                                                                              \
  {                                                                                                                    \
    [VV_COLL_SUM] = type##_sum, [VV_COLL_PRODUCT] = type##_product, [VV_COLL_MIN] = type##_min,                        \
    [VV_COLL_MAX] = type##_max, [VV_COLL_AND] = type##_and, [VV_COLL_OR] = type##_or, [VV_COLL_XOR] = type##_xor       \
  }
#define FLOATING_ROW(type)                                                                                             \
  {                                                                                                                    \
    [VV_COLL_SUM] = type##_sum, [VV_COLL_PRODUCT] = type##_product, [VV_COLL_MIN] = type##_min,                        \
    [VV_COLL_MAX] = type##_max                                                                                         \
  }
#define COMPLEX_ROW(type)                                                                                              \
  { [VV_COLL_SUM] = type##_sum, [VV_COLL_PRODUCT] = type##_product }

static fold *const folds[VV_DATA_COMPLEX_DOUBLE + 1][VV_COLL_XOR + 1] = {
    [VV_DATA_INT8] = INTEGER_ROW(int8_t),
    [VV_DATA_UINT8] = INTEGER_ROW(uint8_t),
    [VV_DATA_INT16] = INTEGER_ROW(int16_t),
    [VV_DATA_UINT16] = INTEGER_ROW(uint16_t),
    [VV_DATA_INT32] = INTEGER_ROW(int32_t),
    [VV_DATA_UINT32] = INTEGER_ROW(uint32_t),
    [VV_DATA_INT64] = INTEGER_ROW(int64_t),
    [VV_DATA_UINT64] = INTEGER_ROW(uint64_t),
    [VV_DATA_FLOAT] = FLOATING_ROW(float),
    [VV_DATA_DOUBLE] = FLOATING_ROW(double),
    [VV_DATA_COMPLEX_FLOAT] = COMPLEX_ROW(complex_float),
    [VV_DATA_COMPLEX_DOUBLE] = COMPLEX_ROW(complex_double),
};

static fold *fold_of(enum vv_coll_op op, enum vv_data_type type) {
  if ((unsigned)type >= sizeof folds / sizeof *folds || (unsigned)op >= sizeof *folds / sizeof **folds) return NULL;
  return folds[type][op];
}

bool vv_fold_defined(enum vv_coll_op op, enum vv_data_type type) {
  return fold_of(op, type) != NULL;
}

void vv_fold(enum vv_coll_op op, enum vv_data_type type, void *left, const void *right, size_t count) {
  fold *folded = fold_of(op, type);
  assert(folded != NULL);
  folded(left, right, count);
}
