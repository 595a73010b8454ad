/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens before a SABME between two of our stations, and the user that
 * the standard's state machine asks.
 *
 * Whoever wants to connect or must reset sends a TEST with an announcement
 * (core/wire/announcement.h) and an XID with its receive window, until both are
 * answered, and then the SABME. The other has stopped sending when it read the
 * announcement, and takes a SABME only after one: what comes late from before
 * finds nobody who listens to it.
 *
 * If both begin, the one with the higher address goes on and does not answer
 * the other, which gives way. Against the standard, where crossing SABMEs both
 * count (they do on plain links): an epoch must have one author.
 */
#ifndef VV_CORE_LLC_GREETING_H
#define VV_CORE_LLC_GREETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/llc/link.h"

/* Begins a set-up or reset of the link, unless one is under way. */
void vv_greeting_begin(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns);

/* If the peer has called and we need the link, waits for its SABME no longer than it takes, and then begins itself. */
void vv_greeting_wait(const struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns);

/* Its timer is due. */
void vv_greeting_expire(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns);

/* The information of a TEST command from a peer: true when it is to be answered. Makes a link where there is none. */
bool vv_greeting_called(struct vv_station *station, const struct vv_llc_address *peer, uint64_t now_ns,
                        const uint8_t *info, size_t count);

/* The information of a TEST response from the peer of a link: true when it was ours. */
bool vv_greeting_echoed(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns, const uint8_t *info,
                        size_t count);

/* An XID response told the peer's receive window: true when we had asked. */
bool vv_greeting_identified(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns, uint8_t window);

/* True when a SABME of the peer counts, and is not one from before. */
bool vv_greeting_expects_sabme(struct vv_llc_link *link);

/* Answers the question that the state machine asks its user. */
void vv_greeting_answer(struct vv_station *station, struct vv_llc_link *link, uint64_t now_ns);

/* Ends a link that cannot go on, and tells the peer by a DISC. */
void vv_greeting_break(struct vv_station *station, struct vv_llc_link *link, enum vv_close why);

#endif
