/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/datagram.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#if defined(__linux__) && !defined(VV_PORTABLE)
#define LINUX 1
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <linux/udp.h>
#else
#define LINUX 0
#endif

#if LINUX
enum { ACCEPT = 0xffffffff, WORDS = VV_DATAGRAM_STREAMS / 32, EACH = 3, PROGRAM_MAX = 64 };

/* Offsets count from the UDP header, 8 bytes, or from the IPv4 header. A load beyond the datagram refuses it. */
static const struct sock_filter stream_begins[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 8),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x00ffff00),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 11),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 31),
    BPF_STMT(BPF_MISC | BPF_TAX, 0),
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 11),
    BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 5),
};
static const struct sock_filter bit_is_set[] = {
    BPF_STMT(BPF_ALU | BPF_RSH | BPF_X, 0),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 1),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, 0),
};

/* Loads the word of the bitmap whose number is in A: one comparison for each, the group of all being in the first. */
static size_t put_words(struct sock_filter *program, const uint32_t words[WORDS]) {
  for (unsigned i = 0; i < WORDS; i++) {
    struct sock_filter *at = program + (size_t)EACH * i;
    at[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 0, EACH - 1);
    at[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, words[i]);
    at[2] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, EACH * (WORDS - 1 - i));
  }
  return (size_t)EACH * WORDS;
}

void vv_datagram_filter(int fd, const struct vv_datagram_filter *filter) {
  const struct sock_filter rest[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 8),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, filter->kind_min, 0, 6),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, filter->kind_max, 5, 0),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohs(filter->own.sin_port), 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)SKF_NET_OFF + 12),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(filter->own.sin_addr.s_addr), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, ACCEPT),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  struct sock_filter program[PROGRAM_MAX];
  size_t length = sizeof stream_begins / sizeof *program;
  memcpy(program, stream_begins, sizeof stream_begins);
  program[2].k = filter->stream;
  length += put_words(program + length, filter->admitted);
  memcpy(program + length, bit_is_set, sizeof bit_is_set);
  length += sizeof bit_is_set / sizeof *program;
  memcpy(program + length, rest, sizeof rest);
  length += sizeof rest / sizeof *program;
  const struct sock_fprog whole = {(unsigned short)length, program};
  setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &whole, sizeof whole);
}
#else
void vv_datagram_filter(int fd, const struct vv_datagram_filter *filter) {
  (void)fd, (void)filter;
}
#endif

void vv_datagram_joined_only(int fd) {
#if LINUX
  const int off = 0;
  setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off);
#else
  (void)fd;
#endif
}

int vv_datagram_own_mtu(int fd) {
#if LINUX
  const int omit = IP_PMTUDISC_OMIT; /* the MTU of the interface, and fragments beyond it */
  return setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &omit, sizeof omit);
#else
  (void)fd;
  return 0;
#endif
}

uint64_t vv_datagram_room_bytes(int fd) {
  /* More than allowed is cut to what is allowed; Linux doubles what it is asked for. */
  const int wanted = 1 << 20;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
  int room;
  socklen_t length = sizeof room;
  return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, &length) == 0 && room > 0 ? (uint64_t)room : 0;
}

uint64_t vv_datagram_charged_bytes(int fd) {
#if LINUX
  uint32_t values[SK_MEMINFO_VARS];
  socklen_t length = sizeof values;
  return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values, &length) == 0 ? values[SK_MEMINFO_RMEM_ALLOC] : 0;
#else
  (void)fd;
  return 0;
#endif
}

#if LINUX
int vv_datagram_recv_many(int fd, struct msghdr *messages, size_t *bytes, unsigned count, bool wait) {
  struct mmsghdr batch[VV_DATAGRAM_BATCH];
  for (unsigned i = 0; i < count; i++) batch[i].msg_hdr = messages[i];
  const int got = recvmmsg(fd, batch, count, wait ? MSG_WAITFORONE : MSG_DONTWAIT, NULL);
  for (int i = 0; i < got; i++) {
    messages[i] = batch[i].msg_hdr;
    bytes[i] = batch[i].msg_len;
  }
  return got;
}

int vv_datagram_send_many(int fd, const struct msghdr *messages, unsigned count) {
  struct mmsghdr batch[VV_DATAGRAM_BATCH];
  for (unsigned i = 0; i < count; i++) batch[i].msg_hdr = messages[i];
  return sendmmsg(fd, batch, count, 0);
}

bool vv_datagram_cut(int fd, size_t each_bytes) {
  const int cut_bytes = (int)each_bytes;
  return setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &cut_bytes, sizeof cut_bytes) == 0;
}
#else
int vv_datagram_recv_many(int fd, struct msghdr *messages, size_t *bytes, unsigned count, bool wait) {
  int got = 0;
  for (ssize_t one = 0; got < (int)count; got++) {
    one = recvmsg(fd, &messages[got], wait && got == 0 ? 0 : MSG_DONTWAIT);
    if (one < 0) return got > 0 ? got : -1;
    bytes[got] = (size_t)one;
  }
  return got;
}

int vv_datagram_send_many(int fd, const struct msghdr *messages, unsigned count) {
  int went = 0;
  while (went < (int)count && sendmsg(fd, &messages[went], 0) >= 0) went++;
  return went > 0 ? went : -1;
}

bool vv_datagram_cut(int fd, size_t each_bytes) {
  (void)fd, (void)each_bytes;
  return false;
}
#endif
