/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP segment (RFC 9293) over IPv4 (RFC 791) or IPv6 (RFC 8200) in an
 * Ethernet frame, as somebody sees it who looks on: only what places it in its
 * stream. Nothing is believed of a frame but that it has as many bytes as were
 * seen, and no checksum is looked at, because a card may fill that in later.
 */
#ifndef VV_CORE_WIRE_TCP_SEGMENT_H
#define VV_CORE_WIRE_TCP_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So much of a frame is enough to parse it: 14 of Ethernet, 60 of IPv4 at most, 20 of TCP. */
#define VV_TCP_SEGMENT_HEAD_BYTES 94

struct vv_tcp_segment {
  uint16_t from_port;
  uint16_t to_port;
  uint32_t seq; /* of its first byte; of a SYN, its own */
  uint32_t ack; /* the next byte that is awaited; means something where acks */
  bool acks;
  bool syn;
  uint32_t data_bytes; /* behind all headers */
};

/*
 * frame: from the destination on, `count` bytes of it. whole_bytes: of the whole
 * frame, which may be longer, and longer than any frame of the wire: several
 * segments that nobody has cut yet. False for what is no such segment, for
 * fragments, and for IPv6 with headers between.
 */
bool vv_tcp_segment_parse(const uint8_t *frame, size_t count, size_t whole_bytes, struct vv_tcp_segment *segment);

#endif
