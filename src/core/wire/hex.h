/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes as hexadecimal digits, first byte first. */
#ifndef VV_CORE_WIRE_HEX_H
#define VV_CORE_WIRE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Writes 2 * count digits and a NUL. */
void vv_hex_write(const uint8_t *bytes, size_t count, char *digits);
/* Reads 2 * count digits; what follows them is not looked at. 0, or -1: others than digits. */
int vv_hex_read(const char *digits, uint8_t *bytes, size_t count);

#endif
