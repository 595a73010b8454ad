/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum (RFC 1071): the complement of the ones' complement sum
 * of 16-bit words, the last one padded with a zero byte.
 */
#ifndef VV_CORE_WIRE_CHECKSUM_H
#define VV_CORE_WIRE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Adds the bytes to a sum that begins with 0. Pieces may be added one after the
 * other; all but the last must be of even length.
 */
uint64_t vv_checksum_add(uint64_t sum, const uint8_t *bytes, size_t count);

/* The checksum of what was added, as the two bytes that belong in the header, first byte first. */
void vv_checksum_put(uint64_t sum, uint8_t at[2]);

#endif
