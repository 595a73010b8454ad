/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/tcp.h"

#include <linux/rtnetlink.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES 8192 /* more than the kernel says of a route or an interface */
#define PATIENCE_US  200000
#define NO_THRESHOLD 0x7fffffff /* TCP_INFINITE_SSTHRESH */

struct question {
  struct nlmsghdr head;
  union {
    struct rtmsg route;
    struct ifinfomsg link;
  } about;
  uint8_t room[64]; /* for one attribute */
};

/* What stands in an answer, or in an attribute that holds others. */
struct attributes {
  const uint8_t *at;
  size_t left;
};

/* The next attribute, its value and how long that is. False behind the last, and before what is none. */
static bool next(struct attributes *all, struct rtattr *head, const uint8_t **value, size_t *value_bytes) {
  if (all->left < sizeof *head) return false;
  memcpy(head, all->at, sizeof *head);
  if (head->rta_len < sizeof *head || head->rta_len > all->left) return false;
  *value = all->at + sizeof *head;
  *value_bytes = head->rta_len - sizeof *head;
  size_t step = RTA_ALIGN(head->rta_len);
  step = step < all->left ? step : all->left;
  all->at += step;
  all->left -= step;
  return true;
}

static bool find(struct attributes all, unsigned type, const uint8_t **value, size_t *value_bytes) {
  struct rtattr head;
  while (next(&all, &head, value, value_bytes)) {
    if ((head.rta_type & NLA_TYPE_MASK) == type) return true;
  }
  return false;
}

static int64_t find_number(struct attributes all, unsigned type) {
  const uint8_t *value;
  size_t value_bytes;
  uint32_t number;
  if (!find(all, type, &value, &value_bytes) || value_bytes != sizeof number) return VV_INVENTORY_UNKNOWN;
  memcpy(&number, value, sizeof number);
  return number;
}

static void find_name(struct attributes all, unsigned type, char name[], size_t room) {
  const uint8_t *value;
  size_t value_bytes;
  if (!find(all, type, &value, &value_bytes)) return;
  size_t length = strnlen((const char *)value, value_bytes);
  if (length == 0 || length >= room) return;
  memcpy(name, value, length);
  name[length] = '\0';
}

/*
 * Asks the kernel's routing tables. What its answer of that type says behind its first `skipped` bytes; nothing
 * where it refuses.
 */
static struct attributes ask(struct question *question, uint16_t answer_type, size_t skipped,
                             uint8_t answer[ANSWER_BYTES]) {
  const struct timeval patience = {.tv_usec = PATIENCE_US};
  struct attributes nothing = {0};
  struct nlmsghdr head;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return nothing;
  ssize_t got = -1;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
      send(fd, question, question->head.nlmsg_len, 0) == (ssize_t)question->head.nlmsg_len) {
    got = recv(fd, answer, ANSWER_BYTES, 0);
  }
  close(fd);
  skipped = NLMSG_HDRLEN + NLMSG_ALIGN(skipped);
  if (got < (ssize_t)skipped) return nothing;
  memcpy(&head, answer, sizeof head);
  if (head.nlmsg_type != answer_type || head.nlmsg_len < skipped || head.nlmsg_len > (size_t)got) return nothing;
  return (struct attributes){.at = answer + skipped, .left = head.nlmsg_len - skipped};
}

static struct attributes ask_route(const struct vv_address *peer, uint8_t answer[ANSWER_BYTES]) {
  bool six = peer->any.sa_family == AF_INET6;
  const void *host = six ? (const void *)&peer->v6.sin6_addr : (const void *)&peer->v4.sin_addr;
  uint16_t bytes = six ? sizeof peer->v6.sin6_addr : sizeof peer->v4.sin_addr;
  struct question question = {
      .head = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
      .about.route = {.rtm_family = (uint8_t)peer->any.sa_family, .rtm_dst_len = (uint8_t)(8 * bytes)}};
  struct rtattr attribute = {.rta_type = RTA_DST, .rta_len = (uint16_t)RTA_LENGTH(bytes)};
  size_t used = offsetof(struct question, about) + NLMSG_ALIGN(sizeof question.about.route);
  memcpy((uint8_t *)&question + used, &attribute, sizeof attribute);
  memcpy((uint8_t *)&question + used + RTA_LENGTH(0), host, bytes);
  question.head.nlmsg_len = (uint32_t)(used + RTA_LENGTH(bytes));
  return ask(&question, RTM_NEWROUTE, sizeof question.about.route, answer);
}

static struct attributes ask_link(int index, uint8_t answer[ANSWER_BYTES]) {
  struct question question = {.head = {.nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
                              .about.link = {.ifi_family = AF_UNSPEC, .ifi_index = index}};
  question.head.nlmsg_len = (uint32_t)(offsetof(struct question, about) + NLMSG_ALIGN(sizeof question.about.link));
  return ask(&question, RTM_NEWLINK, sizeof question.about.link, answer);
}

/* Of a socket that nobody has changed: what all of this host's have. */
static void read_default(char name[VV_TCP_NAME_MAX]) {
  socklen_t length = VV_TCP_NAME_MAX - 1;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) != 0) name[0] = '\0';
  close(fd);
}

static void read_route(const struct attributes route, struct vv_tcp *tcp) {
  struct attributes metrics = {0};
  if (!find(route, RTA_METRICS, &metrics.at, &metrics.left)) return;
  tcp->initial_window_segments = find_number(metrics, RTAX_INITCWND);
  tcp->quick_acks = find_number(metrics, RTAX_QUICKACK) > 0;
  find_name(metrics, RTAX_CC_ALGO, tcp->congestion_control, sizeof tcp->congestion_control);
}

void vv_tcp_read(const struct vv_address *peer, struct vv_tcp *tcp) {
  uint8_t answer[ANSWER_BYTES];
  *tcp = (struct vv_tcp){.initial_window_segments = VV_INVENTORY_UNKNOWN, .batch_segments_max = VV_INVENTORY_UNKNOWN};
  if (!peer) return;
  read_default(tcp->congestion_control);
  const struct attributes route = ask_route(peer, answer);
  read_route(route, tcp);
  int64_t index = find_number(route, RTA_OIF);
  if (index <= 0 || index > INT32_MAX) return;
  const struct attributes link = ask_link((int)index, answer);
  find_name(link, IFLA_IFNAME, tcp->iface, sizeof tcp->iface);
  tcp->batch_segments_max = find_number(link, IFLA_GSO_MAX_SEGS);
}

bool vv_tcp_read_state(int fd, struct vv_tcp_state *state) {
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  *state = (struct vv_tcp_state){0};
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  if (length < offsetof(struct tcp_info, tcpi_total_retrans) + sizeof info.tcpi_total_retrans) return false;
  *state = (struct vv_tcp_state){.window_segments = info.tcpi_snd_cwnd,
                                 .threshold_segments = VV_INVENTORY_UNKNOWN,
                                 .segment_bytes = info.tcpi_snd_mss,
                                 .resend_ns = info.tcpi_rto * VV_US,
                                 .window_shift = info.tcpi_snd_wscale,
                                 .resent = info.tcpi_total_retrans};
  if (info.tcpi_snd_ssthresh < NO_THRESHOLD) state->threshold_segments = info.tcpi_snd_ssthresh;
  return true;
}
