/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/passport.h"

#include <string.h>

#include "core/wire/bytes.h"

enum { VERSION = 1, THREADS = 1, UNWILLING = 2, AT_NETWORKS = 20, NETWORK_BYTES = 8 };

void vv_passport_emit(const struct vv_passport *passport, uint8_t bytes[VV_PASSPORT_BYTES]) {
  memset(bytes, 0, VV_PASSPORT_BYTES);
  bytes[0] = VERSION;
  bytes[1] = (uint8_t)((passport->threads ? THREADS : 0) | (passport->unwilling ? UNWILLING : 0));
  bytes[2] = passport->networks_count;
  vv_put64(bytes + 4, passport->family);
  vv_put64(bytes + 12, passport->offer);
  for (size_t i = 0; i < passport->networks_count; i++) {
    uint8_t *at = bytes + AT_NETWORKS + i * NETWORK_BYTES;
    vv_put32(at, passport->networks[i].address);
    at[4] = passport->networks[i].prefix;
  }
}

bool vv_passport_parse(const uint8_t bytes[VV_PASSPORT_BYTES], struct vv_passport *passport) {
  struct vv_passport read = {.threads = bytes[1] & THREADS,
                             .unwilling = bytes[1] & UNWILLING,
                             .family = vv_get64(bytes + 4),
                             .offer = vv_get64(bytes + 12),
                             .networks_count = bytes[2]};
  if (bytes[0] != VERSION || bytes[2] > VV_PASSPORT_NETWORKS_MAX) return false;
  for (size_t i = 0; i < read.networks_count; i++) {
    const uint8_t *at = bytes + AT_NETWORKS + i * NETWORK_BYTES;
    read.networks[i] = (struct vv_passport_network){vv_get32(at), at[4]};
    if (at[4] < 1 || at[4] > 32) return false;
  }
  *passport = read;
  return true;
}

static bool is_of(const struct vv_passport_network *one, const struct vv_passport_network *other) {
  const uint32_t mask = UINT32_MAX << (32 - other->prefix);
  return one->prefix == other->prefix && ((one->address ^ other->address) & mask) == 0;
}

/* That rank's address in the network; 0: it has none. */
static uint32_t address_in(const struct vv_passport *passport, const struct vv_passport_network *network) {
  for (size_t i = 0; i < passport->networks_count; i++) {
    if (is_of(&passport->networks[i], network)) return passport->networks[i].address;
  }
  return 0;
}

bool vv_passport_common(const struct vv_passport *all, uint32_t ranks, uint32_t *addresses) {
  for (size_t i = 0; i < all[0].networks_count; i++) {
    bool common = true;
    for (uint32_t rank = 0; rank < ranks && common; rank++) {
      addresses[rank] = address_in(&all[rank], &all[0].networks[i]);
      common = addresses[rank] != 0;
    }
    if (common) return true;
  }
  return false;
}

uint32_t vv_passport_hosts(const uint32_t *addresses, uint32_t ranks, uint32_t enough) {
  uint32_t hosts = 0;
  for (uint32_t rank = 0; rank < ranks && hosts < enough; rank++) {
    bool seen = false;
    for (uint32_t before = 0; before < rank && !seen; before++) seen = addresses[before] == addresses[rank];
    hosts += !seen;
  }
  return hosts;
}
