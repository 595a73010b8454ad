/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A courier: carries the messages of one rank to and from its peers by LLC type
 * 2, and knows nothing of MPI. It owns a node (io/engine/node.h), and works in
 * turns: whoever waits for something calls vv_courier_turn again and again.
 *
 * A message is the courier's until `sent` is called for it. It goes out at once
 * if it can; else behind those that wait, and `left` tells when it has. What comes
 * is given to `came` as a whole: out of the ring when it fits one frame, else put
 * together in memory of its link. A peer may send before it was joined here.
 *
 * Threads. Any may call anything, when `threads` says so; only one at a time
 * takes a turn, and the others return 0. No lock is held while a function of the
 * user runs, so it may send, and it may wait for locks of its own.
 */
#ifndef VV_MPI_BTL_COURIER_H
#define VV_MPI_BTL_COURIER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/llc/address.h"
#include "io/engine/node.h"

/* Somebody to send to: the caller's, there as long as the courier is open. */
struct vv_courier_peer {
  struct vv_llc_address address; /* set before it is joined */
  void *context;                 /* likewise, of the caller */
  uint32_t link;                 /* VV_LLC_NO_LINK: none, or no more */
  bool up;                       /* it has answered */
  bool warned;                   /* `waits` was called */
  vv_ns since_ns;                /* when it was joined, or answered */
};

/* A message to be sent: its bytes stay as they are until `sent`. */
struct vv_courier_load {
  const uint8_t *bytes;
  uint32_t count;
  struct vv_courier_peer *peer;
  struct vv_courier_load *next;        /* of those that wait */
  struct vv_courier_load *other, **at; /* of those that leave; at: what points to it, NULL: nothing does */
  bool left;                           /* it was said to have left */
};

/* What the caller is told, in a turn and not while the courier closes. */
struct vv_courier_user {
  /* A message came; its bytes are there until the call returns. */
  void (*came)(void *context, const uint8_t *bytes, size_t count);
  /* The message, which had not left when it was sent, has: its peer need not take it for the caller to go on. */
  void (*left)(void *context, struct vv_courier_load *load);
  /* The message is the caller's again. False: its peer may not have got it. */
  void (*sent)(void *context, struct vv_courier_load *load, bool arrived);
  /* The connection with that peer is no more. */
  void (*ended)(void *context, struct vv_courier_peer *peer, enum vv_llc_close why);
  /* That peer has not answered for VV_COURIER_WARN_NS since it was joined. Told once. */
  void (*waits)(void *context, struct vv_courier_peer *peer);
  void *context;
};

#define VV_COURIER_WARN_NS (30 * VV_SEC)

struct vv_courier_config {
  const char *iface;
  uint32_t peers; /* at most */
  uint32_t nonce; /* of the job: others are not heard */
  uint8_t window; /* I PDUs under way to a peer, 1 .. 127 */
  size_t message_bytes_max;
  vv_ns silence_ns; /* a peer that is silent for so long while we listen is taken for dead; 0: never */
  bool threads;     /* several threads call */
  struct vv_courier_user user;
};

struct vv_courier {
  struct vv_courier_config config;
  struct vv_node node;
  struct vv_courier_flow *flows;        /* by link */
  struct vv_courier_load *first, *last; /* those that wait: the station has no room for them */
  struct vv_courier_load *leaving;      /* those that the station has, and of which not all has gone out */
  uint32_t under_way;                   /* messages that were given to send, and of which `sent` was not told */
  pthread_mutex_t mutex;                /* of all that is here */
  bool turning;                         /* a thread takes a turn */
  bool telling; /* that thread is in a function of the user: what is sent leaves when it is back */
  bool closing;
  vv_ns turned_ns;  /* the last turn but one */
  vv_ns back_ns;    /* when turns went on after a long time without: nobody was silent before */
  vv_ns watched_ns; /* when the peers were last looked at */
};

/* 0, or -1 and *error: those of vv_node_open and vv_node_start. Close it only after success. */
int vv_courier_open(struct vv_courier *courier, const struct vv_courier_config *config, struct vv_error *error);

/*
 * Sends what waits to peers that are there, for patience_ns at most, says good-bye to all, and gives back what it has.
 * The user is told nothing any more.
 */
void vv_courier_close(struct vv_courier *courier, vv_ns patience_ns);

/* A connection with that peer: the one that it has begun, or a new one. False: there are too many. */
bool vv_courier_join(struct vv_courier *courier, struct vv_courier_peer *peer);

enum vv_courier_sent {
  VV_COURIER_GONE,  /* the peer is gone, and the load is the caller's */
  VV_COURIER_TAKEN, /* it leaves in turns to come */
  VV_COURIER_LEFT,  /* it has left: no turn is needed for it but to send it again should it be lost */
};

/* Whether a message that fits a frame would leave at once, with no turn to come. */
bool vv_courier_is_open(struct vv_courier *courier, const struct vv_courier_peer *peer);

/* Sends the load, of which bytes and count are set. */
enum vv_courier_sent vv_courier_send(struct vv_courier *courier, struct vv_courier_peer *peer,
                                     struct vv_courier_load *load);

/* How much was done, 0: nothing; or -1 and *error: the interface is not what it was. */
int vv_courier_turn(struct vv_courier *courier, struct vv_error *error);

#endif
