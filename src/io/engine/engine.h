/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop that owns a clock and a port and drives a core: the only code of a
 * protocol that waits.
 *
 * A core (core/llc, core/group) knows neither clock nor socket. The engine hands
 * it what came and what time it is, and sends what it wants sent:
 *
 *   port -> receive -> ... -> next -> port
 *            ^ now_ns          tick, when next_ns is due
 *
 * It runs in the thread of its caller and only while it is called: a protocol
 * makes no progress between two calls. There are two ways to call it:
 *
 *   vv_engine_run    waits until something is done
 *   vv_engine_turn   does what there is to do now and returns at once, for a
 *                    caller with a loop of its own, who may sleep until
 *                    vv_engine_descriptor() can be read or vv_engine_due_ns()
 */
#ifndef VV_IO_ENGINE_ENGINE_H
#define VV_IO_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "io/os/error.h"
#include "io/os/mark.h"
#include "io/os/watch.h"
#include "io/port/port.h"

#define VV_ENGINE_HEAD_BYTES 64 /* the longest head of a unit */

/* How a core is driven. Times are those of vv_clock_ns(). */
struct vv_engine_core {
  /* A unit came; its bytes are there until the call returns. */
  void (*receive)(void *self, vv_ns now_ns, const uint8_t *bytes, size_t count);
  /*
   * The next unit to send: writes its head, tells the head's length, and sets
   * the rest, which stays as it is until the next `receive` or `tick`. False:
   * there is none now.
   */
  bool (*next)(void *self, vv_ns now_ns, uint8_t head[VV_ENGINE_HEAD_BYTES], size_t *head_bytes, struct iovec *rest);
  /* When tick has something to do; VV_NEVER: never. */
  vv_ns (*next_ns)(const void *self);
  void (*tick)(void *self, vv_ns now_ns);
};

/*
 * Units that found no room at the interface in a turn. They are copied, for what their rest points to does not stay,
 * and go before any other.
 */
struct vv_engine_hold {
  uint8_t *bytes;    /* the caller's: room for VV_PORT_BATCH_MAX units */
  size_t unit_bytes; /* of the longest unit */
  size_t lengths_bytes[VV_PORT_BATCH_MAX];
  size_t first, count; /* those that wait */
};

struct vv_engine {
  struct vv_port port; /* may be put behind another between two calls */
  const struct vv_engine_core *core;
  void *self;
  bool spin;                   /* ask again and again; else sleep in the port */
  struct vv_watch_stop stop;   /* ask == NULL: nobody stops it */
  struct vv_marks *marks;      /* of what is sent and received now; NULL: nobody wants them */
  uint64_t unsent;             /* units that found no room at the interface for a long time: lost, as on any wire */
  vv_ns checked_ns;            /* when the port was last looked at */
  vv_ns turned_ns;             /* when the last turn was taken */
  struct vv_engine_hold *hold; /* the caller's, who takes turns; NULL: a send waits for room at the interface */
  uint8_t heads[VV_PORT_BATCH_MAX][VV_ENGINE_HEAD_BYTES];
};

/* Why a run ended. */
enum vv_engine_ran {
  VV_ENGINE_RAN_DONE,
  VV_ENGINE_RAN_STOPPED, /* the stop said so */
  VV_ENGINE_RAN_LATE,    /* the deadline passed */
  VV_ENGINE_RAN_ERROR,   /* the port is not what it was: *error is set */
};

void vv_engine_init(struct vv_engine *engine, struct vv_port port, const struct vv_engine_core *core, void *self);

/*
 * Goes on until done(context) is true, which it asks after every unit that came
 * (what came behind that one stays in the port) and after what it sent. Before it returns everything is
 * sent that the core wants sent. deadline_ns: VV_NEVER is never.
 */
enum vv_engine_ran vv_engine_run(struct vv_engine *engine, bool (*done)(void *context), void *context,
                                 vv_ns deadline_ns, struct vv_error *error);

/* Sends what the core wants sent. 0, or -1 and *error: the port is not what it was. */
int vv_engine_flush(struct vv_engine *engine, vv_ns now_ns, struct vv_error *error);

/*
 * One turn: takes at most a batch of what came, does what is due, sends what the core wants sent. How many units came,
 * or -1 and *error: the port is not what it was. It never waits where there is a hold. The stop is not asked.
 */
int vv_engine_turn(struct vv_engine *engine, struct vv_error *error);

/* Can be read when a unit has come; it is the port's. */
int vv_engine_descriptor(const struct vv_engine *engine);
/* When the next turn is due though nothing comes; a time in the past: now. */
vv_ns vv_engine_due_ns(const struct vv_engine *engine);

#endif
