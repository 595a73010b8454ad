/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the bytes of numbers round, at the speed of memory: what a change of byte order is. */
#ifndef VV_CORE_WIRE_TURN_H
#define VV_CORE_WIRE_TURN_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies `count` numbers of `bytes` (2, 4 or 8) each and reverses the bytes of
 * every one. `to` may be `from`; otherwise they do not overlap. Neither needs an
 * alignment.
 */
void vv_turn(uint8_t *to, const uint8_t *from, size_t bytes, size_t count);

#endif
