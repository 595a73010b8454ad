/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012): a keyed 64-bit hash
 * that nobody without the key can predict. Here it proves who holds the launch
 * key, and gives every message its own payload.
 */
#ifndef VV_CORE_BASE_SIPHASH_H
#define VV_CORE_BASE_SIPHASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_KEY_BYTES 16

uint64_t vv_siphash(const uint8_t key[VV_KEY_BYTES], const uint8_t *bytes, size_t count);

/* Compares in a time that does not depend on where they differ. */
bool vv_siphash_equal(const uint8_t *a, const uint8_t *b, size_t count);

#endif
