/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator of an MPI whose collective operations go by multicast, as a group
 * (vaiven/group.h). The faces of the MPIs (openmpi.c, mpich.c) keep one for each
 * communicator, hand over what can be served, and do all else as their MPI does.
 *
 * Whether a call is served all ranks decide alike, by what MPI makes the same at all of
 * them: communicator, operation, root, the bytes of the signature. The first call that
 * can be served finds out whether its communicator is: on three hosts or more, on one
 * IPv4 network that carries multicast or broadcast. If not, it stays with its MPI.
 *
 * While a call waits, the MPI's own messages go on (`progress`). Where several threads
 * may call MPI, calls on different communicators go on beside each other.
 *
 * A broadcast that is only begun (MPI_Ibcast) waits for nobody. The first on a communicator
 * stays with the MPI, and the next call that may wait makes a group for the later ones
 * (mpi/coll/begun.h).
 */
#ifndef VV_MPI_COLL_SERVED_H
#define VV_MPI_COLL_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/coll/begun.h"
#include "mpi/coll/gains.h"
#include "mpi/coll/report.h"
#include "vaiven/coll.h"
#include "vaiven/group.h"

#define VV_SERVED_HOSTS_MIN 3

/* What the MPI below does for us; `communicator` is its own name of one. */
struct vv_served_mpi {
  /* Gives `all` the records of all ranks, in their order, each of so many bytes. 0, or another number. */
  int (*gather_all)(void *communicator, const void *own, void *all, size_t bytes);
  /* The process of each rank, `ranks` of them: a number that is the same at all, and no two have. False: one is not of
   * this job, or lacks what we are. */
  bool (*who)(void *communicator, uint64_t *who);
  /* Moves its messages on. From any thread, several at once where they may call MPI. */
  void (*progress)(void);
  bool threads; /* several threads may call MPI at once */
};

enum vv_served_way { VV_SERVED_UNTRIED, VV_SERVED_BY_GROUP, VV_SERVED_BY_MPI };

/* For a group by which broadcasts are begun: the first that the MPI had to carry out asks for it. */
enum vv_served_asking { VV_SERVED_NOT_ASKED, VV_SERVED_ASKED, VV_SERVED_ANSWERED };

struct vv_served {
  void *communicator;
  uint32_t ranks, rank;
  enum vv_served_way way;
  struct vv_group *group;
  struct vv_begun_group *begins; /* by which broadcasts are begun; NULL: none yet */
  enum vv_served_asking asking;
  struct vv_report *report; /* of its rank 0, where somebody wants to know; else NULL */
};

/* Before the first call. Of the environment: VAIVEN_VERBOSE says what is served and why (mpi/coll/report.h),
 * VAIVEN_IFACE by which interface. */
void vv_served_begin(const struct vv_served_mpi *mpi);

/* Of a communicator that has just been made: costs nothing, unless somebody wants to know. */
void vv_served_init(struct vv_served *served, void *communicator, uint32_t ranks, uint32_t rank);

/* Finds out whether it is served: all ranks call it. */
void vv_served_try(struct vv_served *served);

/* Makes what was asked for, or finds out that it cannot be: all ranks call it. */
void vv_served_answer(struct vv_served *served);

/* A call has come, of any kind, that may wait for all ranks. */
static inline void vv_served_may_wait(struct vv_served *served) {
  if (served->asking == VV_SERVED_ASKED) vv_served_answer(served);
}

/* Where somebody wants to know: such a call stays with the MPI. */
void vv_served_leave(struct vv_served *served, enum vv_coll_kind kind, size_t bytes);

/* Whether an operation is to be served by which everybody gets so many bytes, the same number at all ranks. The first
 * that may be finds out whether its communicator is. */
static inline bool vv_served_can(struct vv_served *served, enum vv_coll_kind kind, size_t bytes) {
  vv_served_may_wait(served);
  if (!vv_gains(kind, served->ranks, bytes)) {
    if (served->report) vv_served_leave(served, kind, bytes);
    return false;
  }
  if (served->way == VV_SERVED_UNTRIED) vv_served_try(served);
  return served->way == VV_SERVED_BY_GROUP;
}

/* What the root's buffer has is in everybody's. 0, or -1: said on stderr, and the group is no more. */
int vv_served_broadcast(struct vv_served *served, void *buffer, size_t bytes, uint32_t root);

/* Any other operation, likewise. `bytes`: what everybody gets. */
int vv_served_call(struct vv_served *served, const struct vv_coll_call *call, size_t bytes);

/*
 * Whether a broadcast of so many bytes may be begun here: that waits for nobody, and so finds out nothing with others.
 * Where it cannot be yet it asks the next call that may wait.
 */
bool vv_served_can_begin(struct vv_served *served, size_t bytes);

/* Begins it; the face has filled in what is its own, but for the ranks. False: said on stderr. */
bool vv_served_begin_broadcast(struct vv_served *served, struct vv_begun *begun, uint32_t root);

/* The communicator is freed. What was begun on it goes on. */
void vv_served_end(struct vv_served *served);

/* The MPI ends, everywhere. */
void vv_served_end_all(void);

#endif
