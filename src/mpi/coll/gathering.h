/* SPDX-License-Identifier: BSD-3-Clause */
/* What each rank gives is a part of everybody's result: allgather and allgatherv of an MPI. */
#ifndef VV_MPI_COLL_GATHERING_H
#define VV_MPI_COLL_GATHERING_H

#include "mpi/coll/area.h"
#include "mpi/coll/served.h"

/*
 * `parts`: of the result, one for each rank, before vv_area_begin; `from`: what this rank
 * gives, or NULL: its part of the result, where it lies. 0, or -1.
 */
int vv_gathering(struct vv_served *served, vv_area_convert *convert, struct vv_area *from, struct vv_area *parts);

#endif
