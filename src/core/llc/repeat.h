/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many I PDUs are sent again when the table says V(S) := N(R). Of the
 * standard, and on a plain link: all that are unacknowledged. Between two of our
 * stations a receiver that misses an I PDU keeps those behind it
 * (core/llc/early.h), so a REJ response asks for that one alone, and V(S) goes on
 * from where it was. If more are missing that were under way then, each next REJ
 * response gets twice as many as the one before, for losses come in bursts.
 *
 * A REJ command (its sender was busy and discarded what came, or got nothing for
 * its first REJ), and an answer to an enquiry that no REJ response came before,
 * ask for all.
 */
#ifndef VV_CORE_LLC_REPEAT_H
#define VV_CORE_LLC_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

/* I PDUs by the numbers that they have in the stream of their link. */
struct vv_llc_repeat {
  uint32_t asked; /* the one that the last REJ response asked for */
  uint32_t until; /* those before it are on their way again */
  uint8_t left;   /* of those, not sent yet; 0: none, or all that are unacknowledged */
  uint8_t burst;  /* how many the last REJ response got */
};

/* Nothing was asked for; the first I PDU that is not acknowledged has that number. */
void vv_llc_repeat_init(struct vv_llc_repeat *repeat, uint32_t number);
/* A REJ came: it asks for the I PDU with that number, alone (a response) or with all behind it. */
void vv_llc_repeat_ask(struct vv_llc_repeat *repeat, uint32_t number, bool alone);
/*
 * V(S) := N(R), `number` being that of the I PDU there and `unacknowledged` (>= 1)
 * how many there are. same_flight: they were under way when the last loss was
 * told. enquired: we asked, so what was sent again has been lost again. False: it
 * is on its way already, and V(S) stays.
 */
bool vv_llc_repeat_begin(struct vv_llc_repeat *repeat, uint32_t number, uint8_t unacknowledged, bool same_flight,
                         bool enquired);
/* An I PDU was sent: true when it was the last to be sent again, and V(S) goes on from where it was. */
bool vv_llc_repeat_sent(struct vv_llc_repeat *repeat);
/* What is left is not needed any more: true when there was something, and V(S) goes on from where it was. */
bool vv_llc_repeat_end(struct vv_llc_repeat *repeat);

#endif
