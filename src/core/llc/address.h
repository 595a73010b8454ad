/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who speaks: a station's MAC address and a service access point in it
 * (ISO/IEC 8802-2:1998, clauses 3.3.1 and 5.3). Which SAPs are free on a host is
 * the ports' affair.
 */
#ifndef VV_CORE_LLC_ADDRESS_H
#define VV_CORE_LLC_ADDRESS_H

#include <stdint.h>

#include "core/wire/frame.h"

#define VV_LLC_SAP_NULL   0x00 /* the station itself: XID and TEST to it are answered whoever listens */
#define VV_LLC_SAP_GLOBAL 0xff

struct vv_llc_address {
  uint8_t mac[VV_MAC_BYTES];
  uint8_t sap;
};

/* < 0, 0 or > 0, as memcmp: by MAC address, then SAP. */
int vv_llc_address_compare(const struct vv_llc_address *a, const struct vv_llc_address *b);

#endif
