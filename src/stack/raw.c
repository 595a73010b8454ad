/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The raw sender: what the wire itself does with a message for many. It is cut
 * in UDP datagrams that fill their frames, sent once to everybody, and nothing
 * is ever said again: a receiver that misses a datagram misses the message.
 *
 * Every datagram begins with a fragment header (core/wire/fragment.h), so what
 * belongs to another launch is dropped. The port, and the group of a multicast,
 * follow from the launch key: all ends know them without being told, and
 * receivers on one host share them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/siphash.h"
#include "core/wire/fragment.h"
#include "io/os/datagram.h"
#include "io/os/socket.h"
#include "io/os/watch.h"
#include "stack/stack.h"

#define BATCH              64
#define DATAGRAM_BYTES_MAX 65507
#define V4_HEADERS         28 /* IPv4 and UDP */
#define V6_HEADERS         48
#define FRAGMENTS_MAX      65535
#define ROOM_BYTES         (4 << 20) /* a receiver may be asleep for a third of a second at 100 Mb/s */

struct vv_end {
  int fd;
  struct vv_stack_config config;
  struct vv_address own;
  struct vv_address to; /* near: where the datagrams go; far: where they come in */
  uint32_t launch;
  uint32_t message; /* near: number of the next one; far: of the one that is coming */
  size_t unit;      /* near: message bytes in a full datagram */
  uint32_t sent;    /* near: datagrams of the message that a stop broke off */
  uint32_t got;     /* far: datagrams of the message that is coming */
  uint8_t seen[FRAGMENTS_MAX / 8 + 1];
  uint8_t datagram[DATAGRAM_BYTES_MAX];
};

static void *give_up(struct vv_end *end) {
  if (end->fd >= 0) close(end->fd);
  free(end);
  return NULL;
}

/* where ---------------------------------------------------------------- */

/* Organisation-local IPv4 groups (RFC 2365), link-local IPv6 groups (RFC 4291). */
static void name_group(struct vv_end *end, uint64_t hash) {
  if (end->to.any.sa_family == AF_INET) {
    end->to.v4.sin_addr.s_addr = htonl(0xefff0000u | (uint32_t)(hash & 0xffff));
    return;
  }
  uint8_t group[16] = {0xff, 0x02};
  for (int i = 0; i < 4; i++) group[12 + i] = (uint8_t)(hash >> (8 * i));
  memcpy(&end->to.v6.sin6_addr, group, sizeof group);
}

static int find_everybody(struct vv_end *end, struct vv_error *error) {
  static const uint8_t purpose[] = "raw";
  uint64_t hash = vv_siphash(end->config.key, purpose, sizeof purpose - 1);
  end->launch = (uint32_t)(hash >> 32);
  end->to = end->own;
  vv_address_set_port(&end->to, vv_stack_port(&end->config, hash >> 16, 1));
  if (end->config.to == VV_TO_MULTICAST) name_group(end, hash);
  if (end->config.to != VV_TO_BROADCAST) return 0;
  if (vv_address_broadcast(&end->to, error) == 0) return 0;
  return vv_error_remedy(error, "--to multicast, or an IPv4 address of an interface");
}

static int read_iface(const struct vv_end *end, struct vv_iface *iface, struct vv_error *error) {
  char host[VV_ADDRESS_TEXT_MAX], name[VV_IFACE_NAME_MAX];
  struct vv_stack_config config = end->config;
  config.address = host; /* the text that it came with is gone */
  vv_address_format_host(&end->own, host);
  return vv_stack_iface(&config, name, error) == 0 ? vv_iface_read(name, iface, error) : -1;
}

/* Sends to the group through the own interface, or joins it there. */
static int set_group(struct vv_end *end, bool join, struct vv_error *error) {
  int result;
  if (end->to.any.sa_family == AF_INET) {
    /* The interface by its address: an emulator of big-endian machines turns an index the wrong way. */
    const struct in_addr own = end->own.v4.sin_addr;
    const struct ip_mreq group = {.imr_multiaddr = end->to.v4.sin_addr, .imr_interface = own};
    result = join ? setsockopt(end->fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group)
                  : setsockopt(end->fd, IPPROTO_IP, IP_MULTICAST_IF, &own, sizeof own);
  } else {
    struct vv_iface iface;
    if (read_iface(end, &iface, error) != 0) return -1;
    const unsigned index = (unsigned)iface.index;
    struct ipv6_mreq group = {.ipv6mr_multiaddr = end->to.v6.sin6_addr, .ipv6mr_interface = index};
    end->to.v6.sin6_scope_id = index;
    result = join ? setsockopt(end->fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group, sizeof group)
                  : setsockopt(end->fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index);
  }
  return result == 0 ? 0 : vv_error_errno(error, "socket", "raw: cannot use a multicast group");
}

/* open ----------------------------------------------------------------- */

static int open_sender(struct vv_end *end, struct vv_error *error) {
  int on = 1;
  end->fd = vv_socket_bound(SOCK_DGRAM, &end->own, end->config.port_min, end->config.port_max, error);
  if (end->fd < 0) return -1;
  if (end->config.to == VV_TO_MULTICAST) return set_group(end, false, error);
  if (setsockopt(end->fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) == 0) return 0;
  return vv_error_errno(error, "socket", "raw: cannot send broadcasts");
}

/* Bound to where the datagrams go, so that no others come in. */
static int open_shared(struct vv_end *end, struct vv_error *error) {
  int on = 1;
  end->fd = socket(end->to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (end->fd < 0) return vv_error_errno(error, "socket", "cannot open a socket");
  if (end->config.to == VV_TO_MULTICAST && set_group(end, true, error) != 0) return -1;
  if (setsockopt(end->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      bind(end->fd, &end->to.any, end->to.length) == 0) {
    return 0;
  }
  char text[VV_ADDRESS_TEXT_MAX];
  vv_address_format(&end->to, text);
  return vv_error_errno(error, "no-port", "raw: cannot listen at %s", text);
}

static int open_receiver(struct vv_end *end, struct vv_error *error) {
  int room_bytes = ROOM_BYTES;
  if (end->config.to == VV_TO_EACH) {
    end->fd = vv_socket_bound(SOCK_DGRAM, &end->own, end->config.port_min, end->config.port_max, error);
    if (end->fd < 0) return -1;
  } else if (open_shared(end, error) != 0) {
    return -1;
  }
  if (setsockopt(end->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room_bytes, sizeof room_bytes) == 0 ||
      setsockopt(end->fd, SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof room_bytes) == 0) {
    return 0;
  }
  return vv_error_errno(error, "socket", "raw: cannot set the size of a socket's buffer");
}

static struct vv_end *raw_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                               struct vv_error *error) {
  struct vv_end *end = calloc(1, sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for a raw end");
    return NULL;
  }
  end->config = *config;
  end->fd = -1;
  if (vv_address_parse(config->address, 0, &end->own, error) != 0) return give_up(end);
  if (find_everybody(end, error) != 0) return give_up(end);
  if ((config->far ? open_receiver(end, error) : open_sender(end, error)) != 0) return give_up(end);
  vv_address_format(&end->own, contact);
  return end;
}

static int raw_accept(struct vv_end *end, const char *near_contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)end, (void)near_contact, (void)deadline_ns, (void)error;
  return 0;
}

static int raw_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  (void)deadline_ns;
  bool v4 = end->own.any.sa_family == AF_INET;
  struct vv_iface iface;
  if (end->config.to == VV_TO_EACH && vv_address_parse_pair(far_contact, &end->to, error) != 0) return -1;
  if (connect(end->fd, &end->to.any, end->to.length) != 0) {
    return vv_error_errno(error, "unreachable", "raw: cannot reach everybody");
  }
  if (v4 && vv_datagram_own_mtu(end->fd) != 0) return vv_error_errno(error, "socket", "raw: cannot set up a socket");
  if (read_iface(end, &iface, error) != 0) return -1;
  size_t headers = v4 ? V4_HEADERS : V6_HEADERS, room_bytes = iface.mtu_bytes - headers;
  end->unit = (room_bytes < DATAGRAM_BYTES_MAX ? room_bytes : DATAGRAM_BYTES_MAX) - VV_FRAGMENT_HEADER_BYTES;
  if (end->config.size_bytes_max <= end->unit * FRAGMENTS_MAX) return 0;
  return vv_error_set(error, "size-limit", "raw: %zu bytes are too many for an MTU of %zu", end->config.size_bytes_max,
                      iface.mtu_bytes);
}

/* send ----------------------------------------------------------------- */

/* As many datagrams as one call takes; how many went, or -1 and errno. */
static int send_some(struct vv_end *end, const uint8_t *message, size_t size_bytes, uint32_t count) {
  uint8_t headers[BATCH][VV_FRAGMENT_HEADER_BYTES];
  struct iovec pieces[BATCH][2];
  struct mmsghdr batch[BATCH];
  unsigned now = count - end->sent < BATCH ? count - end->sent : BATCH;
  for (unsigned i = 0; i < now; i++) {
    size_t at = (size_t)(end->sent + i) * end->unit, left = size_bytes - at;
    struct vv_fragment fragment = {
        .launch = end->launch, .message = end->message, .index = (uint16_t)(end->sent + i), .count = (uint16_t)count};
    vv_fragment_emit(&fragment, headers[i]);
    pieces[i][0] = (struct iovec){headers[i], VV_FRAGMENT_HEADER_BYTES};
    pieces[i][1] = (struct iovec){(void *)(uintptr_t)(message + at), left < end->unit ? left : end->unit};
    batch[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = pieces[i], .msg_iovlen = 2}};
  }
  return sendmmsg(end->fd, batch, now, end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0);
}

static enum vv_got raw_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  uint32_t count = (uint32_t)vv_fragment_count(size_bytes, end->unit);
  while (end->sent < count) {
    int went = send_some(end, message, size_bytes, count);
    if (went >= 0) {
      end->sent += (uint32_t)went;
      continue;
    }
    enum vv_got got = vv_stack_judge(&end->config.stop, "raw", "send", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  end->sent = 0;
  end->message++;
  return VV_GOT_MESSAGE;
}

/* receive -------------------------------------------------------------- */

/* A later message is here: of the one before, more will not come. */
static void begin_message(struct vv_end *end, uint32_t message) {
  end->message = message;
  end->got = 0;
  memset(end->seen, 0, sizeof end->seen);
}

/* Where the fragment belongs, or NULL when it does not. All but the last are of one length, the last ends the message.
 */
static uint8_t *place_of(const struct vv_fragment *fragment, uint8_t *message, size_t size_bytes) {
  bool last = fragment->index + 1 == fragment->count;
  if (fragment->data_bytes > size_bytes) return NULL;
  size_t at = last ? size_bytes - fragment->data_bytes : fragment->index * fragment->data_bytes;
  bool fits = at + fragment->data_bytes <= size_bytes && (!last || fragment->index > 0 || at == 0);
  return fits ? message + at : NULL;
}

/* Puts what came in its place. True when the message is whole. */
static bool take(struct vv_end *end, size_t bytes, uint8_t *message, size_t size_bytes) {
  struct vv_fragment_view view;
  struct vv_fragment fragment;
  if (!vv_fragment_view(end->datagram, bytes, &view) || !vv_fragment_parse(view, &fragment)) return false;
  int32_t ahead = (int32_t)(fragment.message - end->message);
  uint8_t *place = place_of(&fragment, message, size_bytes);
  if (fragment.launch != end->launch || ahead < 0 || !place) return false;
  if (ahead > 0) begin_message(end, fragment.message);
  uint8_t bit = (uint8_t)(1u << (fragment.index % 8));
  if (end->seen[fragment.index / 8] & bit) return false;
  end->seen[fragment.index / 8] |= bit;
  memcpy(place, fragment.data, fragment.data_bytes);
  if (++end->got < fragment.count) return false;
  begin_message(end, end->message + 1);
  return true;
}

static enum vv_got raw_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  int flags = end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0;
  for (;;) {
    ssize_t got_bytes = recv(end->fd, end->datagram, sizeof end->datagram, flags);
    if (got_bytes >= 0) {
      if (take(end, (size_t)got_bytes, message, size_bytes)) return VV_GOT_MESSAGE;
      continue;
    }
    enum vv_got got = vv_stack_judge(&end->config.stop, "raw", "receive", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
}

static void raw_close(struct vv_end *end) {
  if (end) give_up(end);
}

const struct vv_stack vv_stack_raw = {
    .id = "raw",
    .summary = "the raw sender: full UDP datagrams to everybody at once, nothing said again",
    .size_bytes_min = 1,
    .size_bytes_max = (size_t)64 << 20,
    .datagram = true,
    .to_all = true,
    .path = VV_PATH_RAW,
    .open = raw_open,
    .accept = raw_accept,
    .connect = raw_connect,
    .send = raw_send,
    .recv = raw_recv,
    .close = raw_close,
};
