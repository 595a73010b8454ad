/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks of a job are to meet, and with which key: what all were told
 * before, or what rank 0 tells by the exchange that the caller has. Whoever can give
 * each rank a record of each other one can start a job: an MPI, a PMIx, files.
 */
#ifndef VV_IO_JOB_PLACE_H
#define VV_IO_JOB_PLACE_H

#include <stdint.h>

#include "core/base/siphash.h"
#include "io/os/address.h"
#include "io/os/error.h"
#include "vaiven/group.h"

struct vv_place {
  struct vv_address at;
  uint8_t key[VV_KEY_BYTES];
  int listener; /* of rank 0, which listens there: before all else, so that nobody who comes finds no one. -1: taken */
};

/*
 * 0, or -1 and *error: "bad-address", "bad-port"; at rank 0 "no-port"; of an exchange "exchange-failed", "rank-failed"
 * (rank 0 has its own error), "bad-key" (of some ranks it is zeros), "random". A rank with an exchange has then called
 * it, whatever else it found wrong, so that no other one waits for it.
 */
int vv_place_find(struct vv_place *place, const struct vv_group_config *config, struct vv_error *error);

/* Forgets the key, and closes what nobody has taken. */
void vv_place_close(struct vv_place *place);

#endif
