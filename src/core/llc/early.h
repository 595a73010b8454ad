/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * I PDUs that came too early: behind one that is missing. A receiver of the
 * standard discards them, and all are sent again (go-back-N); between two of our
 * stations they are kept until the missing one has come, so that it alone is
 * sent again (core/llc/repeat.h).
 *
 * The places are the station's, for all its links together; each link has a
 * chain of those that it uses, in the order of their numbers. An I PDU that
 * finds no place is discarded, as the standard has it.
 */
#ifndef VV_CORE_LLC_EARLY_H
#define VV_CORE_LLC_EARLY_H

#include <stddef.h>
#include <stdint.h>

#define VV_LLC_NO_EARLY UINT32_MAX /* an empty chain, and the end of every other */

struct vv_llc_early_pdu {
  uint32_t number; /* of the I PDU in its link's stream */
  uint32_t count;  /* of the bytes behind its header */
  uint32_t next;   /* in its chain, or of the free ones */
};

struct vv_llc_early {
  struct vv_llc_early_pdu *pdus; /* the caller's, as long as this; so are the bytes */
  uint8_t *bytes;                /* room_bytes for each */
  uint32_t room_bytes;
  uint32_t free; /* the first free place */
};

/* All places free. */
void vv_llc_early_init(struct vv_llc_early *early, uint32_t places);
/* Keeps a copy of an I PDU (of room_bytes at most), unless it is kept already or there is no place. */
void vv_llc_early_keep(struct vv_llc_early *early, uint32_t *chain, uint32_t number, const uint8_t *bytes,
                       uint32_t count);
/* The first of a chain that is not before that number; those before it are given up. VV_LLC_NO_EARLY: there is none. */
uint32_t vv_llc_early_first(struct vv_llc_early *early, uint32_t *chain, uint32_t number);
/* The bytes of one: there until the next vv_llc_early_keep, even when it is given up before. */
static inline const uint8_t *vv_llc_early_bytes(const struct vv_llc_early *early, uint32_t place) {
  return early->bytes + (size_t)place * early->room_bytes;
}
/* Gives the first of a chain up. */
void vv_llc_early_pop(struct vv_llc_early *early, uint32_t *chain);
/* Gives all of a chain up. */
void vv_llc_early_clear(struct vv_llc_early *early, uint32_t *chain);

#endif
