/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/llc/backlog.h"

#include <assert.h>

void vv_llc_backlog_init(struct vv_llc_backlog *backlog, uint32_t first, uint32_t first_bytes, uint32_t unit_bytes) {
  assert(first_bytes > 0 && unit_bytes > 0);
  *backlog = (struct vv_llc_backlog){
      .head = VV_LLC_NO_MESSAGE,
      .tail = VV_LLC_NO_MESSAGE,
      .cursor = VV_LLC_NO_MESSAGE,
      .first_bytes = first_bytes,
      .unit_bytes = unit_bytes,
      .next = first,
      .done = first,
  };
}

static uint32_t pdus_of(const struct vv_llc_backlog *backlog, uint32_t count) {
  if (count <= backlog->first_bytes) return 1;
  return 1 + (count - backlog->first_bytes - 1) / backlog->unit_bytes + 1;
}

void vv_llc_backlog_add(struct vv_llc_backlog *backlog, struct vv_llc_message *messages, uint32_t message) {
  struct vv_llc_message *new = &messages[message];
  new->first = backlog->next;
  new->pdus = pdus_of(backlog, new->count);
  new->next = VV_LLC_NO_MESSAGE;
  new->given_up = false;
  backlog->next += new->pdus;
  if (backlog->head == VV_LLC_NO_MESSAGE) {
    backlog->head = message;
  } else {
    messages[backlog->tail].next = message;
  }
  backlog->tail = message;
}

static bool holds(const struct vv_llc_message *message, uint32_t number) {
  return number - message->first < message->pdus;
}

struct vv_llc_backlog_pdu vv_llc_backlog_at(struct vv_llc_backlog *backlog, const struct vv_llc_message *messages,
                                            uint32_t number) {
  uint32_t at = backlog->cursor;
  if (at == VV_LLC_NO_MESSAGE || (int32_t)(number - messages[at].first) < 0) at = backlog->head;
  while (!holds(&messages[at], number)) at = messages[at].next;
  backlog->cursor = at;
  const struct vv_llc_message *message = &messages[at];
  uint32_t index = number - message->first;
  uint32_t begin = index == 0 ? 0 : backlog->first_bytes + (index - 1) * backlog->unit_bytes;
  uint32_t most = index == 0 ? backlog->first_bytes : backlog->unit_bytes;
  uint32_t rest = message->count - begin;
  return (struct vv_llc_backlog_pdu){
      .bytes = message->bytes + begin,
      .count = rest < most ? rest : most,
      .message_bytes = message->count,
      .first = index == 0,
  };
}

void vv_llc_backlog_done(struct vv_llc_backlog *backlog, uint32_t number) {
  backlog->done = number;
}

static bool is_done(const struct vv_llc_backlog *backlog, const struct vv_llc_message *message) {
  return (int32_t)(backlog->done - (message->first + message->pdus)) >= 0;
}

void vv_llc_backlog_give_up(struct vv_llc_backlog *backlog, struct vv_llc_message *messages) {
  for (uint32_t at = backlog->head; at != VV_LLC_NO_MESSAGE; at = messages[at].next) {
    messages[at].given_up = !is_done(backlog, &messages[at]);
  }
  backlog->done = backlog->next;
}

uint32_t vv_llc_backlog_take(struct vv_llc_backlog *backlog, const struct vv_llc_message *messages) {
  uint32_t head = backlog->head;
  if (head == VV_LLC_NO_MESSAGE || !is_done(backlog, &messages[head])) return VV_LLC_NO_MESSAGE;
  backlog->head = messages[head].next;
  if (backlog->head == VV_LLC_NO_MESSAGE) backlog->tail = VV_LLC_NO_MESSAGE;
  if (backlog->cursor == head) backlog->cursor = VV_LLC_NO_MESSAGE;
  return head;
}
