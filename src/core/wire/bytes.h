/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in network byte order (most significant byte first), at any address. */
#ifndef VV_CORE_WIRE_BYTES_H
#define VV_CORE_WIRE_BYTES_H

#include <stdint.h>

static inline uint16_t vv_get16(const uint8_t *at) {
  return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t vv_get32(const uint8_t *at) {
  return (uint32_t)vv_get16(at) << 16 | vv_get16(at + 2);
}

static inline void vv_put16(uint8_t *at, uint16_t value) {
  at[0] = (uint8_t)(value >> 8);
  at[1] = (uint8_t)value;
}

static inline void vv_put32(uint8_t *at, uint32_t value) {
  vv_put16(at, (uint16_t)(value >> 16));
  vv_put16(at + 2, (uint16_t)value);
}

#endif
