/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What VAIVEN_VERBOSE says on stderr of a communicator, at its rank 0: of each kind of
 * operation, at its first call that goes by the group and its first that stays with the
 * MPI, why; and in the end, of each kind and class of sizes, how many calls there were,
 * their median time at this rank, and what had been foretold (mpi/coll/ledger.h).
 */
#ifndef VV_MPI_COLL_REPORT_H
#define VV_MPI_COLL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "mpi/coll/ledger.h"
#include "vaiven/coll.h"

/* Whoever sends a broadcast is done when all is on its way; it takes as long as who takes it waits. */
enum vv_report_row {
  VV_REPORT_BROADCAST_GIVEN,
  VV_REPORT_BROADCAST_TAKEN,
  VV_REPORT_ALLGATHER,
  VV_REPORT_ALLREDUCE,
  VV_REPORT_ROWS
};

#define VV_REPORT_BEGUN "broadcasts that are only begun"

struct vv_report {
  uint32_t ranks;
  const char *route; /* "multicast", "broadcast" */
  bool goes[VV_REPORT_ROWS], stays[VV_REPORT_ROWS];
  uint64_t calls;
  vv_ns ns;
  uint64_t begun; /* broadcasts, beside these calls */
  struct vv_ledger ledgers[VV_REPORT_ROWS];
  /* What carries it, where every rank has a host of its own; 0: not known. */
  uint64_t rate_bps;
  size_t mtu_bytes;
};

/* A sentence, whether anybody has asked for it or not. */
void vv_report_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Why a broadcast of that root has failed at that rank, likewise. */
void vv_report_broadcast_failed(uint32_t root, uint32_t rank, const char *why);

/* NULL: there is no memory, and nothing is said. */
struct vv_report *vv_report_new(uint32_t ranks);

/* The wire over which it goes is that of the interface with this numeric address, if its card, or VAIVEN_LINK_MBPS,
 * tells how fast it is. */
void vv_report_find_wire(struct vv_report *report, const char *address);

/* A call by which everybody gets so many bytes has begun that the MPI carries out itself, because it gains nothing. */
void vv_report_stays(struct vv_report *report, enum vv_coll_kind kind, size_t bytes);

/* A call has been carried out by the group. `gives`: a broadcast, by this rank. */
void vv_report_went(struct vv_report *report, enum vv_coll_kind kind, bool gives, size_t bytes, vv_ns spent_ns);

/* A broadcast was begun by the group; how long it takes lies with its program, too. */
void vv_report_begins(struct vv_report *report);

/* Says what all took, and frees it. NULL is allowed. */
void vv_report_end(struct vv_report *report);

#endif
