/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking calls that cannot hang, at no cost per message.
 *
 * A probe waits in plain blocking calls, without poll() or receive time-outs,
 * because those would be timed too. Instead two signals, caught and otherwise
 * ignored, break them: a tick (SIGALRM), and input on a control connection
 * (SIGIO). A broken call returns EINTR; whoever made it then looks at the
 * clock, the control connection and standard input. A signal that comes just
 * before the call begins is made good by the next tick.
 */
#ifndef VV_IO_OS_WATCH_H
#define VV_IO_OS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/time.h"
#include "io/os/error.h"

/*
 * Whether a wait must be given up. Whoever waits does so in plain blocking
 * calls, which the signals break every few milliseconds (EINTR), and then asks:
 * true means "give up", false "go on waiting". Who spins asks when
 * vv_watch_rang() says so. Nothing is paid per message.
 */
struct vv_watch_stop {
  bool (*ask)(void *context);
  void *context;
};

/* Starts the tick and ignores SIGPIPE. Once per process. 0, or -1 and *error. */
int vv_watch_start(vv_ns tick_ns, struct vv_error *error);

/* Input on this descriptor (a socket) breaks blocking calls too. */
void vv_watch_input(int fd);

/* From now on the end of standard input is the end of the launch. */
void vv_watch_launcher(void);

/* True once after each signal: for loops that spin. */
bool vv_watch_rang(void);

/* True when standard input is watched and has ended. */
bool vv_watch_launcher_gone(void);

/* True when the descriptor has input, or its other side has gone. Does not wait. */
bool vv_watch_has_input(int fd);

/*
 * Waits until one of the `count` (<= 32) descriptors can be read; a negative one
 * is passed over. The index, or -1 and *error: "timeout" at the deadline,
 * "launcher-gone".
 */
int vv_watch_wait(const int *fds, int count, vv_ns deadline_ns, struct vv_error *error);

/* Sleeps until the deadline. 0, or -1 and *error "launcher-gone". */
int vv_watch_sleep(vv_ns deadline_ns, struct vv_error *error);

#endif
