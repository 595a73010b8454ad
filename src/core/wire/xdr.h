/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * External data representation (RFC 4506): the common format of PVM and of Sun
 * RPC, beside the direct translation of vaiven/data.h. Both ends convert, even
 * between equal machines; that is what the two are compared for.
 *
 *   integers to 32 bits    4 bytes, sign or zero extended          (4.1, 4.2)
 *   integers of 64 bits    8 bytes                                 (4.5)
 *   float, double          IEEE 754, 4 and 8 bytes; complex: two   (4.6, 4.7)
 *   characters             opaque of fixed length, padded with
 *                          zeros to a multiple of 4                (4.9)
 *
 * Everything is big-endian. A record is its fields in order, without gaps.
 */
#ifndef VV_CORE_WIRE_XDR_H
#define VV_CORE_WIRE_XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vaiven/data.h"

/* Bytes of one record of that valid layout. */
size_t vv_xdr_bytes(const struct vv_data_layout *layout);

/* Writes `count` records: count * vv_xdr_bytes(layout) bytes. */
void vv_xdr_encode(const struct vv_data_layout *layout, const void *data, size_t count, uint8_t *xdr);

/*
 * Reads as many; bytes between the fields of `data` stay as they are. False when
 * an integer does not fit into its field or a pad is not zero; the records up
 * to there are then changed.
 */
bool vv_xdr_decode(const struct vv_data_layout *layout, const uint8_t *xdr, size_t count, void *data);

#endif
