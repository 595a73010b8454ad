/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a receiver asks for what it lacks, and whom.
 *
 * A position is lacking when a later one has been sent. The first question waits
 * for what a network may have reordered: three later datagrams, or a quarter of a
 * round trip since the last came. And it waits until the DATA socket was read past
 * that position, because what a rank has not read it has not lost: a later one came
 * from there, or the socket was found empty after the position was known to be
 * sent. An operation of which nothing comes at all is asked about too
 * (the root may be late, or all its datagrams lost), more and more rarely: such
 * a question names nothing, and the answer says what was sent, not the data,
 * which may be in a queue on their way.
 * Each unanswered question goes to somebody else (vv_tree_helper), later and
 * later; any answer starts the waits anew, at twice what answers take. What was
 * asked for may be on its way for long, and come while this rank sleeps: so no more
 * is asked for than half a window, and then one datagram at a time, until an answer
 * was waited for in vain. A root of
 * which nothing is heard gets no more questions than all ranks together may put
 * into the buffer of a sleeper; a root that lives says so (core/group/sender.h).
 */
#ifndef VV_CORE_GROUP_GAP_H
#define VV_CORE_GROUP_GAP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"

#define VV_GAP_WAIT_NS_MAX (8 * VV_SEC) /* between questions: what a rank was asked is there when it wakes */
#define VV_GAP_REORDER     3            /* later datagrams that make a position lost */
#define VV_GAP_ASK_MAX     16 /* datagrams asked for at once by name, at most: an eighth of a window or fewer */
#define VV_GAP_MORE_MAX    8  /* datagrams that a question for more gets beyond those it names */
/*
 * A rank is deaf when unicast reaches it and multicast of the same time does not: so many questions named what it
 * lacked, they were answered, and of so many datagrams that were sent after the first answer none came, though the
 * DATA socket was read past them.
 */
#define VV_GAP_DEAF      8
#define VV_GAP_DEAF_ASKS 3
#define VV_GAP_HEARS     8 /* it hears again when so many came by multicast and no repair between them */

/* What a rank lacks. */
enum vv_gap_lack {
  VV_GAP_NOTHING,
  VV_GAP_REST, /* more has been sent, and may be on its way */
  VV_GAP_HOLE, /* what comes now is behind it */
};

struct vv_gap {
  vv_ns rtt_ns;
  vv_ns slot_ns;      /* this rank's own delay before it asks, on a hub */
  vv_ns answer_ns;    /* what an answer takes, smoothed: a round trip at least, more on links that are full */
  vv_ns asked_ns;     /* the last question, until an answer comes; VV_NEVER */
  vv_ns ask_ns;       /* when to ask; VV_NEVER */
  vv_ns dry_ns;       /* when the DATA socket was last found empty */
  vv_ns wait_ns;      /* after the next question */
  uint32_t ask_max;   /* <= VV_GAP_ASK_MAX */
  uint32_t root_asks; /* questions to the root since it was heard of */
  uint32_t root_asks_max;
  uint32_t attempt;     /* questions since the last progress */
  uint32_t later;       /* datagrams that came behind the lacking one */
  uint32_t outstanding; /* of what was asked for last */
  uint32_t coming;      /* of all that was asked for since an answer was waited for in vain */
  uint32_t coming_max;  /* beyond it one at a time is asked for */
  vv_ns forget_ns;      /* then it is in vain */
  uint32_t missed_asks; /* questions that named what is lacking, since a datagram came by multicast */
  uint64_t answered; /* all positions below had been sent when the first of them was answered; UINT64_MAX: none was */
  bool lacking;      /* a position is known to be lacking */
  uint32_t heard;    /* by multicast since a repair came */
  bool deaf;
};

void vv_gap_init(struct vv_gap *gap, vv_ns rtt_ns, vv_ns slot_ns, uint32_t ranks, uint32_t window_datagrams);

/* The receiver is in an operation again, and waits. `lacking`: for something that was sent for sure. */
void vv_gap_begin(struct vv_gap *gap, vv_ns now_ns, bool lacking);

/* It waits for the root to say that all are done, and asks only if that takes long. */
void vv_gap_close(struct vv_gap *gap, vv_ns now_ns);

/* It waits for nothing. */
void vv_gap_end(struct vv_gap *gap);

/* A new datagram came: by multicast, or as a repair. */
void vv_gap_came(struct vv_gap *gap, vv_ns now_ns, enum vv_gap_lack lack, bool by_multicast);

/* A repair came, new or not. */
void vv_gap_brought(struct vv_gap *gap);

/* The DATA socket was empty then, and all that came from it is taken. */
void vv_gap_dry(struct vv_gap *gap, vv_ns then_ns);

/* True when nothing has come until the next question, and that is known: the DATA socket was empty then, or later. */
bool vv_gap_is_silent(const struct vv_gap *gap);

/* Somebody says that more has been sent than has come. */
void vv_gap_told(struct vv_gap *gap, vv_ns now_ns);

/* The first who was asked has it not either: the root is asked at once, if a position is lacking for sure. */
void vv_gap_refused(struct vv_gap *gap, vv_ns now_ns);

/* For how many positions a question may ask now by name: ask_max, or what may still come besides, but one at least. */
uint32_t vv_gap_room(const struct vv_gap *gap, vv_ns now_ns);

/* True when a deaf rank asks for more than it can name: twice without an answer, if as much may come. */
bool vv_gap_wants_more(const struct vv_gap *gap, vv_ns now_ns);

/* Question number gap->attempt goes out now, for `count` positions at most. */
void vv_gap_asked(struct vv_gap *gap, vv_ns now_ns, uint32_t count, bool root);

/* True when the root has enough questions: it may be asleep, and everybody asks it. */
bool vv_gap_spares_root(const struct vv_gap *gap);

/* The root lives: it may be asked again. */
void vv_gap_heard_root(struct vv_gap *gap);

/* Data came by multicast, new or not. True when a deaf rank hears again. */
bool vv_gap_heard(struct vv_gap *gap);

/*
 * A repair brought what the DATA socket had not. All positions below edge have been sent, and the socket was read past
 * those below `passed`. True when the rank is deaf from now on.
 */
bool vv_gap_repaired(struct vv_gap *gap, uint64_t edge, uint64_t passed);

#endif
