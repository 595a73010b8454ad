/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever a rank of a group can be told: by strangers, and by peers that hold
 * the key and have gone mad.
 *
 * The input is a list of acts, one byte each with what follows it: start an
 * operation, let time pass, lose a rank, close, give raw bytes to a socket, or
 * give it a PDU with these numbers and a right tag. Whatever comes, the core stays
 * inside its memory, sends no PDU that it could not read itself, names no rank
 * that there is not, and calms down.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/heap.h"
#include "core/group/rank.h"
#include "core/wire/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS = 5, DATAGRAM = 128, STREAM = 3, MESSAGE = 1000, SENDS_MAX = 10000, NUMBERS = 24, WINDOW = 12 };
enum { PART_MAX = DATAGRAM - VV_GPDU_HEADER_BYTES - VV_GPDU_HEAD_BYTES };

struct input {
  const uint8_t *data;
  size_t size;
};

static const uint8_t *cut(struct input *input, size_t count) {
  static const uint8_t nothing[256];
  if (count > input->size) {
    input->size = 0;
    return nothing;
  }
  const uint8_t *here = input->data;
  input->data += count;
  input->size -= count;
  return here;
}

/* A block of its own for the bytes, so that reading beyond them is caught. */
static void take(struct vv_rank *group, vv_ns now_ns, enum vv_rank_socket socket, const uint8_t *bytes, size_t count) {
  uint8_t *block = malloc(count + (count == 0));
  if (block == NULL) return;
  memcpy(block, bytes, count);
  vv_rank_take(group, now_ns, socket, block, count);
  free(block);
}

/* In an order that inputs of before keep their sense in. */
static const enum vv_gpdu_kind kinds[] = {VV_GPDU_HEAD, VV_GPDU_DATA,  VV_GPDU_ASK,  VV_GPDU_ACK,
                                          VV_GPDU_POLL, VV_GPDU_STATE, VV_GPDU_FAIL, VV_GPDU_PART};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Numbers near where the group is, so that they mean something. */
static struct vv_gpdu made_up(const struct vv_rank *group, const uint8_t *numbers) {
  uint64_t near = group->consumed;
  return (struct vv_gpdu){
      .kind = kinds[numbers[0] % KINDS],
      .position = near + (int8_t)numbers[1],
      .source = numbers[2] % 8,
      .operation = group->current.number + numbers[3] % 4 - 1,
      .rank = numbers[4] % 8,
      .target = numbers[5] % 8,
      .size_bytes = vv_get16(numbers + 6),
      .edge = near + (int8_t)numbers[8],
      .horizon = near + (int8_t)numbers[9],
      .beyond = vv_get32(numbers + 13),
      .flags = numbers[10] % 4,
      .why = (enum vv_gpdu_why)(VV_GPDU_DIED + numbers[11] % 4),
      .data = numbers + 12,
      .data_bytes = numbers[12] % 12,
  };
}

static void take_made_up(struct vv_rank *group, vv_ns now_ns, enum vv_rank_socket socket, const uint8_t *numbers) {
  static const uint8_t zeros[DATAGRAM];
  uint8_t bytes[DATAGRAM + VV_GPDU_CONTROL_BYTES];
  struct vv_gpdu pdu = made_up(group, numbers);
  bool bulk = pdu.kind <= VV_GPDU_DATA;
  if (bulk) {
    pdu.data = zeros;
    pdu.horizon = pdu.position - numbers[9];
    pdu.data_bytes = numbers[12] % PART_MAX;
    if (pdu.kind == VV_GPDU_PART && numbers[13] % 8 != 0) pdu.size_bytes = pdu.data_bytes;
  }
  if (pdu.kind != VV_GPDU_ASK && !bulk) pdu.data_bytes = 0;
  size_t count = vv_gpdu_emit(&group->keys, STREAM, &pdu, bytes);
  if (bulk) {
    memcpy(bytes + count, pdu.data, pdu.data_bytes);
    count += pdu.data_bytes;
  }
  take(group, now_ns, socket, bytes, count);
}

/* Everything that it wants to send can be parsed, and comes to an end. */
static void send_all(struct vv_rank *group, vv_ns now_ns) {
  struct vv_rank_datagram datagram;
  struct vv_rank_event event;
  for (int i = 0; vv_rank_next(group, now_ns, &datagram); i++) {
    uint8_t bytes[DATAGRAM + VV_GPDU_CONTROL_BYTES];
    struct vv_gpdu pdu;
    memcpy(bytes, datagram.header, datagram.header_bytes);
    if (datagram.payload_bytes > 0) memcpy(bytes + datagram.header_bytes, datagram.payload, datagram.payload_bytes);
    size_t count = datagram.header_bytes + datagram.payload_bytes;
    assert(vv_gpdu_parse(&group->keys, STREAM, group->consumed, bytes, count, &pdu));
    assert(i < SENDS_MAX && (datagram.way != VV_RANK_TO_RANK || datagram.rank < RANKS));
  }
  while (vv_rank_event(group, &event)) {
    assert(event.kind != VV_RANK_FAILED || event.failure.rank < RANKS);
    assert(event.kind != VV_RANK_LATE || event.rank < RANKS);
  }
}

/* Of a round, whose parts stay where they are until it is done. */
static struct vv_rank_part parts[RANKS];

static void make_round(const struct vv_rank *group, struct vv_rank_operation *operation, uint8_t *message,
                       uint8_t how) {
  if (group->current.busy) return;
  for (uint32_t i = 0; i < RANKS; i++) {
    parts[i] = (struct vv_rank_part){message + (size_t)i * DATAGRAM, how % (PART_MAX + 1)};
  }
  operation->root = 0;
  operation->parts = parts;
}

static void act(struct vv_rank *group, vv_ns *now_ns, struct input *input, uint8_t *message) {
  uint8_t what = *cut(input, 1), how = *cut(input, 1);
  enum vv_rank_socket socket = what & 8 ? VV_RANK_SOCKET_DATA : VV_RANK_SOCKET_CONTROL;
  vv_ns next_ns;
  struct vv_rank_operation operation = {.root = how % RANKS,
                                        .buffer = message,
                                        .size_bytes = (uint64_t)how * 3,
                                        .size_known = (what & 16) != 0,
                                        .representation = how,
                                        .stream = (what & 32) != 0};
  switch (what % 8) {
  case 0:
    if (what & 64) make_round(group, &operation, message, how);
    if (!group->current.busy && !group->closing) vv_rank_start(group, *now_ns, &operation);
    break;
  case 1:
    next_ns = vv_rank_deadline_ns(group);
    if (next_ns != VV_NEVER && next_ns > *now_ns) *now_ns = next_ns;
    if (how % 2 == 0) vv_rank_dry(group, *now_ns);
    break;
  case 2:
    if (how % 16 == 0) vv_rank_lost(group, *now_ns, how / 16 % RANKS, what & 16 ? VV_GPDU_LEFT : VV_GPDU_DIED);
    break;
  case 3:
    if (how == 0 && !group->current.busy && !group->closing) vv_rank_close(group, *now_ns);
    break;
  case 4:
    take(group, *now_ns, socket, cut(input, how), how);
    break;
  default:
    take_made_up(group, *now_ns, socket, cut(input, NUMBERS));
  }
  send_all(group, *now_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input input = {data, size};
  struct vv_rank_config config = {.ranks = RANKS,
                                  .rank = 1,
                                  .stream = STREAM,
                                  .datagram_bytes = DATAGRAM,
                                  .window_datagrams = WINDOW,
                                  .rtt_ns = 1000};
  struct vv_rank group;
  vv_ns now_ns = 0;
  uint8_t *message = calloc(1, MESSAGE);
  void *memory = malloc(vv_rank_bytes(&config));
  if (message != NULL && memory != NULL) {
    vv_rank_init(&group, memory, &config);
    while (input.size > 0) act(&group, &now_ns, &input, message);
  }
  free(memory);
  free(message);
  return 0;
}
