/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/group/outbox.h"

#include <string.h>

static struct vv_outbox_letter *letter_at(struct vv_outbox *outbox, uint32_t i) {
  return &outbox->letters[(outbox->first + i) % VV_OUTBOX_ROOM];
}

/* Where that PDU goes: in place of an older one of its kind to the same rank, or behind the last. NULL: no room. */
static struct vv_outbox_letter *place_for(struct vv_outbox *outbox, uint32_t rank, enum vv_gpdu_kind kind) {
  for (uint32_t i = 0; i < outbox->count; i++) {
    struct vv_outbox_letter *letter = letter_at(outbox, i);
    if (letter->rank == rank && letter->pdu.kind == kind) return letter;
  }
  return outbox->count < VV_OUTBOX_ROOM ? letter_at(outbox, outbox->count++) : NULL;
}

void vv_outbox_put(struct vv_outbox *outbox, uint32_t rank, const struct vv_gpdu *pdu) {
  struct vv_outbox_letter *letter = place_for(outbox, rank, pdu->kind);
  if (letter == NULL) return;
  letter->rank = rank;
  letter->pdu = *pdu;
  if (pdu->data_bytes > 0) memcpy(letter->bitmap, pdu->data, pdu->data_bytes);
  letter->pdu.data = letter->bitmap;
}

const struct vv_outbox_letter *vv_outbox_take(struct vv_outbox *outbox) {
  if (outbox->count == 0) return NULL;
  const struct vv_outbox_letter *letter = letter_at(outbox, 0);
  outbox->first = (outbox->first + 1) % VV_OUTBOX_ROOM;
  outbox->count--;
  return letter;
}
