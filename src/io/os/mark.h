/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a message passed the layers of one host, by CLOCK_REALTIME, which the
 * kernel's stamps use: kept only for who asks for it, because reading a clock
 * eight times costs more than some of the layers.
 */
#ifndef VV_IO_OS_MARK_H
#define VV_IO_OS_MARK_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "io/os/clock.h"

/* In the order in which a message passes them, three at the sender and four at the receiver. */
enum vv_mark {
  VV_MARK_GIVEN,  /* send was called */
  VV_MARK_QUEUED, /* the protocol has the message */
  VV_MARK_MADE,   /* its last frame is made: the system is called with it */
  VV_MARK_DEVICE, /* the receiver's kernel has taken its last frame from the device */
  VV_MARK_TAKEN,  /* the receiver has seen it */
  VV_MARK_READY,  /* the protocol has handed its last bytes over */
  VV_MARK_GOT,    /* recv returns */
  VV_MARKS,
};

#define VV_MARKS_SENT VV_MARK_DEVICE /* so many of them are the sender's */

/* 0: this way of a message has no such place. */
struct vv_marks {
  vv_ns at_ns[VV_MARKS];
};

/* Notes the time, if anybody wants it. */
static inline void vv_mark(struct vv_marks *marks, enum vv_mark mark) {
  if (marks) marks->at_ns[mark] = vv_clock_real_ns();
}

#endif
