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

static void finish(struct program *program) {
  size_t take = program->count, drop = take + 1;
  for (size_t at = 0; at < take; at++) {
    program->code[at].jt = resolved(program->code[at].jt, at, take, drop);
    program->code[at].jf = resolved(program->code[at].jf, at, take, drop);
  }
  put(program, BPF_RET | BPF_K, NEXT, NEXT, UINT32_MAX);
  put(program, BPF_RET | BPF_K, NEXT, NEXT, 0);
}

int vv_filter_attach(int fd, const struct vv_filter *filter) {
  struct program program = {.count = 0};
  only_for(&program, filter->to);
  only_whole(&program, filter->jumbo);
  only_to_sap(&program, filter);
  if (filter->lead) only_with_lead(&program, filter->lead);
  finish(&program);
  struct sock_fprog whole = {.len = (unsigned short)program.count, .filter = program.code};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &whole, sizeof whole);
}
