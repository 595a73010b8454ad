/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP echo (RFC 792): the far kernel answers, no far end is needed.
 *
 * Three ways to it, the first that is allowed: a raw socket (CAP_NET_RAW), a
 * ping socket (net.ipv4.ping_group_range), the program `ping`. With the program
 * a reading of the clock that follows answers tells the reading before them
 * plus the round trips that the program printed; every other one tells the time.
 *
 * Some hosts answer nothing above 32 KiB. Who answers half of a large message
 * but not the whole is measured by halves.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/icmp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/bytes.h"
#include "core/wire/checksum.h"
#include "io/os/datagram.h"
#include "io/os/host.h"
#include "io/os/socket.h"
#include "io/os/watch.h"
#include "stack/ping.h"
#include "stack/stack.h"

#define SIZE_BYTES_MAX 65507 /* 65535 less the IPv4 header (20) and the echo header (8) */
#define SURE_BYTES_MAX 32768 /* what every host answers */
#define TRIAL_BYTES    60000 /* a host that answers this answers all, */
#define HALF_BYTES     30000 /* and one that answers only this is measured by halves */
#define TRIALS         6     /* a long message is lost with any of its fragments */
#define TRIAL_NS       (200 * VV_MS)
#define NS_PER_BYTE    1600  /* there and back at 10 Mb/s */
#define PING_STEP_NS   VV_US /* the last digit that ping prints */
#define PING_BYTES_MIN 16    /* it prints no time for less; up to 18 bytes the frame is the same */
#define PING_LOOK_NS   VV_MS

enum icmp_way { WAY_RAW, WAY_PING_SOCKET, WAY_PROGRAM };
enum { IP_HEADER = 20, ECHO_HEADER = 8, AT_TYPE = 0, AT_CODE = 1, AT_CHECKSUM = 2, AT_ID = 4, AT_SEQ = 6 };

struct vv_end {
  enum icmp_way way;
  int fd; /* -1: none */
  struct vv_stack_config config;
  uint16_t id;
  uint16_t seq;
  bool by_halves;
  struct vv_ping ping;
  char far[VV_ADDRESS_TEXT_MAX];
  size_t sent_bytes; /* program: the message under way, kept for the answer */
  uint8_t *sent;
  vv_ns told_ns; /* program: the last reading of the clock, */
  vv_ns rtt_ns;  /* the round trips since, */
  bool answered; /* and whether there were any */
  bool asking;   /* the clock is read to see whether to stop */
};

static void *give_up(struct vv_end *end) {
  vv_ping_stop(&end->ping);
  if (end->fd >= 0) close(end->fd);
  free(end->sent);
  free(end);
  return NULL;
}

/* open ---------------------------------------------------------------- */

/* Raw sockets see every ICMP message of the host: only answers to this end shall wake it. */
static int set_filter(const struct vv_end *end) {
  struct icmp_filter types = {.data = ~(1u << ICMP_ECHOREPLY)};
  struct sock_filter code[] = {
      BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0), /* X: length of the IP header */
      BPF_STMT(BPF_LD | BPF_H | BPF_IND, AT_ID), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, end->id, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),     BPF_STMT(BPF_RET | BPF_K, 0),
  };
  struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  if (setsockopt(end->fd, SOL_RAW, ICMP_FILTER, &types, sizeof types) != 0) return -1;
  return setsockopt(end->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* The largest message must fit the buffers, and be fragmented rather than refused. */
static int prepare(struct vv_end *end, const struct vv_address *own, struct vv_error *error) {
  int room_bytes = 8 * SIZE_BYTES_MAX;
  if (setsockopt(end->fd, SOL_SOCKET, SO_SNDBUF, &room_bytes, sizeof room_bytes) == 0 &&
      setsockopt(end->fd, SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof room_bytes) == 0 &&
      vv_datagram_own_mtu(end->fd) == 0 && (end->way != WAY_RAW || set_filter(end) == 0) &&
      bind(end->fd, &own->any, own->length) == 0) {
    return 0;
  }
  return vv_error_errno(error, "socket", "icmp: cannot set up a socket");
}

static int choose_way(struct vv_end *end, struct vv_error *error) {
  end->way = WAY_RAW;
  end->fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
  if (end->fd >= 0) return 0;
  end->way = WAY_PING_SOCKET;
  end->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
  if (end->fd >= 0) return 0;
  end->way = WAY_PROGRAM;
  if (vv_ping_exists()) return 0;
  vv_error_set(error, "no-permission", "icmp: no right to raw or ping sockets, and there is no program ping");
  return vv_error_remedy(error, "install ping (Debian: iputils-ping), or run as root, or let an administrator set "
                                "net.ipv4.ping_group_range");
}

static int start(struct vv_end *end, struct vv_error *error) {
  struct vv_address own;
  uint8_t random[2];
  if (vv_address_parse(end->config.address, 0, &own, error) != 0) return -1;
  if (own.any.sa_family != AF_INET) {
    vv_error_set(error, "bad-address", "icmp: %s is no IPv4 address", end->config.address);
    return vv_error_remedy(error, "name the far host by its IPv4 address");
  }
  if (vv_host_random(random, sizeof random, error) != 0 || choose_way(end, error) != 0) return -1;
  end->id = vv_get16(random);
  if (end->way == WAY_PROGRAM) {
    end->sent = malloc(SIZE_BYTES_MAX);
    return end->sent ? 0 : vv_error_set(error, "no-memory", "no memory for an icmp message");
  }
  return prepare(end, &own, error);
}

static struct vv_end *icmp_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                struct vv_error *error) {
  struct vv_end *end = malloc(sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an icmp end");
    return NULL;
  }
  *end = (struct vv_end){.fd = -1, .config = *config};
  vv_ping_init(&end->ping);
  if (start(end, error) != 0) return give_up(end);
  strcpy(contact, "icmp");
  return end;
}

/* send ---------------------------------------------------------------- */

static bool asked_to_stop(struct vv_end *end) {
  end->asking = true;
  bool stopped = end->config.stop.ask(end->config.stop.context);
  end->asking = false;
  return stopped;
}

static bool no_room(void) {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
}

/* What a failed call means. VV_GOT_MESSAGE: nothing, try again. An ICMP error about one message is its loss, not ours.
 */
static enum vv_got judge(struct vv_end *end, const char *what, struct vv_error *error) {
  bool asked = errno == EINTR || (no_room() && vv_watch_rang());
  if (asked) return asked_to_stop(end) ? VV_GOT_STOPPED : VV_GOT_MESSAGE;
  if (no_room() || errno == EHOSTUNREACH) return VV_GOT_MESSAGE;
  vv_error_errno(error, "socket", "icmp: cannot %s", what);
  return VV_GOT_ERROR;
}

/* The kernel writes id and checksum of a ping socket's messages. */
static void make_header(struct vv_end *end, const uint8_t *message, size_t size_bytes, uint8_t header[ECHO_HEADER]) {
  memset(header, 0, ECHO_HEADER);
  header[AT_TYPE] = ICMP_ECHO;
  vv_put16(header + AT_ID, end->id);
  vv_put16(header + AT_SEQ, ++end->seq);
  if (end->way != WAY_RAW) return;
  vv_checksum_put(vv_checksum_add(vv_checksum_add(0, header, ECHO_HEADER), message, size_bytes), header + AT_CHECKSUM);
}

static enum vv_got send_by_program(struct vv_end *end, const uint8_t *message, size_t size_bytes,
                                   struct vv_error *error) {
  memcpy(end->sent, message, size_bytes);
  end->sent_bytes = size_bytes;
  if (size_bytes < PING_BYTES_MIN) size_bytes = PING_BYTES_MIN;
  return vv_ping_start(&end->ping, end->far, size_bytes, error) == 0 ? VV_GOT_MESSAGE : VV_GOT_ERROR;
}

static enum vv_got icmp_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  if (end->way == WAY_PROGRAM) return send_by_program(end, message, size_bytes, error);
  int flags = end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0;
  uint8_t header[ECHO_HEADER];
  struct iovec pieces[2] = {{header, ECHO_HEADER}, {(void *)(uintptr_t)message, size_bytes}};
  struct msghdr both = {.msg_iov = pieces, .msg_iovlen = 2};
  make_header(end, message, size_bytes, header);
  while (sendmsg(end->fd, &both, flags) < 0) {
    enum vv_got got = judge(end, "send", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  return VV_GOT_MESSAGE;
}

/* receive ------------------------------------------------------------- */

/* Ours is the answer to the last message alone: whoever waits has given the earlier ones up. */
static bool is_answer(const struct vv_end *end, const uint8_t *header, ssize_t got_bytes, size_t size_bytes) {
  size_t before = end->way == WAY_RAW ? IP_HEADER : 0;
  const uint8_t *echo = header + before;
  return got_bytes == (ssize_t)(before + ECHO_HEADER + size_bytes) && (before == 0 || header[0] == 0x45) &&
         echo[AT_TYPE] == ICMP_ECHOREPLY && echo[AT_CODE] == 0 && vv_get16(echo + AT_SEQ) == end->seq;
}

static enum vv_got recv_from_program(struct vv_end *end, uint8_t *message, struct vv_error *error) {
  vv_ns rtt_ns;
  for (;;) {
    enum vv_ping_got got = end->ping.child.out < 0 ? VV_PING_NOTHING : vv_ping_take(&end->ping, &rtt_ns);
    if (got == VV_PING_ANSWER || got == VV_PING_WRONG) {
      memcpy(message, end->sent, end->sent_bytes);
      if (got == VV_PING_WRONG && end->sent_bytes > 0) message[end->sent_bytes - 1] ^= 0xff;
      end->rtt_ns += rtt_ns;
      end->answered = true;
      return VV_GOT_MESSAGE;
    }
    /* Silence lasts until the caller's patience ends, like that of a socket. */
    if (asked_to_stop(end)) return VV_GOT_STOPPED;
    vv_ns look_ns = vv_clock_ns() + PING_LOOK_NS;
    if (vv_watch_wait(&end->ping.child.out, 1, look_ns, error) < 0 && error->kind != VV_CODE_TIMEOUT)
      return VV_GOT_ERROR;
  }
}

static enum vv_got icmp_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  if (end->way == WAY_PROGRAM) return recv_from_program(end, message, error);
  int flags = MSG_TRUNC | (end->config.wait == VV_WAIT_SPIN ? MSG_DONTWAIT : 0);
  uint8_t header[IP_HEADER + ECHO_HEADER];
  struct iovec pieces[2] = {{header, end->way == WAY_RAW ? sizeof header : ECHO_HEADER}, {message, size_bytes}};
  for (;;) {
    struct msghdr both = {.msg_iov = pieces, .msg_iovlen = 2};
    ssize_t got_bytes = recvmsg(end->fd, &both, flags);
    if (got_bytes >= 0 && is_answer(end, header, got_bytes, size_bytes)) return VV_GOT_MESSAGE;
    if (got_bytes >= 0) continue;
    enum vv_got got = judge(end, "receive", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
}

/* connect ------------------------------------------------------------- */

struct icmp_trial {
  struct vv_watch_stop usual;
  vv_ns deadline_ns;
};

static bool trial_over(void *context) {
  const struct icmp_trial *trial = context;
  return vv_clock_ns() >= trial->deadline_ns || vv_watch_launcher_gone();
}

/* Whether the far host answers a message of that size within a few trials. 1, 0, or -1 and *error. */
static int answers(struct vv_end *end, size_t size_bytes, vv_ns deadline_ns, struct vv_error *error) {
  struct icmp_trial trial = {.usual = end->config.stop};
  uint8_t *message = calloc(2, size_bytes);
  enum vv_got got = VV_GOT_STOPPED;
  if (!message) return vv_error_set(error, "no-memory", "no memory for an icmp message");
  end->config.stop = (struct vv_watch_stop){.ask = trial_over, .context = &trial};
  for (int i = 0; i < TRIALS && got == VV_GOT_STOPPED && vv_clock_ns() < deadline_ns; i++) {
    trial.deadline_ns = vv_clock_ns() + TRIAL_NS + NS_PER_BYTE * (int64_t)size_bytes;
    got = icmp_send(end, message, size_bytes, error);
    if (got == VV_GOT_MESSAGE) got = icmp_recv(end, message + size_bytes, size_bytes, error);
  }
  end->config.stop = trial.usual;
  end->answered = false;
  end->rtt_ns = 0;
  free(message);
  return got == VV_GOT_ERROR ? -1 : got == VV_GOT_MESSAGE;
}

static int find_limit(struct vv_end *end, vv_ns deadline_ns, struct vv_error *error) {
  size_t largest = end->config.size_bytes_max;
  size_t small = largest < HALF_BYTES ? (largest > 0 ? largest : 1) : HALF_BYTES;
  int whole = largest > SURE_BYTES_MAX ? answers(end, TRIAL_BYTES, deadline_ns, error) : 0;
  if (whole != 0) return whole < 0 ? -1 : 0;
  int part = answers(end, small, deadline_ns, error);
  if (part < 0) return -1;
  if (part == 0) {
    vv_error_set(error, "timeout", "icmp: %s answers no echo of %zu bytes", end->far, small);
    return vv_error_remedy(error, "see whether the host is up and its firewall lets ICMP echo through");
  }
  end->by_halves = largest > SURE_BYTES_MAX;
  return 0;
}

static int icmp_connect(struct vv_end *end, const char *far_contact, vv_ns deadline_ns, struct vv_error *error) {
  struct vv_address far;
  if (vv_address_parse(far_contact, 0, &far, error) != 0) return -1;
  vv_address_format_host(&far, end->far);
  if (end->way != WAY_PROGRAM && connect(end->fd, &far.any, far.length) != 0) {
    return vv_error_errno(error, "unreachable", "icmp: cannot reach %s", end->far);
  }
  return find_limit(end, deadline_ns, error);
}

/* what kind of end ---------------------------------------------------- */

static vv_ns icmp_clock_ns(struct vv_end *end) {
  if (end->way != WAY_PROGRAM || end->asking) return vv_clock_ns();
  if (end->answered)
    end->told_ns += end->rtt_ns;
  else
    end->told_ns = vv_clock_ns();
  end->answered = false;
  end->rtt_ns = 0;
  return end->told_ns;
}

static struct vv_clock_quality icmp_clock_quality(struct vv_end *end) {
  if (end->way != WAY_PROGRAM) return vv_clock_measure();
  return (struct vv_clock_quality){.resolution_ns = PING_STEP_NS};
}

static const char *icmp_way(const struct vv_end *end) {
  static const char *const names[] = {
      [WAY_RAW] = "raw socket", [WAY_PING_SOCKET] = "ping socket", [WAY_PROGRAM] = "program ping"};
  return names[end->way];
}

static unsigned icmp_parts(const struct vv_end *end, size_t size_bytes) {
  return end->by_halves && size_bytes > SURE_BYTES_MAX ? 2 : 1;
}

static void icmp_close(struct vv_end *end) {
  if (end) give_up(end);
}

const struct vv_stack vv_stack_icmp = {
    .id = "icmp",
    .summary = "ICMP echo, answered by the far kernel, fragmented by IP above the MTU",
    .needs = "CAP_NET_RAW, ping_group_range or the program ping",
    .size_bytes_min = 0,
    .size_bytes_max = SIZE_BYTES_MAX,
    .kernel_echo = true,
    .datagram = true,
    .path = VV_PATH_ICMP,
    .open = icmp_open,
    .connect = icmp_connect,
    .send = icmp_send,
    .recv = icmp_recv,
    .clock_ns = icmp_clock_ns,
    .clock_quality = icmp_clock_quality,
    .way = icmp_way,
    .parts = icmp_parts,
    .close = icmp_close,
};
