/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens before a SABME between two of our stations, and the user that
 * the standard's state machine asks.
 *
 * Whoever wants to connect or must reset calls: it sends a TEST with an
 * announcement (core/wire/announcement.h) and an XID, until both are answered,
 * and then the SABME. The other has stopped sending when it read the
 * announcement, and takes a SABME only after one: what comes late from before
 * finds nobody who listens to it. If the two were up with each other before, on
 * this link or an earlier one, the SABME waits until PDUs of then have died out.
 *
 * If both begin, the one with the higher address goes on and does not answer
 * the other, which gives way. Against the standard, where crossing SABMEs both
 * count (they do on plain links): an epoch must have one author.
 *
 * Pairs. Each link that a station opens has an incarnation of its own, and what
 * is acknowledged on it must have been delivered by one link of the peer, not
 * by two after each other. So two links are a pair, by one rule:
 *
 *   A link that was never up is free: it calls for peer 0, whatever there is,
 *   and takes every call for 0 or itself; the newest counts. Once up it belongs
 *   to the link that it came up with, for good: it calls for that one by its
 *   incarnation, takes calls of no other, and numbers of no other.
 *
 *   a call     comes to: no link    one never up    one up with the caller   one up with another
 *   for peer 0           opens one, answers         answers                  ends (GONE), says nothing
 *   for this link        -          answers         answers                  ends (GONE), says nothing
 *   for another          echo       echo            echo                     echo
 *
 * (Either end may say nothing because it calls itself, or is about to end, or
 * the call is an old one: then it comes again.) An answer names both, so the
 * caller knows the pair too before it is up: a UA comes only from the link that
 * answered. The echo, TEST information as it came, is what the standard has and
 * what any other station says, of another job, without room, plain: nobody here
 * takes the call, and the caller ends, REFUSED, or GONE if it was up. That the
 * one end is up and the other is not, because a UA was lost or a user gave up,
 * does no harm: the one that is not has delivered nothing and acknowledged
 * nothing.
 */
#ifndef VV_CORE_LLC_GREETING_H
#define VV_CORE_LLC_GREETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/llc/state.h"
#include "core/wire/announcement.h"

/* Begins a set-up or reset of the link, unless one is under way. */
void vv_llc_greeting_begin(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns);

/* If the peer has called and we need the link, waits for its SABME no longer than it takes, and then begins itself. */
void vv_llc_greeting_wait(const struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns);

/* Its timer is due. */
void vv_llc_greeting_expire(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns);

/* The information of a TEST command: true when it is a call of our job, and *call is set. Else it is to be echoed. */
bool vv_llc_greeting_is_call(struct vv_llc_station *station, const uint8_t *info, size_t count,
                             struct vv_announcement *call);

/* A call came for this link, or for peer 0. What is not taken now comes again, or is from before. */
void vv_llc_greeting_called(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                            const struct vv_announcement *call);

/* The information of a TEST response from the peer of a link: true when it is about a call, and dealt with. */
bool vv_llc_greeting_answered(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns,
                              const uint8_t *info, size_t count);

/* An XID response told the peer's receive window: true when we had asked. */
bool vv_llc_greeting_identified(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns, uint8_t window);

/* True when a SABME of the peer counts, and is not one from before. */
bool vv_llc_greeting_expects_sabme(struct vv_llc_link *link);

/*
 * A SABME of the peer: true when it is the one that brought the link up, come again, and another UA is owed. Nothing
 * was heard since, but the first UA may have come all the same, and I PDUs behind it: their numbers go on counting.
 */
bool vv_llc_greeting_sabme_again(struct vv_llc_station *station, struct vv_llc_link *link, bool poll);

/* Answers the question that the state machine asks its user. */
void vv_llc_greeting_answer(struct vv_llc_station *station, struct vv_llc_link *link, vv_ns now_ns);

/* Ends a link that cannot go on, and tells the peer by a DISC. */
void vv_llc_greeting_break(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_llc_close why);

#endif
