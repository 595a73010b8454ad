/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/port/packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/wire/envelope.h"
#include "io/os/clock.h"
#include "io/os/iface.h"

/* A slot holds the kernel's header and a frame; blocks hold many, for fewer mappings. */
enum { SLOT_BYTES = 2048, SLOT_BYTES_JUMBO = 16384, SLOT_BYTES_HEAD = 256, BLOCK_BYTES = 1 << 16 };

static int no_permission(struct vv_error *error) {
  char program[120];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  vv_error_set(error, "no-permission", "raw Ethernet frames need CAP_NET_RAW, which this process does not have");
  return vv_error_remedy(error, "run as root, or once: sudo setcap cap_net_raw+ep %s", program);
}

/* Loopback is let through: it carries the same frames, and a host can be tried out alone. */
static int read_iface(struct vv_packet *packet, const char *name, struct vv_error *error) {
  struct vv_iface iface;
  if (vv_iface_read(name, &iface, error) != 0) return -1;
  if (!iface.up) return vv_error_set(error, "iface-down", "interface '%s' is down", name);
  if (!iface.ethernet) return vv_error_set(error, "no-ethernet", "interface '%s' carries no Ethernet frames", name);
  memcpy(packet->mac, iface.mac, VV_MAC_BYTES);
  packet->mtu_bytes = iface.mtu_bytes;
  packet->data_bytes_max = iface.mtu_bytes < VV_FRAME_DATA_BYTES_MAX ? iface.mtu_bytes : VV_FRAME_DATA_BYTES_MAX;
  packet->index = iface.index;
  return 0;
}

/* Rooms for the backlog, whatever headers the frames carry besides, and for what else arrives meanwhile. */
static size_t slots_for(const struct vv_packet *packet, size_t backlog_bytes) {
  enum { HEADERS_BYTES = 32, SLOTS_MIN = 256 };
  size_t slots = backlog_bytes / (packet->data_bytes_max - HEADERS_BYTES) + SLOTS_MIN;
  return slots < VV_PACKET_SLOTS_MAX ? slots : VV_PACKET_SLOTS_MAX;
}

static int make_ring(struct vv_packet *packet, size_t backlog_bytes) {
  size_t blocks = (slots_for(packet, backlog_bytes) * packet->slot_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
  packet->ring_bytes = blocks * BLOCK_BYTES;
  packet->slots = packet->ring_bytes / packet->slot_bytes;
  int version = TPACKET_V2;
  struct tpacket_req ring = {
      .tp_block_size = BLOCK_BYTES,
      .tp_block_nr = (unsigned)(packet->ring_bytes / BLOCK_BYTES),
      .tp_frame_size = (unsigned)packet->slot_bytes,
      .tp_frame_nr = (unsigned)packet->slots,
  };
  if (setsockopt(packet->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0) return -1;
  if (setsockopt(packet->fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof ring) != 0) return -1;
  void *memory = mmap(NULL, packet->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, packet->fd, 0);
  if (memory == MAP_FAILED) return -1;
  packet->ring = memory;
  return 0;
}

int vv_packet_stamp(struct vv_packet *packet) {
  int on = 1;
  return setsockopt(packet->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

static int use_jumbo(struct vv_packet *packet, const char *name, struct vv_error *error) {
  if (packet->mtu_bytes <= VV_FRAME_DATA_BYTES_MAX) {
    vv_error_set(error, "no-jumbo", "interface '%s' has an MTU of %zu bytes: too short for jumbo frames", name,
                 packet->mtu_bytes);
    return vv_error_remedy(error, "ip link set dev %s mtu 9000, if all hosts and switches can; or frames as usual",
                           name);
  }
  packet->data_bytes_max =
      packet->mtu_bytes < VV_ENVELOPE_PDU_BYTES_MAX ? packet->mtu_bytes : VV_ENVELOPE_PDU_BYTES_MAX;
  packet->slot_bytes = SLOT_BYTES_JUMBO;
  return 0;
}

static int attach(int fd, const struct vv_packet_config *config) {
  return config->watch ? vv_filter_watch(fd, config->watch) : vv_filter_attach(fd, &config->filter);
}

/*
 * Nothing is received before the bind, so the filter stands from the first frame
 * on. Only a socket for all types gets frames with a length field and such with
 * a type in the order in which they came. Older kernels show it what this host
 * sends too, which the filter drops.
 */
static int start(struct vv_packet *packet, const struct vv_packet_config *config, struct vv_error *error) {
  int ignore = 1;
  bool jumbo = config->filter.jumbo && !config->watch;
  if (read_iface(packet, config->iface, error) != 0) return -1;
  if (jumbo && use_jumbo(packet, config->iface, error) != 0) return -1;
  if (jumbo) setsockopt(packet->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignore, sizeof ignore);
  if (config->watch) packet->slot_bytes = SLOT_BYTES_HEAD;
  struct sockaddr_ll here = {.sll_family = AF_PACKET, .sll_ifindex = packet->index};
  here.sll_protocol = htons(jumbo || config->watch ? ETH_P_ALL : ETH_P_802_2);
  if (attach(packet->fd, config) == 0 && make_ring(packet, config->backlog_bytes) == 0 &&
      (!config->stamps || vv_packet_stamp(packet) == 0) &&
      bind(packet->fd, (struct sockaddr *)&here, sizeof here) == 0) {
    return 0;
  }
  bool no_rings = errno == ENOPROTOOPT;
  vv_error_errno(error, "socket", "cannot set up a packet socket on '%s'", config->iface);
  return no_rings ? vv_error_remedy(error, "this kernel, or an emulator between, has no packet rings: use udp") : -1;
}

int vv_packet_open(struct vv_packet *packet, const struct vv_packet_config *config, struct vv_error *error) {
  int hurry = config->hurried ? SOCK_NONBLOCK : 0;
  *packet = (struct vv_packet){.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | hurry, 0), .slot_bytes = SLOT_BYTES};
  if (packet->fd < 0 && (errno == EPERM || errno == EACCES)) return no_permission(error);
  if (packet->fd < 0) return vv_error_errno(error, "socket", "cannot make a packet socket");
  if (start(packet, config, error) == 0) return 0;
  vv_packet_close(packet);
  return -1;
}

void vv_packet_close(struct vv_packet *packet) {
  if (packet->ring) munmap(packet->ring, packet->ring_bytes);
  close(packet->fd);
}

static struct tpacket2_hdr *slot(const struct vv_packet *packet) {
  return (struct tpacket2_hdr *)(void *)(packet->ring + packet->next * packet->slot_bytes);
}

static const struct sockaddr_ll *sender_of(const struct tpacket2_hdr *head) {
  return (const struct sockaddr_ll *)(const void *)((const uint8_t *)head + TPACKET_ALIGN(sizeof *head));
}

bool vv_packet_peek(struct vv_packet *packet, struct vv_packet_frame *frame) {
  const struct tpacket2_hdr *head = slot(packet);
  if (!(__atomic_load_n(&head->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) return false;
  frame->bytes = (const uint8_t *)head + head->tp_mac;
  frame->count = head->tp_snaplen;
  frame->whole_bytes = head->tp_len;
  frame->outgoing = sender_of(head)->sll_pkttype == PACKET_OUTGOING;
  frame->stamp_ns = head->tp_sec * VV_SEC + head->tp_nsec;
  return true;
}

void vv_packet_release(struct vv_packet *packet) {
  __atomic_store_n(&slot(packet)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  packet->next = packet->next + 1 == packet->slots ? 0 : packet->next + 1;
}

int vv_packet_wait(struct vv_packet *packet, vv_ns deadline_ns) {
  struct pollfd entry = {.fd = packet->fd, .events = POLLIN};
  vv_ns left_ns = deadline_ns == VV_NEVER ? 0 : deadline_ns - vv_clock_ns();
  if (left_ns < 0) left_ns = 0;
  struct timespec left = {.tv_sec = left_ns / VV_SEC, .tv_nsec = left_ns % VV_SEC};
  int ready = ppoll(&entry, 1, deadline_ns == VV_NEVER ? NULL : &left, NULL);
  if (ready == 0) errno = ETIME;
  if (ready <= 0) return -1;
  if (!(entry.revents & POLLERR)) return 0;
  socklen_t length = sizeof errno;
  getsockopt(packet->fd, SOL_SOCKET, SO_ERROR, &errno, &length);
  return errno == 0 ? 0 : -1;
}

/* One frame in one piece: a copy of it costs less than what the kernel does to gather two. */
static int send_one(struct vv_packet *packet, const struct iovec pieces[2]) {
  uint8_t frame[VV_ENVELOPE_BYTES + VV_ENVELOPE_PDU_BYTES_MAX];
  size_t head_bytes = pieces[0].iov_len, count = head_bytes + pieces[1].iov_len;
  if (count > sizeof frame) {
    errno = EMSGSIZE;
    return -1;
  }
  memcpy(frame, pieces[0].iov_base, head_bytes);
  if (pieces[1].iov_len > 0) memcpy(frame + head_bytes, pieces[1].iov_base, pieces[1].iov_len);
  return send(packet->fd, frame, count, 0) < 0 ? -1 : 1;
}

int vv_packet_send(struct vv_packet *packet, struct iovec frames[][2], size_t count) {
  if (count == 1) return send_one(packet, frames[0]);
  struct mmsghdr batch[VV_PACKET_BATCH_MAX];
  for (size_t i = 0; i < count; i++) {
    batch[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = frames[i], .msg_iovlen = 2}};
  }
  return sendmmsg(packet->fd, batch, (unsigned)count, 0);
}

uint32_t vv_packet_drops(struct vv_packet *packet) {
  struct tpacket_stats stats = {0};
  socklen_t length = sizeof stats;
  getsockopt(packet->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length);
  return stats.tp_drops;
}

/* By number, because a name may have been given to another interface meanwhile. */
int vv_packet_check(const struct vv_packet *packet, struct vv_error *error) {
  struct vv_packet now;
  char name[IF_NAMESIZE];
  if (!if_indextoname((unsigned)packet->index, name)) {
    return vv_error_set(error, "iface-gone", "the interface of this end is gone");
  }
  if (read_iface(&now, name, error) != 0) return -1;
  if (memcmp(now.mac, packet->mac, VV_MAC_BYTES) != 0) {
    return vv_error_set(error, "iface-changed", "interface '%s' has another MAC than before", name);
  }
  if (now.mtu_bytes == packet->mtu_bytes) return 0;
  return vv_error_set(error, "iface-changed", "interface '%s' has an MTU of %zu bytes now; it was %zu", name,
                      now.mtu_bytes, packet->mtu_bytes);
}

/* as a port ------------------------------------------------------------ */

static bool peek(void *self, struct vv_port_unit *unit) {
  struct vv_packet_frame frame;
  if (!vv_packet_peek(self, &frame)) return false;
  *unit = (struct vv_port_unit){.bytes = frame.bytes, .count = frame.count, .stamp_ns = frame.stamp_ns};
  return true;
}

static void release(void *self) {
  vv_packet_release(self);
}

static int send_frames(void *self, struct iovec units[][VV_PORT_PIECES], size_t count) {
  return vv_packet_send(self, units, count);
}

static int wait_frame(void *self, vv_ns deadline_ns) {
  return vv_packet_wait(self, deadline_ns);
}

static int descriptor(void *self) {
  return ((const struct vv_packet *)self)->fd;
}

static int check(void *self, struct vv_error *error) {
  return vv_packet_check(self, error);
}

struct vv_port vv_packet_port(struct vv_packet *packet) {
  static const struct vv_port_ops ops = {.peek = peek,
                                         .release = release,
                                         .send = send_frames,
                                         .wait = wait_frame,
                                         .descriptor = descriptor,
                                         .check = check};
  return (struct vv_port){.ops = &ops, .self = packet};
}
