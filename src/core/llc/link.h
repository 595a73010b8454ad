/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection: the variables of ISO/IEC 8802-2:1998, clause 7, and what
 * changes several of them at once. What a row of the table does with them is in
 * core/llc/machine.h.
 */
#ifndef VV_CORE_LLC_LINK_H
#define VV_CORE_LLC_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/llc/state.h"

/* A link to that peer, in ADM. What is known of an earlier link to the same peer in this place stays known. */
void vv_llc_link_open(struct vv_llc_station *station, struct vv_llc_link *link, const struct vv_llc_address *peer);

/* Ends the link at once, whatever its state. */
void vv_llc_link_close(struct vv_llc_station *station, struct vv_llc_link *link, enum vv_llc_close why);

/* Lets a control PDU wait for its turn. */
void vv_llc_link_owe(struct vv_llc_station *station, struct vv_llc_link *link, struct vv_llc_owed owed);

/* Stops data transfer until the numbers are cleared. */
void vv_llc_link_freeze(struct vv_llc_link *link);

/* V(S), V(R) and all that goes with them begin anew: the next epoch. */
void vv_llc_link_clear(struct vv_llc_station *station, struct vv_llc_link *link);

/* All timers but that of the greeting. */
void vv_llc_link_stop_all(struct vv_llc_link *link);

/*
 * True when silence does not end the link: a peer that was there, and that our user knows, is late, not dead. A link
 * that our user neither asked for nor let in may be a stranger's, who takes a place for as long as it lasts.
 */
bool vv_llc_link_is_patient(const struct vv_llc_link *link);

/* True when the peer called and has gone no further: the user has never heard of the link. */
bool vv_llc_link_is_unheard(const struct vv_llc_link *link);

/* True when the link is up and there is room in the windows, its own and the station's. */
bool vv_llc_link_is_open(const struct vv_llc_station *station, const struct vv_llc_link *link);

/* True when an I PDU may be sent: there is one, and room in the windows. */
bool vv_llc_link_can_send(const struct vv_llc_station *station, const struct vv_llc_link *link);

#endif
