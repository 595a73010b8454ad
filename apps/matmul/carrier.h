/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carrier: how the ranks of vaiven-matmul reach each other. This is the header of three files, one for each way:
 * carrier_mpi.c (any MPI), carrier_group.c (libvaiven), carrier_pvm.c (PVM 3). A program is linked with one of them.
 *
 * All ranks make the same calls in the same order. A call that fails says why in a sentence and ends the process with
 * status 1. Bytes travel as they are: the hosts are alike.
 */
#ifndef VAIVEN_MATMUL_CARRIER_H
#define VAIVEN_MATMUL_CARRIER_H

#include <stddef.h>

#define CARRIER_RANKS_MAX 1024

struct carrier {
  int ranks, rank;
};

extern const char carrier_name[]; /* "mpi", "group", "pvm" */

/*
 * Joins the others. PVM's first task starts them itself: so many that there are `tasks` (0: one on each host), by the
 * name argv[0] and with its words. Elsewhere a launcher has started all, and `tasks` and `argv` say nothing.
 */
struct carrier carrier_open(int tasks, char **argv);

/* What root has in `data` everybody has. */
void carrier_broadcast(int root, void *data, size_t size_bytes);

/* Begins one, which goes on while the caller computes, if the library lets it. One at a time; `data` is its own. */
void carrier_begin_broadcast(int root, void *data, size_t size_bytes);

/* Waits for the end of the one that was begun. */
void carrier_wait(void);

/* `own` of rank i becomes part i of everybody's `all`, each of `part_bytes`, by the library's own operation. */
void carrier_allgather(const void *own, void *all, size_t part_bytes);

/* The same by a message from each rank to each other one. */
void carrier_mesh(const void *own, void *all, size_t part_bytes);

/* Ends nowhere before it was begun everywhere. */
void carrier_barrier(void);

/* Leaves in order. */
void carrier_close(void);

#endif
