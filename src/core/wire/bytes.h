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

static inline uint64_t vv_get64(const uint8_t *at) {
  return (uint64_t)vv_get32(at) << 32 | vv_get32(at + 4);
}

static inline void vv_put16(uint8_t *at, uint16_t value) {
  at[0] = (uint8_t)(value >> 8);
  at[1] = (uint8_t)value;
}

static inline void vv_put32(uint8_t *at, uint32_t value) {
  vv_put16(at, (uint16_t)(value >> 16));
  vv_put16(at + 2, (uint16_t)value);
}

static inline void vv_put64(uint8_t *at, uint64_t value) {
  vv_put32(at, (uint32_t)(value >> 32));
  vv_put32(at + 4, (uint32_t)value);
}

#endif
