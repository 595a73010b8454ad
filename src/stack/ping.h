/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system's `ping`, for a user who may open neither a raw nor a ping socket:
 * one echo a run, its round trip read from what the program prints.
 *
 * Understood are iputils and busybox. Both fill the echo with a pattern and
 * look at what comes back themselves; iputils says when it differs.
 */
#ifndef VV_STACK_PING_H
#define VV_STACK_PING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "io/os/child.h"
#include "io/os/error.h"

#define VV_PING_TEXT_MAX 4096

struct vv_ping {
  struct vv_child child; /* its standard output does not block; none: none under way */
  char text[VV_PING_TEXT_MAX];
  size_t used;
};

enum vv_ping_got {
  VV_PING_NOTHING, /* it still runs */
  VV_PING_ANSWER,  /* *rtt_ns is set */
  VV_PING_WRONG,   /* the same, but the answer differs from what was sent */
  VV_PING_SILENCE, /* it ended without an answer */
};

/* True when there is such a program in $PATH. */
bool vv_ping_exists(void);

void vv_ping_init(struct vv_ping *ping);
/* Starts one echo of size_bytes to a numeric IPv4 address. 0, or -1 and *error "no-program". */
int vv_ping_start(struct vv_ping *ping, const char *address, size_t size_bytes, struct vv_error *error);
/* Takes what it has printed. Once it is no longer VV_PING_NOTHING the program has ended and been reaped. */
enum vv_ping_got vv_ping_take(struct vv_ping *ping, vv_ns *rtt_ns);
/* Ends it, if it runs. */
void vv_ping_stop(struct vv_ping *ping);

/* What a whole output says. For tests: vv_ping_take uses it. */
enum vv_ping_got vv_ping_parse(const char *text, vv_ns *rtt_ns);

#endif
