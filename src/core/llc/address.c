/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/address.h"

#include <string.h>

int vv_llc_address_compare(const struct vv_llc_address *a, const struct vv_llc_address *b) {
  int mac = memcmp(a->mac, b->mac, VV_MAC_BYTES);
  return mac != 0 ? mac : a->sap - b->sap;
}
