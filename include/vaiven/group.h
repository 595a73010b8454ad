/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group: broadcast among processes that know each other, over UDP multicast. One
 * transmission reaches everybody, so it costs about the same for one receiver as
 * for a hundred. User mode, no privileges, any IPv4 subnet whose switches carry
 * multicast or broadcast, and where neither does, to each by itself; nothing is ever
 * lost, whoever is slow.
 *
 *   struct vv_group_config config = { VV_GROUP_CONFIG, .ranks = 8, .rank = rank, .address = "10.1.0.3",
 *                                     .meeting = "10.1.0.1:7000", .timeout_ms = 10000 };
 *   memcpy(config.key, key, sizeof config.key);
 *   struct vv_group *group = vv_group_open(&config, &problem);
 *   vv_group_broadcast(group, 0, buffer, sizeof buffer, &problem);
 *   vv_group_leave(group);
 *
 * Every rank makes the same calls in the same order, with the same root and size.
 * A rank that is late is waited for: it may compute for hours between two calls.
 * A rank that dies ends the group: at every rank the present or the next call
 * fails and names it. A rank that cannot be reached is as good as dead: an outage
 * of 5 s is survived, one of 7 s or more ends the group. Until all ranks have met,
 * one that was killed may be started again.
 *
 * Some ranks of a group make a further one by vv_group_among. It shares all that
 * the first has, sockets, thread and credit, and costs its ranks one agreement. The
 * first group is left last: it ends those that were made of it.
 *
 * A broadcast may be begun, tested and waited for: it goes on while the application
 * computes. Several may be under way, on one group in the order in which they were
 * begun, on different groups independently.
 *
 * A thread of the library answers peers that have lost something while the
 * application computes. Calls on a group, and on those made of it, come from one
 * thread at a time.
 *
 * A child of fork has no place in the group: its calls are "bad-call", and leave frees
 * what it has of it. Leave a group before dlclose of the library, whose thread else
 * runs on in what is gone.
 *
 * Whatever is missing or impossible is answered by a code, never by a crash: a call
 * without a group, a config or a buffer is "bad-call". `problem` may be NULL.
 */
#ifndef VAIVEN_GROUP_H
#define VAIVEN_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VV_GROUP_KEY_BYTES 16
#define VV_GROUP_RANKS_MAX 1024 /* ranks of one group */
#define VV_GROUP_AMONG_MAX 64   /* groups that a rank has made of a first one and not left */

struct vv_group;           /* a process's place in a group */
struct vv_group_operation; /* a broadcast that was begun here */

/* How datagrams reach everybody. */
enum vv_group_route {
  VV_GROUP_ANY, /* the first of the following that reaches all ranks, found by trying: all ranks then agree on it */
  VV_GROUP_MULTICAST, /* IP multicast, an address of 239.192.0.0/14, another one for each group */
  VV_GROUP_BROADCAST, /* the broadcast address of the subnet: every host of it is interrupted */
  VV_GROUP_UNICAST,   /* to each rank by itself, which costs as much as there are ranks */
};

/* Begins the initializer of a config; in C++ say config.size_bytes = sizeof config. */
#define VV_GROUP_CONFIG .size_bytes = sizeof(struct vv_group_config)

/* Strings are read during the call alone. All is to be set but what says that it may be NULL, or zeros, `route`, `spin`
 * and `patience_ms`. */
struct vv_group_config {
  size_t size_bytes;   /* of this struct, when the program was compiled: a later library may have more members */
  uint32_t ranks;      /* 1 .. VV_GROUP_RANKS_MAX */
  uint32_t rank;       /* this one, from 0 */
  const char *address; /* own numeric IPv4 address: it says which interface. Ranks may share one */
  /* Where rank 0 listens until all are there, "10.1.0.1:7000": its address, a TCP port up to 65534. NULL: see exchange.
   */
  const char *meeting;
  /* Of the job: secret, random (getrandom, or a file that others cannot read), the same at all ranks; zeros are
   * refused, but where there is an exchange: then rank 0 draws it. It proves who is of the job, and hides nothing.
   * Groups of one job may share it: nothing of one is believed in another. */
  uint8_t key[VV_GROUP_KEY_BYTES];
  uint32_t timeout_ms;       /* how long to wait for the others in open; >= 1 */
  uint32_t patience_ms;      /* the same in vv_group_among and leave; 0: timeout_ms, UINT32_MAX: for ever */
  enum vv_group_route route; /* the same at all ranks */
  bool spin;                 /* keep the processor while waiting in a broadcast */
  /* Told what is worth knowing and no error: a rank that all wait for, multicast that does not arrive though unicast
   * does (never of a rank that merely sleeps), that all send to each (VV_GROUP_UNICAST), a flood of foreign
   * datagrams. May be NULL.
   * From any thread, never two at once; it makes no call on the group. */
  void (*notice)(void *context, const char *text);
  /*
   * Asked before each wait in broadcast or receive: true ends the call with VV_GROUP_STOPPED. A signal ends a wait, but
   * not one that it comes just before, and a wait may last seconds: who must stop soon sends signals until it has. May
   * be NULL.
   */
  bool (*stop)(void *context);
  /*
   * Instead of a meeting: gives `all` the records of all ranks, each of so many bytes, in the order of the ranks, of
   * which `own` is this one's; 0, or another number, which ends open. Called once, in open: what an allgather of MPI, a
   * PMIx or files do. Rank 0 then listens where the others are told. What of the job is secret is as secret as that.
   */
  int (*exchange)(void *context, const void *own, void *all, size_t bytes);
  /*
   * Called a few hundred times a second by a call that waits, but open, in the thread that made it: a program has
   * something else that must go on, as an MPI has its messages. It makes no call on the group. May be NULL.
   */
  void (*meanwhile)(void *context);
  void *context; /* of notice, stop, exchange and meanwhile */
};

#define VV_GROUP_STOPPED 1
#define VV_GROUP_PENDING 2

/* What a program can decide by when a call has failed. */
enum vv_group_kind {
  VV_GROUP_TIMEOUT = 1, /* somebody did not come, or did not answer, in time: to try again may help */
  VV_GROUP_GONE,        /* a rank has ended, or cannot be reached any more */
  VV_GROUP_REFUSED,     /* another rank, or the system, does not let us: a wrong key */
  VV_GROUP_WRONG,       /* what was asked for cannot be: no such rank, roots, sizes or operations that differ */
  VV_GROUP_LACKING,     /* this host, or the network, has not got what it takes: memory, descriptors, multicast */
  VV_GROUP_BROKEN,      /* strangers, or a device, make it impossible: a flood */
};

/* Why a call failed. */
struct vv_group_problem {
  enum vv_group_kind kind;
  const char *code; /* a word to look up in the manual's list of errors, "rank-died", "no-multicast": static */
  int64_t rank;     /* whom it is about; -1: nobody */
  char text[512];   /* a sentence for people, with the rank's address and what to do about it */
};

/*
 * Fills in ranks, rank, address, meeting and key from the environment, where `vaiven
 * run --stack group` puts them, or any other launcher: VAIVEN_RANKS, VAIVEN_RANK,
 * VAIVEN_ADDRESS, VAIVEN_MEETING, and VAIVEN_KEY_FILE, a file that begins with the key in
 * 32 hexadecimal digits and that others cannot read. The strings are the environment's.
 * 0, or -1 and *problem: "no-place" (a variable is missing), "bad-config" (one is what
 * cannot be), "no-key", "bad-key".
 */
int vv_group_from_environment(struct vv_group_config *config, struct vv_group_problem *problem);

/*
 * Meets the other ranks, tries how to reach them, and agrees on how much may be
 * under way. All ranks call it. The group, or NULL and *problem, within half a second
 * of the time-out; who did not come is named to all who did. Rank 0 has a descriptor
 * for each other rank, and raises its soft limit (RLIMIT_NOFILE) if it must.
 */
struct vv_group *vv_group_open(const struct vv_group_config *config, struct vv_group_problem *problem);

/*
 * The bytes of root's buffer are in everybody's buffer. At the root it returns as
 * soon as all is sent and kept for who may still ask for it; elsewhere when the
 * whole message is there. 0, or -1 and *problem; after that only leave is left.
 * VV_GROUP_STOPPED: the same call again goes on where it was; until then the
 * buffer belongs to the group.
 */
int vv_group_broadcast(struct vv_group *group, uint32_t root, void *buffer, size_t size_bytes,
                       struct vv_group_problem *problem);

/*
 * Takes a broadcast at a rank that is not the root and does not know the size: the
 * message must fit into room_bytes, and *size_bytes tells how long it is. All else
 * is as at vv_group_broadcast.
 */
int vv_group_receive(struct vv_group *group, uint32_t root, void *buffer, size_t room_bytes, size_t *size_bytes,
                     struct vv_group_problem *problem);

/*
 * After VV_GROUP_STOPPED, at a rank that is not the root: the message goes to that
 * buffer from now on, and what has come of it is copied there. The buffer before is
 * the caller's again; the call that goes on names the new one.
 */
void vv_group_move(struct vv_group *group, void *buffer, size_t room_bytes);

/*
 * A further group, of some ranks of this one: ranks[i] is its rank i. Each of them
 * calls it with the same list, and nobody else does; ranks that make several groups
 * with each other make them in the same order. Ranks that make the same group again
 * and again pay no more than the first time. The group, or NULL and *problem:
 * "timeout" (somebody did not come: patience_ms of the config), "rank-died", "groups-cross"
 * (lists or orders differ: all who wait are told at once), "too-many-groups"
 * (VV_GROUP_AMONG_MAX at one of the ranks).
 */
struct vv_group *vv_group_among(struct vv_group *group, const uint32_t *ranks, uint32_t count,
                                struct vv_group_problem *problem);

/*
 * Begins a broadcast, as vv_group_broadcast, and returns at once. The buffer belongs
 * to the group until vv_group_test or vv_group_wait says that it has ended. NULL and
 * *problem: nothing was begun.
 */
struct vv_group_operation *vv_group_begin_broadcast(struct vv_group *group, uint32_t root, void *buffer,
                                                    size_t size_bytes, struct vv_group_problem *problem);

/* Begins to take a broadcast of unknown size, as vv_group_receive. */
struct vv_group_operation *vv_group_begin_receive(struct vv_group *group, uint32_t root, void *buffer,
                                                  size_t room_bytes, struct vv_group_problem *problem);

/*
 * A message to one rank, over a connection of its own to it. Those from one rank to one
 * arrive in order; a small one may be sent before it is taken. 0 as soon as the buffer
 * may be used again, or -1 and *problem: "rank-died" (the other rank is gone), "bad-rank"
 * (also: oneself).
 */
int vv_group_send(struct vv_group *group, uint32_t to, const void *data, size_t size_bytes,
                  struct vv_group_problem *problem);

/* Takes the next message of that rank. *size_bytes (or NULL) tells how long it is; "sizes-differ": it does not fit. */
int vv_group_take(struct vv_group *group, uint32_t from, void *buffer, size_t room_bytes, size_t *size_bytes,
                  struct vv_group_problem *problem);

/* Begins a message to one rank: vv_group_test and vv_group_wait tell when the buffer may be used again. */
struct vv_group_operation *vv_group_begin_send(struct vv_group *group, uint32_t to, const void *data, size_t size_bytes,
                                               struct vv_group_problem *problem);

/* Begins to take the next message of that rank. */
struct vv_group_operation *vv_group_begin_take(struct vv_group *group, uint32_t from, void *buffer, size_t room_bytes,
                                               struct vv_group_problem *problem);

/*
 * Does what can be done at once. 0: it is done, *size_bytes (or NULL) tells how long
 * the message is. VV_GROUP_PENDING: not yet. -1 and *problem: the group has failed.
 * After 0 and -1 the operation is gone; so are those of a group that was left.
 */
int vv_group_test(struct vv_group_operation *operation, size_t *size_bytes, struct vv_group_problem *problem);

/*
 * The same, but waits for its end, timeout_ms at most (UINT32_MAX: for ever): then it
 * is VV_GROUP_PENDING. VV_GROUP_STOPPED: `stop` of the config said so; it goes on.
 */
int vv_group_wait(struct vv_group_operation *operation, uint32_t timeout_ms, size_t *size_bytes,
                  struct vv_group_problem *problem);

/* Does what can be done at once for all operations of this group and those it is related to: for a loop of progress. */
void vv_group_turn(struct vv_group *group);

/*
 * A descriptor to wait on (poll, POLLIN) for this group and those it is related to: it
 * becomes readable when an operation that was begun has ended, and unreadable by the
 * next vv_group_test, vv_group_wait or vv_group_turn; who waits tests all that were
 * begun. It is the library's, and closed when the first group is left. Or -1 and *problem.
 */
int vv_group_descriptor(struct vv_group *group, struct vv_group_problem *problem);

/* How datagrams reach everybody: never VV_GROUP_ANY. */
enum vv_group_route vv_group_route_of(const struct vv_group *group);

/*
 * The rate in bit/s of the medium that all ranks share, one sending at a time,
 * because the card of one of them speaks half duplex (a hub): roots then send
 * no faster, and ranks take turns to ask. 0: each has a link of its own.
 */
uint64_t vv_group_shared_bps(const struct vv_group *group);

/* Datagrams that this rank has sent again for others, and those it asked for itself, since it was opened. */
void vv_group_repairs(const struct vv_group *group, uint64_t *given, uint64_t *asked);

/*
 * Datagrams that came to this rank's ports, began as those of the group do, and were not: forged, damaged, a
 * stranger's. They are dropped; a hundred a second are told by `notice`.
 */
uint64_t vv_group_foreign(const struct vv_group *group);

/*
 * Leaves the group in order, and frees it: the first one waits until nobody needs
 * this rank any more (patience_ms of the config), and ends those made of it; such a one
 * returns at once, and this rank answers the others for as long as they need it. All
 * ranks call it. NULL is allowed.
 */
void vv_group_leave(struct vv_group *group);

#ifdef __cplusplus
}
#endif

#endif
