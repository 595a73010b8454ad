/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/port/cast.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/base/siphash.h"
#include "core/wire/bytes.h"
#include "io/os/datagram.h"
#include "io/os/iface.h"
#include "io/os/socket.h"

static const int on = 1;
static const struct timeval await_at_most = {.tv_usec = 2000}; /* a root that hears of no loss says more by then */

int vv_cast_open(struct vv_cast *cast, const char *address, struct vv_error *error) {
  char name[VV_IFACE_NAME_MAX];
  struct vv_iface iface;
  struct vv_address own;
  *cast = (struct vv_cast){.fds = {-1, -1, -1}};
  if (vv_address_parse(address, 0, &own, error) != 0) return -1;
  if (own.any.sa_family != AF_INET) return vv_error_set(error, "bad-address", "a group needs IPv4 addresses");
  if (vv_iface_of(address, name, error) != 0 || vv_iface_read(name, &iface, error) != 0) return -1;
  cast->mtu_bytes = (uint32_t)iface.mtu_bytes;
  cast->shared_mbps = vv_iface_shared_mbps(name);
  const int fd = cast->fds[VV_CAST_OWN] = vv_socket_bound(SOCK_DGRAM, &own, 0, 0, error);
  if (fd < 0) return -1;
  cast->own = own.v4;
  /* Without an interface a host without a default route cannot send (ENETUNREACH). One hop: the subnet. */
  const unsigned char hops = 1;
  setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &own.v4.sin_addr, sizeof own.v4.sin_addr);
  setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof hops);
  vv_datagram_own_mtu(fd);
  setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  cast->room_bytes = vv_datagram_room_bytes(fd);
  cast->cut_bytes = 0;
  return 0;
}

struct in_addr vv_cast_group_of(const uint8_t key[16], uint32_t stream) {
  uint8_t label[8] = "cast";
  vv_put32(label + 4, stream);
  const uint32_t low = (uint32_t)vv_siphash(key, label, sizeof label) & 0x0003ffff;
  return (struct in_addr){htonl(0xefc00000 | low)};
}

static int join(struct vv_cast *cast, int fd, int option) {
  const struct ip_mreq membership = {.imr_multiaddr = cast->group.sin_addr, .imr_interface = cast->own.sin_addr};
  return setsockopt(fd, IPPROTO_IP, option, &membership, sizeof membership);
}

static bool is_multicast(const struct vv_cast *cast) {
  return IN_MULTICAST(ntohl(cast->group.sin_addr.s_addr));
}

/* One of the two sockets that hear what goes to all. Bound to the group's address: nothing else reaches it. */
static int hearing(struct vv_cast *cast, uint16_t port) {
  struct sockaddr_in at = cast->group;
  at.sin_port = htons(port);
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (port != 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* else the kernel may draw one for two */
  setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  vv_datagram_joined_only(fd);
  vv_datagram_filter(fd, &cast->filter);
  if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
      (!is_multicast(cast) || join(cast, fd, IP_ADD_MEMBERSHIP) == 0)) {
    return fd;
  }
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

static void leave(struct vv_cast *cast, int socket) {
  if (cast->fds[socket] >= 0) close(cast->fds[socket]);
  cast->fds[socket] = -1;
}

/* Opens both at ports of the group's address; 0: whatever the kernel draws. */
static int hear(struct vv_cast *cast, uint16_t data, uint16_t everyone, uint32_t stream, struct vv_error *error) {
  cast->filter = (struct vv_datagram_filter){VV_TRIAL_KIND, VV_GPDU_FAIL, stream, {1}, cast->own};
  cast->filter_changes = 0;
  cast->fds[VV_CAST_DATA] = hearing(cast, data);
  cast->fds[VV_CAST_EVERYONE] = hearing(cast, everyone);
  if (cast->fds[VV_CAST_DATA] < 0 || cast->fds[VV_CAST_EVERYONE] < 0)
    return vv_error_errno(error, "socket", "cannot join the group at UDP ports %u and %u", data, everyone);
  for (int i = VV_CAST_DATA; i <= VV_CAST_EVERYONE; i++) {
    struct sockaddr_in at = {0};
    socklen_t length = sizeof at;
    getsockname(cast->fds[i], (struct sockaddr *)&at, &length);
    cast->ports[i] = ntohs(at.sin_port);
    vv_datagram_room_bytes(cast->fds[i]);
  }
  cast->group.sin_port = htons(cast->ports[VV_CAST_DATA]);
  struct vv_datagram_filter all = cast->filter; /* what is sent to this rank alone is meant for it */
  memset(all.admitted, 0xff, sizeof all.admitted);
  vv_datagram_filter(cast->fds[VV_CAST_OWN], &all);
  cast->awaits =
      setsockopt(cast->fds[VV_CAST_DATA], SOL_SOCKET, SO_RCVTIMEO, &await_at_most, sizeof await_at_most) == 0;
  return 0;
}

static void leave_both(struct vv_cast *cast) {
  leave(cast, VV_CAST_DATA);
  leave(cast, VV_CAST_EVERYONE);
}

int vv_cast_join(struct vv_cast *cast, struct in_addr address, uint16_t port, uint32_t stream, bool shared,
                 struct vv_error *error) {
  leave_both(cast);
  cast->group = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = address};
  if (hear(cast, port, port + 1, stream, error) != 0) return -1;
  const unsigned char loop = shared;
  setsockopt(cast->fds[VV_CAST_OWN], IPPROTO_IP, IP_MULTICAST_LOOP, &loop, sizeof loop);
  return 0;
}

int vv_cast_join_alone(struct vv_cast *cast, uint32_t stream, struct vv_error *error) {
  leave_both(cast);
  cast->group = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = cast->own.sin_addr};
  return hear(cast, 0, 0, stream, error);
}

void vv_cast_admit(struct vv_cast *cast, const uint32_t *numbers, unsigned count) {
  bool changes = false;
  for (unsigned i = 0; i < count; i++) {
    uint32_t *word = &cast->filter.admitted[numbers[i] / 32];
    const uint32_t bit = 1u << numbers[i] % 32;
    changes |= !(*word & bit);
    *word |= bit;
  }
  if (!changes) return;
  cast->filter_changes++;
  for (int i = VV_CAST_DATA; i <= VV_CAST_EVERYONE; i++) vv_datagram_filter(cast->fds[i], &cast->filter);
}

void vv_cast_rejoin(struct vv_cast *cast) {
  if (!is_multicast(cast)) return;
  for (int i = VV_CAST_DATA; i <= VV_CAST_EVERYONE; i++) {
    join(cast, cast->fds[i], IP_DROP_MEMBERSHIP);
    join(cast, cast->fds[i], IP_ADD_MEMBERSHIP);
  }
}

static bool is_own(const struct vv_cast *cast, const struct sockaddr_in *from) {
  return from->sin_port == cast->own.sin_port && from->sin_addr.s_addr == cast->own.sin_addr.s_addr;
}

/* Waits for one datagram. -1 and errno if none came. */
static int receive_one(struct vv_cast *cast, int socket, uint8_t *bytes, size_t room, size_t *count) {
  struct sockaddr_in from = {0};
  socklen_t length = sizeof from;
  /* Linux tells so how long a datagram is that did not fit; elsewhere its tag is wrong. */
  const ssize_t got = recvfrom(cast->fds[socket], bytes, room, MSG_TRUNC, (struct sockaddr *)&from, &length);
  if (got < 0) return -1;
  *count = is_own(cast, &from) || (size_t)got > room ? 0 : (size_t)got;
  return 1;
}

/* As many as there are; waits for the first, or not. -1 and errno if none came. */
static int receive_many(struct vv_cast *cast, int socket, uint8_t *bytes, size_t room, size_t *counts, unsigned most,
                        bool wait) {
  struct sockaddr_in from[VV_CAST_BATCH];
  struct iovec pieces[VV_CAST_BATCH];
  struct msghdr messages[VV_CAST_BATCH];
  for (unsigned i = 0; i < most; i++) {
    pieces[i] = (struct iovec){bytes + i * room, room};
    messages[i] =
        (struct msghdr){.msg_name = &from[i], .msg_namelen = sizeof from[i], .msg_iov = &pieces[i], .msg_iovlen = 1};
  }
  const int got = vv_datagram_recv_many(cast->fds[socket], messages, counts, most, wait);
  for (int i = 0; i < got; i++) {
    if (is_own(cast, &from[i]) || (messages[i].msg_flags & MSG_TRUNC)) counts[i] = 0;
  }
  return got;
}

unsigned vv_cast_recv(struct vv_cast *cast, int socket, uint8_t *bytes, size_t room, size_t counts[VV_CAST_BATCH]) {
  int got;
  /* What a kernel says about an earlier datagram of ours (ECONNREFUSED) is no end: links tell who is gone. */
  do got = receive_many(cast, socket, bytes, room, counts, VV_CAST_BATCH, false);
  while (got < 0 && (errno == EINTR || errno == ECONNREFUSED));
  return got < 0 ? 0 : (unsigned)got;
}

unsigned vv_cast_await(struct vv_cast *cast, uint8_t *bytes, size_t room, size_t counts[VV_CAST_BATCH], unsigned most) {
  const int got = most == 1 ? receive_one(cast, VV_CAST_DATA, bytes, room, counts)
                            : receive_many(cast, VV_CAST_DATA, bytes, room, counts, most, true);
  return got < 0 ? 0 : (unsigned)got;
}

static size_t length_of(const struct vv_cast_datagram *datagram) {
  return datagram->pieces[0].iov_len + datagram->pieces[1].iov_len;
}

static bool is_to_same(const struct vv_cast_datagram *a, const struct vv_cast_datagram *b) {
  return a->to.sin_addr.s_addr == b->to.sin_addr.s_addr && a->to.sin_port == b->to.sin_port;
}

/* How many of them, from the first, are one train: as long as is agreed but for the last, to one place. 1: none. */
static unsigned train_of(const struct vv_cast *cast, const struct vv_cast_datagram *datagrams, unsigned count) {
  unsigned length = 1;
  while (length < count && length_of(&datagrams[length - 1]) == cast->cut_bytes &&
         length_of(&datagrams[length]) <= cast->cut_bytes && is_to_same(datagrams, &datagrams[length]) &&
         (length + 1) * cast->cut_bytes <= VV_DATAGRAM_TRAIN_BYTES_MAX) {
    length++;
  }
  return length;
}

void vv_cast_cut(struct vv_cast *cast, size_t datagram_bytes) {
  cast->cut_bytes = vv_datagram_cut(cast->fds[VV_CAST_OWN], datagram_bytes) ? datagram_bytes : 0;
}

/* After a send that failed: how many of so many datagrams are lost by it. 0: they are sent again. */
static unsigned lost(struct vv_cast *cast, unsigned count) {
  if (errno == EINTR || errno == ECONNREFUSED) return 0;
  if (errno == ENOBUFS || cast->cut_bytes == 0) return count;
  vv_cast_cut(cast, 0); /* an interface or a route may take nothing from a socket that sends trains */
  return 0;
}

static unsigned send_train(struct vv_cast *cast, struct vv_cast_datagram *datagrams, unsigned count) {
  struct iovec pieces[2 * VV_CAST_BATCH];
  for (unsigned i = 0; i < count; i++) memcpy(pieces + (size_t)2 * i, datagrams[i].pieces, 2 * sizeof *pieces);
  const struct msghdr train = {.msg_name = &datagrams->to,
                               .msg_namelen = sizeof datagrams->to,
                               .msg_iov = pieces,
                               .msg_iovlen = (size_t)2 * count};
  return sendmsg(cast->fds[VV_CAST_OWN], &train, 0) >= 0 ? count : lost(cast, count);
}

static unsigned send_each(struct vv_cast *cast, struct vv_cast_datagram *datagrams, unsigned count) {
  struct msghdr messages[VV_CAST_BATCH];
  for (unsigned i = 0; i < count; i++) {
    messages[i] = (struct msghdr){.msg_name = &datagrams[i].to,
                                  .msg_namelen = sizeof datagrams[i].to,
                                  .msg_iov = datagrams[i].pieces,
                                  .msg_iovlen = 2};
  }
  const int went = vv_datagram_send_many(cast->fds[VV_CAST_OWN], messages, count);
  return went > 0 ? (unsigned)went : lost(cast, 1);
}

void vv_cast_send(struct vv_cast *cast, struct vv_cast_datagram *datagrams, unsigned count) {
  for (unsigned sent = 0; sent < count;) {
    struct vv_cast_datagram *next = datagrams + sent;
    const unsigned left = count - sent, train = train_of(cast, next, left);
    unsigned before_train = 1;
    while (before_train < left && train_of(cast, next + before_train, left - before_train) == 1) before_train++;
    sent += train > 1 || left == 1 ? send_train(cast, next, train) : send_each(cast, next, before_train);
  }
}

struct sockaddr_in vv_cast_place(const struct vv_cast *cast, int socket) {
  struct sockaddr_in to = cast->group;
  to.sin_port = htons(cast->ports[socket]);
  return to;
}

void vv_cast_close(struct vv_cast *cast) {
  for (int i = 0; i < VV_CAST_SOCKETS; i++) leave(cast, i);
}
