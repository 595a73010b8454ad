/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a frame takes of an Ethernet link.
 *
 * A frame on the wire is preamble and start delimiter (8), header (14), at
 * least 46 bytes of data, check sequence (4) and the gap (12): IEEE 802.3-2018
 * clauses 3.1.1, 4.2.3.3 and 4A.4.2. A VLAN tag (IEEE 802.1Q, 4 bytes) counts
 * towards the minimum of 64 bytes from header to check sequence.
 */
#ifndef VV_CORE_ETHERNET_ETH_H
#define VV_CORE_ETHERNET_ETH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"

#define VV_ETH_OVERHEAD_BYTES 38 /* preamble 8, header 14, FCS 4, gap 12 */
#define VV_ETH_DATA_BYTES_MIN 46 /* shorter data are padded */
#define VV_ETH_PREAMBLE_BYTES 8  /* with the start delimiter */
#define VV_ETH_GAP_BYTES      12
#define VV_ETH_TAG_BYTES      4

/* The bytes for which a frame with that much data takes the link: with preamble, pad, check sequence and gap. */
uint32_t vv_eth_wire_bytes(size_t data_bytes, bool tagged);

/* How long those bytes take, rounded up to a whole ns, so that no link is faster than its rate. 0 < rate_bps. */
vv_ns vv_eth_ns(uint64_t wire_bytes, uint64_t rate_bps);

#endif
