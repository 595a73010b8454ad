/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/ethernet/message.h"

#include <assert.h>

#include "core/ethernet/eth.h"
#include "core/wire/envelope.h"
#include "core/wire/fragment.h"
#include "core/wire/gpdu.h"
#include "core/wire/segment.h"

enum { IP_HEADER = 20, DATAGRAM_HEADER = 8, TCP_HEADER = 20 + 12, IP_FRAGMENT_STEP = 8 };
enum { I_EACH = VV_LPDU_HEADER_BYTES_MAX + VV_SEGMENT_BYTES, I_ONCE = VV_SEGMENT_BYTES_MAX - VV_SEGMENT_BYTES };

/* How a path cuts a message: what goes once in front, what goes in every frame, and how much a frame takes. */
struct cut {
  size_t once;      /* bytes put before the message, and cut with it */
  size_t each;      /* header bytes in every frame, inside its data */
  size_t room;      /* bytes that the last frame may carry */
  size_t room_full; /* bytes that every other frame carries */
};

static struct cut cut_of(enum vv_path path, size_t mtu_bytes) {
  assert(mtu_bytes >= VV_MESSAGE_MTU_MIN);
  size_t ip_room = mtu_bytes - IP_HEADER;
  size_t unit = vv_fragment_unit(mtu_bytes);
  size_t pdu_bytes = mtu_bytes < VV_FRAME_DATA_BYTES_MAX ? mtu_bytes : VV_FRAME_DATA_BYTES_MAX;
  size_t jumbo_bytes = mtu_bytes < VV_ENVELOPE_PDU_BYTES_MAX ? mtu_bytes : VV_ENVELOPE_PDU_BYTES_MAX;
  switch (path) {
  case VV_PATH_ICMP:
  case VV_PATH_UDP:
    return (struct cut){DATAGRAM_HEADER, IP_HEADER, ip_room, ip_room - ip_room % IP_FRAGMENT_STEP};
  case VV_PATH_TCP:
    return (struct cut){0, IP_HEADER + TCP_HEADER, ip_room - TCP_HEADER, ip_room - TCP_HEADER};
  case VV_PATH_RAW: {
    size_t headers = IP_HEADER + DATAGRAM_HEADER + VV_FRAGMENT_HEADER_BYTES;
    return (struct cut){0, headers, mtu_bytes - headers, mtu_bytes - headers};
  }
  case VV_PATH_GROUP: {
    size_t headers = IP_HEADER + DATAGRAM_HEADER + VV_GPDU_HEADER_BYTES;
    return (struct cut){VV_GPDU_HEAD_BYTES, headers, mtu_bytes - headers, mtu_bytes - headers};
  }
  case VV_PATH_LLC_UI:
    return (struct cut){0, VV_FRAGMENT_OVERHEAD_BYTES, unit, unit};
  case VV_PATH_LLC_I:
    return (struct cut){I_ONCE, I_EACH, pdu_bytes - I_EACH, pdu_bytes - I_EACH};
  case VV_PATH_LLC_JUMBO:
    return (struct cut){I_ONCE, I_EACH, jumbo_bytes - I_EACH, jumbo_bytes - I_EACH};
  case VV_PATH_LLC_KERNEL:
    return (struct cut){0, VV_LPDU_HEADER_BYTES_MAX, pdu_bytes - VV_LPDU_HEADER_BYTES_MAX,
                        pdu_bytes - VV_LPDU_HEADER_BYTES_MAX};
  case VV_PATH_NONE:
    break;
  }
  return (struct cut){0};
}

struct vv_message_cost vv_message_cost(enum vv_path path, size_t size_bytes, size_t mtu_bytes) {
  if (path == VV_PATH_NONE || (path == VV_PATH_TCP && size_bytes == 0)) return (struct vv_message_cost){0};
  struct cut cut = cut_of(path, mtu_bytes);
  size_t total = size_bytes + cut.once;
  size_t full = total <= cut.room ? 0 : (total - cut.room - 1) / cut.room_full + 1;
  uint32_t full_bytes = vv_eth_wire_bytes(cut.room_full + cut.each, false);
  uint32_t last_bytes = vv_eth_wire_bytes(total - full * cut.room_full + cut.each, false);
  return (struct vv_message_cost){
      .frames = (uint32_t)full + 1,
      .bytes = (uint64_t)full * full_bytes + last_bytes,
      .frame_bytes_max = full > 0 && full_bytes > last_bytes ? full_bytes : last_bytes,
      .header_bytes = (uint32_t)(VV_FRAME_HEADER_BYTES + cut.each),
      .data_bytes = total,
  };
}

vv_ns vv_message_ns(const struct vv_message_cost *cost, uint64_t rate_bps, unsigned hops) {
  assert(rate_bps > 0 && hops >= 1);
  uint64_t bytes = cost->bytes + (uint64_t)(hops - 1) * cost->frame_bytes_max;
  assert(bytes < UINT64_MAX / 16 / VV_SEC);
  return (vv_ns)((bytes * 8 * VV_SEC + rate_bps / 2) / rate_bps);
}

uint64_t vv_message_ceiling_bps(enum vv_path path, size_t mtu_bytes, uint64_t rate_bps) {
  if (path == VV_PATH_NONE) return 0;
  struct cut cut = cut_of(path, mtu_bytes);
  uint64_t payload = cut.room - cut.once, frame = vv_eth_wire_bytes(cut.room + cut.each, false);
  return rate_bps / frame * payload + rate_bps % frame * payload / frame;
}
