/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a message is cut into datagrams: the first holds what its HEAD leaves room
 * for, all others a full body, the last what remains. An empty message is a HEAD
 * alone.
 */
#ifndef VV_CORE_GROUP_CUT_H
#define VV_CORE_GROUP_CUT_H

#include <stddef.h>
#include <stdint.h>

struct vv_cut {
  uint64_t offset; /* in the message */
  size_t bytes;
};

/* The datagrams of a message: at least 1. body_bytes: of a full datagram, without the 16 bytes of header. */
uint64_t vv_cut_count(uint64_t size_bytes, uint32_t body_bytes);

/* The piece of the message in datagram number i, 0 .. vv_cut_count - 1. */
struct vv_cut vv_cut_piece(uint64_t size_bytes, uint32_t body_bytes, uint64_t i);

#endif
