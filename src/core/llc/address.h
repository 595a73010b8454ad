/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who speaks: a station's MAC address and a service access point in it
 * (ISO/IEC 8802-2:1998, clauses 3.3.1 and 5.3).
 *
 * Bit 0 of a SAP says group or response and bit 1 is reserved for addresses
 * that ISO gives, so SAPs come in steps of 4. Those that somebody was given, or
 * that programs of this world listen to, are left alone: 0x00 null, 0x04 and
 * 0x08 SNA, 0x0c, 0x80 XNS, 0x98 ARP, 0xbc VINES, 0xe0 NetWare, 0xf0 NetBIOS,
 * 0xf4 management, 0xf8 remote load, 0xfc discovery.
 */
#ifndef VV_CORE_LLC_ADDRESS_H
#define VV_CORE_LLC_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/frame.h"

#define VV_SAP_NULL   0x00 /* the station itself: XID and TEST to it are answered whoever listens */
#define VV_SAP_GLOBAL 0xff
#define VV_SAPS_MAX   52 /* usable SAPs of one MAC address */

struct vv_llc_address {
  uint8_t mac[VV_MAC_BYTES];
  uint8_t sap;
};

/* True when a service of ours may have that SAP. */
bool vv_sap_usable(uint8_t sap);

/* The usable SAP number `index` (< VV_SAPS_MAX), in ascending order: the SAP of the process with that number on its
 * host. */
uint8_t vv_sap_at(unsigned index);

/* < 0, 0 or > 0, as memcmp: by MAC address, then SAP. */
int vv_llc_address_compare(const struct vv_llc_address *a, const struct vv_llc_address *b);

#endif
