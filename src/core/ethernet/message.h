/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a message becomes on an Ethernet wire, and how long that takes.
 *
 * `bytes` counts all that a frame takes of the wire (core/ethernet/eth.h), so
 * that bytes * 8 / rate is the time for which the medium is taken.
 */
#ifndef VV_CORE_ETHERNET_MESSAGE_H
#define VV_CORE_ETHERNET_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"

#define VV_MESSAGE_MTU_MIN 68 /* RFC 791: what every IPv4 network carries in one piece */

/* The headers that a message travels under. */
enum vv_path {
  VV_PATH_NONE,       /* not on Ethernet (null) */
  VV_PATH_ICMP,       /* IPv4, echo header 8, fragmented by IP: all fragments but the last a multiple of 8 (RFC 791) */
  VV_PATH_UDP,        /* IPv4, UDP header 8, fragmented by IP */
  VV_PATH_TCP,        /* IPv4, TCP header 20 and timestamps 12 (RFC 7323), cut in segments */
  VV_PATH_RAW,        /* IPv4, UDP header 8, fragment header: cut in datagrams that fill their frames (stack raw) */
  VV_PATH_GROUP,      /* IPv4, UDP header 8, the group's headers: datagrams that fill their frames (core/wire/gpdu.h) */
  VV_PATH_LLC_UI,     /* 802.3 length field, LLC header 3, fragment header of the eth stack; MTU 1500 at most */
  VV_PATH_LLC_I,      /* 802.3 length field, LLC header 4, marks of our stations (core/wire/segment.h) */
  VV_PATH_LLC_JUMBO,  /* the same, with EtherType 0x8870 above 1500 bytes: frames as long as the MTU */
  VV_PATH_LLC_KERNEL, /* 802.3 length field, LLC header 4: those of the kernel */
};

struct vv_message_cost {
  uint32_t frames;          /* data frames; acknowledgements are not counted */
  uint64_t bytes;           /* on the wire, all of it */
  uint32_t frame_bytes_max; /* the largest of those frames, on the wire */
  uint32_t header_bytes;    /* of each frame, that of Ethernet among them */
  uint64_t data_bytes;      /* behind those headers, in all frames together, without padding */
};

/*
 * The cost of one message of size_bytes with that MTU (>= VV_MESSAGE_MTU_MIN). An
 * empty TCP message, and any message of VV_PATH_NONE, costs nothing.
 */
struct vv_message_cost vv_message_cost(enum vv_path path, size_t size_bytes, size_t mtu_bytes);

/*
 * The time from the first bit of the message leaving its host until the last
 * bit arrives over `hops` equal store-and-forward links (a hub is 1 hop, one
 * switch is 2), all idle, to the nearest ns. rate_bps > 0, hops >= 1. It is the
 * time of all frames on one link, and of the largest on each of the others: the
 * links work side by side, and no frame waits longer than behind the largest.
 */
vv_ns vv_message_ns(const struct vv_message_cost *cost, uint64_t rate_bps, unsigned hops);

/*
 * The most payload that such a wire carries, in bit/s: an endless stream of
 * full frames (datagrams that fill one frame). 0 for VV_PATH_NONE.
 */
uint64_t vv_message_ceiling_bps(enum vv_path path, size_t mtu_bytes, uint64_t rate_bps);

#endif
