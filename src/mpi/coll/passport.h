/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a communicator tell each other before they meet as a group, by
 * their MPI, and what all of them conclude from it (network byte order):
 *
 *   0 version (1) | 1 flags (1) | 2 networks (1) | 3 0 (1) | 4 family (8) | 12 offer (8)
 *   20 four times: address (4), prefix (1), 0 (3)
 */
#ifndef VV_MPI_COLL_PASSPORT_H
#define VV_MPI_COLL_PASSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VV_PASSPORT_BYTES = 52, VV_PASSPORT_NETWORKS_MAX = 4 };

struct vv_passport_network {
  uint32_t address; /* IPv4, of this rank's host */
  uint8_t prefix;   /* 1 .. 32 */
};

struct vv_passport {
  bool threads;    /* several threads of it may call MPI at once */
  bool unwilling;  /* something lacks: it will not be of a group */
  uint64_t family; /* number of one in which it has all ranks of the communicator; 0: none */
  uint64_t offer;  /* a number that no family has; that of rank 0 is the new one's */
  uint8_t networks_count;
  struct vv_passport_network networks[VV_PASSPORT_NETWORKS_MAX]; /* in the order in which it would take them */
};

void vv_passport_emit(const struct vv_passport *passport, uint8_t bytes[VV_PASSPORT_BYTES]);
/* False, and nothing set, where that is no passport of this version. */
bool vv_passport_parse(const uint8_t bytes[VV_PASSPORT_BYTES], struct vv_passport *passport);

/*
 * The network that all have, the first one of rank 0 that is: `addresses` has that of
 * each rank in it. False: there is none.
 */
bool vv_passport_common(const struct vv_passport *all, uint32_t ranks, uint32_t *addresses);

/* How many hosts these addresses are of; it counts no further than `enough`. */
uint32_t vv_passport_hosts(const uint32_t *addresses, uint32_t ranks, uint32_t enough);

#endif
