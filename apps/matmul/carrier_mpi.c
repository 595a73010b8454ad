/* SPDX-License-Identifier: BSD-3-Clause */
/* By MPI, whichever it is: an error ends the job, which is what MPI does by itself. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "carrier.h"

const char carrier_name[] = "mpi";

static struct carrier at;
static MPI_Request begun;

struct carrier carrier_open(int tasks, char **argv) {
  (void)tasks;
  (void)argv;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &at.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &at.ranks);
  if (at.ranks > CARRIER_RANKS_MAX) {
    fprintf(stderr, "vaiven-matmul: %d ranks are more than %d\n", at.ranks, CARRIER_RANKS_MAX);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return at;
}

void carrier_broadcast(int root, void *data, size_t size_bytes) {
  MPI_Bcast(data, (int)size_bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

void carrier_begin_broadcast(int root, void *data, size_t size_bytes) {
  MPI_Ibcast(data, (int)size_bytes, MPI_BYTE, root, MPI_COMM_WORLD, &begun);
}

void carrier_wait(void) {
  MPI_Wait(&begun, MPI_STATUS_IGNORE);
}

void carrier_allgather(const void *own, void *all, size_t part_bytes) {
  MPI_Allgather(own, (int)part_bytes, MPI_BYTE, all, (int)part_bytes, MPI_BYTE, MPI_COMM_WORLD);
}

void carrier_mesh(const void *own, void *all, size_t part_bytes) {
  static MPI_Request requests[2 * CARRIER_RANKS_MAX];
  static MPI_Status statuses[2 * CARRIER_RANKS_MAX]; /* gcc warns of MPI_STATUSES_IGNORE of MPICH */
  int count = 0, bytes = (int)part_bytes;
  uint8_t *parts = all;
  for (int other = 0; other < at.ranks; other++) {
    if (other == at.rank) continue;
    MPI_Irecv(parts + (size_t)other * part_bytes, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(own, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[count++]);
  }
  memcpy(parts + (size_t)at.rank * part_bytes, own, part_bytes);
  MPI_Waitall(count, requests, statuses);
}

void carrier_barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

void carrier_close(void) {
  MPI_Finalize();
}
