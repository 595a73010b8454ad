/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/port/filter.h"

#include <assert.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <stddef.h>
#include <sys/socket.h>

#include "core/llc/address.h"
#include "core/wire/bytes.h"
#include "core/wire/envelope.h"
#include "core/wire/lpdu.h"
#include "core/wire/tcp_segment.h"

/* Offsets count from the destination address; a load beyond the frame ends the program with a refusal. */
enum { AT_LENGTH = 12, AT_DSAP = 14, AT_CONTROL = 16, AT_LEAD = 17, VLAN_ID = 0x0fff, PROGRAM_MAX = 40 };

/* Where a jump goes: so many steps further, or one of these, which are put in place when the program is whole. */
enum { NEXT = 0, TAKE = 0xfe, DROP = 0xff };

struct program {
  struct sock_filter code[PROGRAM_MAX];
  size_t count;
};

static void put(struct program *program, uint16_t code, uint8_t yes, uint8_t no, uint32_t value) {
  assert(program->count < PROGRAM_MAX);
  program->code[program->count++] = (struct sock_filter)BPF_JUMP(code, value, yes, no);
}

static void load(struct program *program, uint16_t width, uint32_t offset) {
  put(program, BPF_LD | BPF_ABS | width, NEXT, NEXT, offset);
}

static void is(struct program *program, uint32_t value, uint8_t yes, uint8_t no) {
  put(program, BPF_JMP | BPF_JEQ | BPF_K, yes, no, value);
}

static void only_for(struct program *program, enum vv_filter_to to) {
  static const uint32_t type_max[] = {
      [VV_FILTER_TO_US] = PACKET_HOST, [VV_FILTER_TO_ALL] = PACKET_BROADCAST, [VV_FILTER_TO_GROUP] = PACKET_MULTICAST};
  load(program, BPF_W, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE));
  put(program, BPF_JMP | BPF_JGT | BPF_K, DROP, NEXT, type_max[to]);
  load(program, BPF_W, (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG));
  put(program, BPF_JMP | BPF_JSET | BPF_K, DROP, NEXT, VLAN_ID);
}

/* The length field is a length and does not lie, or says jumbo and the frame is one. */
static void only_whole(struct program *program, bool jumbo) {
  enum { JUMBO_STEPS = 3, LENGTH_STEPS = 5 };
  load(program, BPF_H, AT_LENGTH);
  if (jumbo) {
    is(program, VV_ENVELOPE_TYPE_JUMBO, NEXT, JUMBO_STEPS);
    put(program, BPF_LD | BPF_W | BPF_LEN, NEXT, NEXT, 0);
    put(program, BPF_JMP | BPF_JGT | BPF_K, NEXT, DROP, VV_ENVELOPE_BYTES + VV_FRAME_DATA_BYTES_MAX);
    put(program, BPF_JMP | BPF_JA, NEXT, NEXT, LENGTH_STEPS);
  }
  put(program, BPF_JMP | BPF_JGT | BPF_K, DROP, NEXT, VV_FRAME_DATA_BYTES_MAX);
  put(program, BPF_ALU | BPF_ADD | BPF_K, NEXT, NEXT, VV_ENVELOPE_BYTES);
  put(program, BPF_MISC | BPF_TAX, NEXT, NEXT, 0);
  put(program, BPF_LD | BPF_W | BPF_LEN, NEXT, NEXT, 0);
  put(program, BPF_JMP | BPF_JGE | BPF_X, NEXT, DROP, 0);
}

static void only_to_sap(struct program *program, const struct vv_filter *filter) {
  load(program, BPF_B, AT_DSAP);
  if (filter->station) {
    is(program, VV_LLC_SAP_NULL, TAKE, NEXT);
    is(program, VV_LLC_SAP_GLOBAL, TAKE, NEXT);
  }
  is(program, filter->dsap, NEXT, DROP);
}

static void only_with_lead(struct program *program, const uint8_t *lead) {
  load(program, BPF_B, AT_CONTROL);
  is(program, VV_LPDU_CONTROL_UI, NEXT, DROP);
  load(program, BPF_W, AT_LEAD);
  is(program, vv_get32(lead), NEXT, DROP);
  load(program, BPF_W, AT_LEAD + 4);
  is(program, vv_get32(lead + 4), NEXT, DROP);
}

static uint8_t resolved(uint8_t jump, size_t at, size_t take, size_t drop) {
  return jump == TAKE ? (uint8_t)(take - at - 1) : jump == DROP ? (uint8_t)(drop - at - 1) : jump;
}

/* shown: so many bytes of a frame that is taken. */
static void finish(struct program *program, uint32_t shown) {
  size_t take = program->count, drop = take + 1;
  for (size_t at = 0; at < take; at++) {
    program->code[at].jt = resolved(program->code[at].jt, at, take, drop);
    program->code[at].jf = resolved(program->code[at].jf, at, take, drop);
  }
  put(program, BPF_RET | BPF_K, NEXT, NEXT, shown);
  put(program, BPF_RET | BPF_K, NEXT, NEXT, 0);
}

static int attach(int fd, struct program *program) {
  struct sock_fprog whole = {.len = (unsigned short)program->count, .filter = program->code};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &whole, sizeof whole);
}

int vv_filter_attach(int fd, const struct vv_filter *filter) {
  struct program program = {.count = 0};
  only_for(&program, filter->to);
  only_whole(&program, filter->jumbo);
  only_to_sap(&program, filter);
  if (filter->lead) only_with_lead(&program, filter->lead);
  finish(&program, UINT32_MAX);
  return attach(fd, &program);
}

/* watch ---------------------------------------------------------------- */

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd, PROTOCOL_TCP = 6, NOT_THE_FIRST = 0x1fff };

/* One of two addresses is the host's, by its last four bytes. */
static void only_of_host(struct program *program, uint32_t from_at, uint32_t to_at, uint32_t host) {
  enum { TO_STEPS = 2 };
  load(program, BPF_W, from_at);
  is(program, host, TO_STEPS, NEXT);
  load(program, BPF_W, to_at);
  is(program, host, NEXT, DROP);
}

/* The last of a way through the program. mode: BPF_ABS, or BPF_IND from where the index says. */
static void only_other_ports(struct program *program, uint16_t mode, uint32_t at, uint16_t not_port) {
  put(program, BPF_LD | BPF_H | mode, NEXT, NEXT, at);
  is(program, not_port, DROP, NEXT);
  put(program, BPF_LD | BPF_H | mode, NEXT, NEXT, at + 2);
  is(program, not_port, DROP, TAKE);
}

/* Its header may have options, so the ports lie behind as many bytes as it says. */
static void in_ipv4(struct program *program, const struct vv_filter_watch *watch) {
  enum { AT_IP = 14, AT_FRAGMENT = 20, AT_PROTOCOL = 23, AT_FROM = 26, AT_TO = 30 };
  load(program, BPF_B, AT_PROTOCOL);
  is(program, PROTOCOL_TCP, NEXT, DROP);
  load(program, BPF_H, AT_FRAGMENT);
  put(program, BPF_JMP | BPF_JSET | BPF_K, DROP, NEXT, NOT_THE_FIRST);
  only_of_host(program, AT_FROM, AT_TO, watch->host);
  put(program, BPF_LDX | BPF_B | BPF_MSH, NEXT, NEXT, AT_IP);
  only_other_ports(program, BPF_IND, AT_IP, watch->not_port);
}

static void in_ipv6(struct program *program, const struct vv_filter_watch *watch) {
  enum { AT_NEXT = 20, AT_FROM = 34, AT_TO = 50, AT_PORTS = 54 };
  load(program, BPF_B, AT_NEXT);
  is(program, PROTOCOL_TCP, NEXT, DROP);
  only_of_host(program, AT_FROM, AT_TO, watch->host);
  only_other_ports(program, BPF_ABS, AT_PORTS, watch->not_port);
}

int vv_filter_watch(int fd, const struct vv_filter_watch *watch) {
  struct program four = {.count = 0}, program = {.count = 0};
  in_ipv4(&four, watch); /* to know how long it is */
  load(&program, BPF_H, AT_LENGTH);
  is(&program, TYPE_IPV4, NEXT, (uint8_t)four.count);
  in_ipv4(&program, watch);
  is(&program, TYPE_IPV6, NEXT, DROP);
  in_ipv6(&program, watch);
  finish(&program, VV_TCP_SEGMENT_HEAD_BYTES);
  return attach(fd, &program);
}
