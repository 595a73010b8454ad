/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: where the units (frames or datagrams) of a core come in and go out.
 *
 * The engine (io/engine) sees ports only through this table, so that one port
 * can stand in front of another: a lossy one before a real one. A port is owned
 * by whoever opened it; the table refers to it.
 */
#ifndef VV_IO_PORT_PORT_H
#define VV_IO_PORT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/base/time.h"
#include "io/os/error.h"

#define VV_PORT_BATCH_MAX 64 /* units in one send */
#define VV_PORT_PIECES    2  /* of each: headers and the rest, which may be empty */

/* A unit that came; the bytes are the port's until the release. */
struct vv_port_unit {
  const uint8_t *bytes;
  size_t count;
  vv_ns stamp_ns; /* CLOCK_REALTIME: when the kernel took it from the device, roughly or not at all (0) */
};

struct vv_port_ops {
  /* The next unit, if one has come. Does not wait. */
  bool (*peek)(void *self, struct vv_port_unit *unit);
  /* Gives back the unit last peeked at. */
  void (*release)(void *self);
  /*
   * Sends count (1..VV_PORT_BATCH_MAX) units. How many went, which may be fewer,
   * or -1 and errno (ENOBUFS, EAGAIN: no room now).
   */
  int (*send)(void *self, struct iovec units[][VV_PORT_PIECES], size_t count);
  /* Sleeps until a unit has come, or the deadline. 0, or -1 and errno (EINTR, ETIME, ENETDOWN). */
  int (*wait)(void *self, vv_ns deadline_ns);
  /* A descriptor that can be read when a unit has come. */
  int (*descriptor)(void *self);
  /* Whether the port is what it was when it was opened. 0, or -1 and *error. */
  int (*check)(void *self, struct vv_error *error);
};

struct vv_port {
  const struct vv_port_ops *ops;
  void *self;
};

#endif
