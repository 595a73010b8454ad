/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types and reductions of whichever MPI's mpi.h was included before, as those of
 * vaiven/coll.h: handles differ from MPI to MPI, their names do not.
 */
#ifndef VV_MPI_COLL_NUMBERS_H
#define VV_MPI_COLL_NUMBERS_H

#include "vaiven/coll.h"

#define VV_NUMBERS_INTEGER(c_type, sign)                                                                               \
  (sizeof(c_type) == 1   ? VV_DATA_##sign##8                                                                           \
   : sizeof(c_type) == 2 ? VV_DATA_##sign##16                                                                          \
   : sizeof(c_type) == 4 ? VV_DATA_##sign##32                                                                          \
                         : VV_DATA_##sign##64)

/* How many bytes a number of that type has, which is one of Fortran: its compiler may have been told. */
typedef size_t vv_numbers_bytes(MPI_Datatype type);

static inline enum vv_data_type vv_numbers_fortran(MPI_Datatype type, vv_numbers_bytes *bytes_of) {
  const MPI_Datatype integers[] = {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8};
  const MPI_Datatype reals[] = {MPI_DOUBLE_PRECISION, MPI_REAL, MPI_REAL4, MPI_REAL8};
  const MPI_Datatype complexes[] = {MPI_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16};
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
    if (integers[i] != type) continue;
    const size_t bytes = bytes_of(type);
    return bytes == 1 ? VV_DATA_INT8 : bytes == 2 ? VV_DATA_INT16 : bytes == 4 ? VV_DATA_INT32 : VV_DATA_INT64;
  }
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    if (reals[i] == type) return bytes_of(type) == sizeof(float) ? VV_DATA_FLOAT : VV_DATA_DOUBLE;
    if (complexes[i] == type)
      return bytes_of(type) == 2 * sizeof(float) ? VV_DATA_COMPLEX_FLOAT : VV_DATA_COMPLEX_DOUBLE;
  }
  return (enum vv_data_type)0;
}

/* 0: numbers of that type are left to the MPI, as are those that it alone may refuse (MPI_CHAR, MPI_BYTE). */
static inline enum vv_data_type vv_numbers_type(MPI_Datatype type, vv_numbers_bytes *bytes_of) {
  const struct {
    MPI_Datatype mpi;
    enum vv_data_type own;
  } known[] = {
      {MPI_INT, VV_NUMBERS_INTEGER(int, INT)},
      {MPI_DOUBLE, VV_DATA_DOUBLE},
      {MPI_FLOAT, VV_DATA_FLOAT},
      {MPI_LONG, VV_NUMBERS_INTEGER(long, INT)},
      {MPI_LONG_LONG, VV_DATA_INT64},
      {MPI_INT64_T, VV_DATA_INT64},
      {MPI_UINT64_T, VV_DATA_UINT64},
      {MPI_INT32_T, VV_DATA_INT32},
      {MPI_UINT32_T, VV_DATA_UINT32},
      {MPI_UNSIGNED, VV_NUMBERS_INTEGER(unsigned, UINT)},
      {MPI_UNSIGNED_LONG, VV_NUMBERS_INTEGER(unsigned long, UINT)},
      {MPI_UNSIGNED_LONG_LONG, VV_DATA_UINT64},
      {MPI_SHORT, VV_NUMBERS_INTEGER(short, INT)},
      {MPI_UNSIGNED_SHORT, VV_NUMBERS_INTEGER(unsigned short, UINT)},
      {MPI_INT16_T, VV_DATA_INT16},
      {MPI_UINT16_T, VV_DATA_UINT16},
      {MPI_SIGNED_CHAR, VV_DATA_INT8},
      {MPI_UNSIGNED_CHAR, VV_DATA_UINT8},
      {MPI_INT8_T, VV_DATA_INT8},
      {MPI_UINT8_T, VV_DATA_UINT8},
      {MPI_C_FLOAT_COMPLEX, VV_DATA_COMPLEX_FLOAT},
      {MPI_C_DOUBLE_COMPLEX, VV_DATA_COMPLEX_DOUBLE},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].mpi == type) return known[i].own;
  }
  return vv_numbers_fortran(type, bytes_of);
}

/* 0: that reduction is left to the MPI. */
static inline enum vv_coll_op vv_numbers_op(MPI_Op op) {
  const struct {
    MPI_Op mpi;
    enum vv_coll_op own;
  } known[] = {
      {MPI_SUM, VV_COLL_SUM},  {MPI_PROD, VV_COLL_PRODUCT}, {MPI_MIN, VV_COLL_MIN},  {MPI_MAX, VV_COLL_MAX},
      {MPI_BAND, VV_COLL_AND}, {MPI_BOR, VV_COLL_OR},       {MPI_BXOR, VV_COLL_XOR},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].mpi == op) return known[i].own;
  }
  return (enum vv_coll_op)0;
}

/* Whether an allreduce of these can be one of ours. */
static inline bool vv_numbers_fold(MPI_Datatype type, MPI_Op op, vv_numbers_bytes *bytes_of) {
  const enum vv_data_type own = vv_numbers_type(type, bytes_of);
  const enum vv_coll_op fold = vv_numbers_op(op);
  const bool has_bits = own != VV_DATA_FLOAT && own != VV_DATA_DOUBLE;
  const bool has_order = own != VV_DATA_COMPLEX_FLOAT && own != VV_DATA_COMPLEX_DOUBLE;
  if (!own || !fold) return false;
  if (fold == VV_COLL_AND || fold == VV_COLL_OR || fold == VV_COLL_XOR) return has_bits && has_order;
  return has_order || (fold != VV_COLL_MIN && fold != VV_COLL_MAX);
}

#endif
