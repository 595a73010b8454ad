/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control PDUs that wait to be sent. Small and bounded: whatever does not fit is
 * forgotten, and asked for again by whoever needs it.
 */
#ifndef VV_CORE_GROUP_OUTBOX_H
#define VV_CORE_GROUP_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/gpdu.h"

#define VV_OUTBOX_ROOM 32
#define VV_OUTBOX_ALL  UINT32_MAX

struct vv_outbox_letter {
  uint32_t rank; /* or VV_OUTBOX_ALL */
  struct vv_gpdu pdu;
  uint8_t bitmap[VV_GPDU_BITMAP_BYTES]; /* of an ASK */
};

struct vv_outbox {
  uint32_t first, count;
  struct vv_outbox_letter letters[VV_OUTBOX_ROOM];
};

/* Puts a PDU in, its bitmap copied. One that says no more than one that waits is not put in twice. */
void vv_outbox_put(struct vv_outbox *outbox, uint32_t rank, const struct vv_gpdu *pdu);

/* The next letter, there until the next call; NULL: none. */
const struct vv_outbox_letter *vv_outbox_take(struct vv_outbox *outbox);

#endif
