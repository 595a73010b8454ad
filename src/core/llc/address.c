/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/address.h"

#include <assert.h>
#include <string.h>

static const uint8_t taken[] = {VV_SAP_NULL, 0x04, 0x08, 0x0c, 0x80, 0x98, 0xbc, 0xe0, 0xf0, 0xf4, 0xf8, 0xfc};

static_assert(256 / 4 - sizeof taken == VV_SAPS_MAX, "steps of 4, but for those that are taken");

bool vv_sap_usable(uint8_t sap) {
  return (sap & 3) == 0 && memchr(taken, sap, sizeof taken) == NULL;
}

uint8_t vv_sap_at(unsigned index) {
  assert(index < VV_SAPS_MAX);
  unsigned sap = 0;
  for (unsigned seen = 0;; sap += 4) {
    if (vv_sap_usable((uint8_t)sap) && seen++ == index) return (uint8_t)sap;
  }
}

int vv_llc_address_compare(const struct vv_llc_address *a, const struct vv_llc_address *b) {
  int mac = memcmp(a->mac, b->mac, VV_MAC_BYTES);
  return mac != 0 ? mac : a->sap - b->sap;
}
