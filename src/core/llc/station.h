/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A station of IEEE 802.2 logical link control, class II (ISO/IEC 8802-2:1998):
 * one SAP of one MAC address, datagrams (type 1: UI, XID, TEST) and connections
 * (type 2) to any number of peers.
 *
 * It is driven from outside: frames and requests go in, with the time; frames
 * and events are taken out. Each call that takes `now_ns` takes a time that is
 * no earlier than that of the call before. Nothing is allocated, nothing waits.
 *
 *   whoever drives it:   frame came       -> vv_llc_station_receive, then every vv_llc_station_take
 *                        vv_llc_station_next_ns is due -> vv_llc_station_tick
 *                        then             -> vv_llc_station_next_frame, as long as the interface has room
 *
 * Frames are made when they are taken: what is not taken is not sent, and each
 * carries the newest acknowledgement.
 *
 * Between two of our stations (not `plain`) a connection carries messages of
 * any size up to VV_LLC_MESSAGE_BYTES_MAX. Each is cut in I PDUs with a number that
 * goes on over resets and an epoch that every set-up and reset renews
 * (core/wire/segment.h), agreed on by a TEST PDU before the SABME
 * (core/wire/announcement.h). So
 *   - a reset loses nothing and repeats nothing;
 *   - a link belongs to the one link of the peer that it came up with (core/llc/greeting.h), and ends when that has
 *     ended (VV_LLC_CLOSE_GONE): what is acknowledged was delivered to the user of that one, and what was not is given
 * up;
 *   - I PDUs of another job, of an earlier connection, from before a reset, or
 *     late by more than 128 others are dropped and counted, never delivered; and
 *     no PDU acknowledges but in the epoch, and the round of N(R), that it says;
 *   - a lost I PDU is sent again alone, not with all behind it (core/llc/repeat.h);
 *   - if data are lost all the same, because the network delayed an S or U PDU
 *     by more than `late_ns`, whoever notices closes the link (VV_LLC_CLOSE_LOST)
 *     and tells the other. There is no wrong data.
 *
 * A `plain` station is what the standard has and no more, for peers that are
 * not ours (the kernel's): a message is cut in I PDUs without marks, what
 * arrives is handed over PDU by PDU, and a reset loses what was not
 * acknowledged. There all late PDUs are taken for what they seem.
 *
 * There is no check for a duplicate address (the station component of clause
 * 6.9.1): behind a switch it proves nothing, for the switch sends the question
 * to one of the two.
 */
#ifndef VV_CORE_LLC_STATION_H
#define VV_CORE_LLC_STATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/llc/state.h"

/* Sensible values; the caller sets self, nonce, incarnation, and what else it wants otherwise. */
void vv_llc_station_defaults(struct vv_llc_station_config *config);

/* The memory of such a station, and the station in it: the caller's, aligned as malloc's, there as long as the station.
 */
size_t vv_llc_station_bytes(const struct vv_llc_station_config *config);
void vv_llc_station_init(struct vv_llc_station *station, void *memory, const struct vv_llc_station_config *config);

/*
 * Connects to a peer, and tells the link: the one that there is already, made
 * by either side, or a new one. VV_LLC_NO_LINK when all are taken. What is sent
 * before VV_LLC_STATION_CONNECTED waits for it. If both sides begin, there is one
 * link.
 */
uint32_t vv_llc_station_connect(struct vv_llc_station *station, vv_ns now_ns, const struct vv_llc_address *peer);

/* The link to a peer, VV_LLC_NO_LINK when there is none. */
uint32_t vv_llc_station_find(const struct vv_llc_station *station, const struct vv_llc_address *peer);

/* The answer to VV_LLC_STATION_ASKED: the link is wanted, as if we had asked for it. */
void vv_llc_station_accept(struct vv_llc_station *station, vv_ns now_ns, uint32_t link);

/*
 * Ends a link, or refuses it. What was sent and not yet acknowledged is given
 * up: who wants it delivered waits for VV_LLC_STATION_SENT first. VV_LLC_STATION_CLOSED
 * follows.
 */
void vv_llc_station_disconnect(struct vv_llc_station *station, vv_ns now_ns, uint32_t link);

/* Resets a link that is up, for tests and for the curious: ours lose nothing by it. */
void vv_llc_station_reset(struct vv_llc_station *station, vv_ns now_ns, uint32_t link);

/*
 * Sends a message. Its bytes are the caller's and must stay as they are until
 * VV_LLC_STATION_SENT. False when `messages` of them are under way, or the link is
 * closing. A message of 0 bytes is a message (plain: refused).
 */
bool vv_llc_station_send(struct vv_llc_station *station, vv_ns now_ns, uint32_t link, const void *bytes, uint32_t count,
                         uint64_t handle);

/* True: all that was given to vv_llc_station_send has left at least once, and only acknowledgements may be missing. */
bool vv_llc_station_has_left(const struct vv_llc_station *station, uint32_t link);

/* True: a message of one I PDU would leave as soon as it is given: the link is up, and its window has room for it. */
bool vv_llc_station_is_open(const struct vv_llc_station *station, uint32_t link);

/* When the last I or S PDU came by a link; 0: none. */
static inline vv_ns vv_llc_station_heard_ns(const struct vv_llc_station *station, uint32_t link) {
  return station->links[link].heard_ns;
}

/*
 * Lets the peer send so many I PDUs more. Each VV_LLC_STATION_DATA takes one. At 0
 * the peer is told RNR, and RR when there are some again. A link with
 * VV_LLC_CREDIT_UNLIMITED keeps it.
 */
void vv_llc_station_credit(struct vv_llc_station *station, vv_ns now_ns, uint32_t link, uint32_t pdus);

/* Type 1, to a station or a group; the bytes are copied. False without room, or when they do not fit a PDU. */
bool vv_llc_station_unit(struct vv_llc_station *station, const struct vv_llc_address *to, const void *bytes,
                         size_t count);
bool vv_llc_station_test(struct vv_llc_station *station, const struct vv_llc_address *to, const void *bytes,
                         size_t count);
bool vv_llc_station_identify(struct vv_llc_station *station, const struct vv_llc_address *to);

/* A frame came: the whole of it, from the destination on, without check sequence. Whatever it is, it does no harm. */
void vv_llc_station_receive(struct vv_llc_station *station, vv_ns now_ns, const uint8_t *frame, size_t count);

/* When vv_llc_station_tick has something to do; VV_NEVER: never. */
vv_ns vv_llc_station_next_ns(const struct vv_llc_station *station);
void vv_llc_station_tick(struct vv_llc_station *station, vv_ns now_ns);

/*
 * The next event: false when there is none. now_ns is that of the receive, tick or request before, or later: what came
 * too early for its place in the stream is taken then.
 */
bool vv_llc_station_take(struct vv_llc_station *station, vv_ns now_ns, struct vv_llc_station_event *event);

/* Whether vv_llc_station_take may have an event. */
static inline bool vv_llc_station_has_news(const struct vv_llc_station *station) {
  return station->has_data || station->telling.count > 0;
}

/* The next frame to send: false when there is none now. */
bool vv_llc_station_next_frame(struct vv_llc_station *station, vv_ns now_ns, struct vv_llc_station_frame *frame);

#endif
