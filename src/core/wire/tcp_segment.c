/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/tcp_segment.h"

#include "core/wire/bytes.h"

enum { ETHERNET_BYTES = 14, IPV4_BYTES_MIN = 20, IPV6_BYTES = 40, TCP_BYTES_MIN = 20 };
enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd, PROTOCOL_TCP = 6, FRAGMENT = 0x3fff, FLAG_SYN = 2, FLAG_ACK = 16 };

/* Where the TCP header begins and the packet ends, counted from the destination address. */
struct span {
  size_t at;
  size_t end;
};

/* A batch that nobody has cut yet may be too long for the field that says how long it is, which is then 0. */
static size_t end_of(size_t said_bytes, size_t before, size_t whole_bytes) {
  return said_bytes > 0 ? before + said_bytes : whole_bytes;
}

static bool in_ipv4(const uint8_t *frame, size_t count, size_t whole_bytes, struct span *span) {
  const uint8_t *ip = frame + ETHERNET_BYTES;
  if (count < ETHERNET_BYTES + IPV4_BYTES_MIN || ip[0] >> 4 != 4 || ip[9] != PROTOCOL_TCP) return false;
  if (vv_get16(ip + 6) & FRAGMENT) return false;
  span->at = ETHERNET_BYTES + (size_t)(ip[0] & 15) * 4;
  span->end = end_of(vv_get16(ip + 2), ETHERNET_BYTES, whole_bytes);
  return span->at >= ETHERNET_BYTES + IPV4_BYTES_MIN;
}

static bool in_ipv6(const uint8_t *frame, size_t count, size_t whole_bytes, struct span *span) {
  const uint8_t *ip = frame + ETHERNET_BYTES;
  if (count < ETHERNET_BYTES + IPV6_BYTES || ip[0] >> 4 != 6 || ip[6] != PROTOCOL_TCP) return false;
  span->at = ETHERNET_BYTES + IPV6_BYTES;
  span->end = end_of(vv_get16(ip + 4), span->at, whole_bytes);
  return true;
}

bool vv_tcp_segment_parse(const uint8_t *frame, size_t count, size_t whole_bytes, struct vv_tcp_segment *segment) {
  struct span span;
  if (count < ETHERNET_BYTES) return false;
  uint16_t type = vv_get16(frame + 12);
  bool found = type == TYPE_IPV4   ? in_ipv4(frame, count, whole_bytes, &span)
               : type == TYPE_IPV6 ? in_ipv6(frame, count, whole_bytes, &span)
                                   : false;
  if (!found || count < span.at + TCP_BYTES_MIN || span.end > whole_bytes || span.end > UINT32_MAX) return false;
  const uint8_t *tcp = frame + span.at;
  size_t head_bytes = (size_t)(tcp[12] >> 4) * 4;
  if (head_bytes < TCP_BYTES_MIN || span.at + head_bytes > span.end) return false;
  *segment = (struct vv_tcp_segment){.from_port = vv_get16(tcp),
                                     .to_port = vv_get16(tcp + 2),
                                     .seq = vv_get32(tcp + 4),
                                     .ack = vv_get32(tcp + 8),
                                     .acks = tcp[13] & FLAG_ACK,
                                     .syn = tcp[13] & FLAG_SYN,
                                     .data_bytes = (uint32_t)(span.end - span.at - head_bytes)};
  return true;
}
