/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many I PDUs may be unacknowledged: the dynamic window of ISO/IEC
 * 8802-2:1998, annex C, which keeps senders from drowning a switch together.
 *
 * The working window is halved when I PDUs were lost, at most once for those
 * that were under way then, and grows by one for each window of I PDUs that is
 * acknowledged; until the first loss by one for each. (The annex lets it fall
 * to 1 at once: that costs a link with 0.5 % loss most of its rate.)
 */
#ifndef VV_CORE_LLC_WINDOW_H
#define VV_CORE_LLC_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct vv_llc_window {
  uint8_t limit;   /* k: never more than this */
  uint8_t working; /* 1 .. limit */
  uint8_t credit;  /* acknowledged since it last grew */
  uint8_t ahead;   /* I PDUs that were under way at the last loss and are not acknowledged yet */
  uint8_t lost;    /* != 0: there was a loss, growth is slow */
};

/* A window of that limit (1 .. 127), open to at most `start`. */
void vv_llc_window_init(struct vv_llc_window *window, uint8_t limit, uint8_t start);
/* So many I PDUs were acknowledged; `grow`: and more of them at a time would be of use. */
void vv_llc_window_acknowledged(struct vv_llc_window *window, uint8_t count, bool grow);
/* I PDUs were lost while so many were unacknowledged. */
void vv_llc_window_lost(struct vv_llc_window *window, uint8_t outstanding);

#endif
