/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks of a group find each other, agree, and learn who has died.
 *
 * Rank 0 listens at the meeting place, every other rank connects to it and says
 * where it is; when all are there, everybody is told. The connections stay: a
 * kernel closes those of a process that ends, however it ends, and keepalive
 * finds a host that cannot be reached: an outage of 5 s is survived, one of 8 s
 * is not. What travels on them are letters (core/wire/letter.h), little and
 * reliable. Nobody without the job's key is let in or believed, and nothing that
 * was said in another meeting, or earlier in this one: rank 0 draws a session for
 * each, from which all keys of the group are made.
 */
#ifndef VV_IO_BOOT_MEETING_H
#define VV_IO_BOOT_MEETING_H

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/siphash.h"
#include "core/base/time.h"
#include "core/wire/letter.h"
#include "io/os/error.h"
#include "io/os/socket.h"

#define VV_MEETING_VALUES VV_LETTER_NUMBERS
#define VV_MEETING_NOBODY UINT32_MAX

#define VV_MEETING_KEEPALIVE_S 8 /* a rank that cannot be reached for so long is gone */

struct vv_meeting_config {
  uint32_t ranks;
  uint32_t rank;
  struct sockaddr_in own; /* where this rank hears datagrams: its `own` socket (io/port/cast.h) */
  struct vv_address place;
  const uint8_t *key; /* of the job, VV_KEY_BYTES; read during the call alone */
  int listener;       /* of rank 0, at the place, for as many as there are ranks: the meeting closes it */
};

#define VV_MEETING_NOTES_AT_ONCE 4 /* to a rank, in one segment */

/* The connection to a rank, and the notes on it. */
struct vv_meeting_link {
  int fd;        /* -1: none */
  uint32_t kept; /* notes that wait to be sent together */
  uint32_t sent;
  uint32_t heard;
  size_t got; /* bytes of a note that is not whole yet */
  uint8_t bytes[VV_LETTER_NOTE_BYTES];
  uint8_t outbound[VV_MEETING_NOTES_AT_ONCE * VV_LETTER_NOTE_BYTES];
};

struct vv_meeting {
  uint32_t ranks;
  uint32_t rank;
  struct sockaddr_in *peers;     /* by rank: where it hears datagrams */
  uint8_t *orders;               /* by rank: of the bytes of its numbers, enum vv_data_order */
  struct vv_meeting_link *links; /* by rank: of rank 0 to each other rank, of the others to rank 0 */
  struct pollfd *fds;            /* by rank: room for whoever waits for several */
  uint8_t key[VV_KEY_BYTES];     /* of this session: secret, another one for each meeting */
  bool keeps;                    /* notes, on some links */
  uint32_t lost;                 /* of an error: who it is about, or VV_MEETING_NOBODY */
};

/*
 * Meets the others. 0, or -1 and *error: "timeout" (who has not come is named),
 * "rank-taken", "wrong-key", "ranks-differ", "rank-died",
 * "no-descriptors", "no-memory"; a meeting that comes to nothing is the same
 * error at all who are there. Rank 0 raises the soft limit of descriptors if the
 * group needs it. Close it in both cases.
 */
int vv_meeting_open(struct vv_meeting *meeting, const struct vv_meeting_config *config, vv_ns deadline_ns,
                    struct vv_error *error);

/*
 * Every rank gives values, and all get the least of each: nobody is through
 * before all are there. The errors of vv_meeting_open, and "rank-failed".
 */
int vv_meeting_agree(struct vv_meeting *meeting, uint32_t values[VV_MEETING_VALUES], vv_ns deadline_ns,
                     struct vv_error *error);

/*
 * A note that has come on the link to that rank: kind VV_LETTER_NOTHING when none
 * has, or not all of it. False when the connection has ended, or what came is not
 * that rank's next note; it is then closed.
 */
bool vv_meeting_hear(struct vv_meeting *meeting, uint32_t rank, struct vv_letter_note *note);

/*
 * Tells a rank, if it is linked. The note is kept until vv_meeting_send, or until there is no room for another: what
 * one turn has to say to a rank is one segment, and wakes it once.
 */
void vv_meeting_tell_one(struct vv_meeting *meeting, uint32_t rank, const struct vv_letter_note *note);

/* Sends all that is kept. Agreements do so by themselves; what is kept when the meeting is closed is not sent. */
void vv_meeting_send(struct vv_meeting *meeting);

/* Tells every linked rank. */
void vv_meeting_tell(struct vv_meeting *meeting, const struct vv_letter_note *note);

/* Ends all links, and forgets the key. A meeting of zeros was never open. */
void vv_meeting_close(struct vv_meeting *meeting);

#endif
