/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passports of the ranks of a communicator, as their MPI brings them: up to eight, one behind the other. What is read
 * names no network that there cannot be, and is the same when it is written again; a network that all have has an
 * address of each.
 */
#include <assert.h>
#include <string.h>

#include "mpi/coll/passport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS_MAX = 8 };

static void check(const struct vv_passport *read) {
  uint8_t bytes[VV_PASSPORT_BYTES];
  struct vv_passport again;
  assert(read->networks_count <= VV_PASSPORT_NETWORKS_MAX);
  for (size_t i = 0; i < read->networks_count; i++) {
    assert(read->networks[i].prefix >= 1 && read->networks[i].prefix <= 32);
  }
  vv_passport_emit(read, bytes);
  assert(vv_passport_parse(bytes, &again));
  uint8_t twice[VV_PASSPORT_BYTES];
  vv_passport_emit(&again, twice);
  assert(memcmp(twice, bytes, sizeof bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct vv_passport all[RANKS_MAX];
  uint32_t addresses[RANKS_MAX], ranks = 0;
  for (; ranks < RANKS_MAX && size >= VV_PASSPORT_BYTES;
       ranks++, data += VV_PASSPORT_BYTES, size -= VV_PASSPORT_BYTES) {
    if (!vv_passport_parse(data, &all[ranks])) return 0;
    check(&all[ranks]);
  }
  if (ranks == 0 || !vv_passport_common(all, ranks, addresses)) return 0;
  const uint32_t hosts = vv_passport_hosts(addresses, ranks, RANKS_MAX);
  assert(hosts >= 1 && hosts <= ranks);
  return 0;
}
