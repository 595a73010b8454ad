/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service access points: the 128 ports, so to say, of a MAC (ISO/IEC 8802-2:1998,
 * clause 3.3.1), of which few are free for anybody.
 *
 * Bit 0 marks a group, bit 1 is reserved for addresses that a standard defines,
 * so SAPs go in steps of 4; twelve of those have been given to protocols
 * (among them the station itself, SNA, XNS, IPX and NetBIOS). 52 are left.
 *
 * A packet socket shares its SAP with whoever else asks for it. So that two jobs
 * do not, each claims its SAP of an interface in this network namespace; a claim
 * ends with the process.
 */
#ifndef VV_IO_PORT_SAP_H
#define VV_IO_PORT_SAP_H

#include <stdbool.h>
#include <stdint.h>

#include "io/os/error.h"

#define VV_SAPS 128 /* of a MAC: even addresses; odd ones are groups */

/* True for the 52. */
bool vv_sap_usable(uint8_t sap);
/* How many those are. */
uint32_t vv_sap_count(void);
/* The error for any other: -1, and *error "bad-sap". */
int vv_sap_refuse(uint8_t sap, struct vv_error *error);

/*
 * Claims *sap (0: the first that is free, never VV_LPDU_SAP) of the interface of
 * that number, and sets it. A descriptor that holds the claim until it is closed,
 * or -1 and *error: "bad-sap", "sap-taken", "socket".
 */
int vv_sap_claim(int iface_index, uint8_t *sap, struct vv_error *error);

#endif
