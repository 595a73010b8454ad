/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another program that works for us: started, heard, ended.
 *
 * Its streams are pipes to us or /dev/null. Our ends block; the signals of
 * watch.h break a read, a write or a wait as they break any other call. It gets
 * the usual signals, plain English, UTC, and nothing else that is open here.
 */
#ifndef VV_IO_OS_CHILD_H
#define VV_IO_OS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "io/os/error.h"

#define VV_CHILD_LINE_MAX 256 /* with its end; longer ones come in pieces */

/* Which of its streams are pipes. */
enum vv_child_pipe { VV_CHILD_IN = 1, VV_CHILD_OUT = 2, VV_CHILD_ERR = 4 };

struct vv_child {
  pid_t pid; /* 0: none */
  int in;    /* our end of its standard input; -1: none */
  int out;   /* of its standard output */
  int err;   /* of its standard error */
  char said[VV_CHILD_LINE_MAX];
  size_t said_bytes; /* read from err, not yet a line */
};

/* True when there is such a program in $PATH. */
bool vv_child_exists(const char *program);

void vv_child_init(struct vv_child *child);

/* Starts argv[0], found in $PATH; `pipes` are VV_CHILD_*. 0, or -1 and *error "no-program". Stop it when done. */
int vv_child_start(struct vv_child *child, char *const argv[], unsigned pipes, struct vv_error *error);

/* Takes the next line of its standard error. 1; 0: there will be no more; -1 and errno (EINTR: call again). */
int vv_child_line(struct vv_child *child, char line[VV_CHILD_LINE_MAX]);

/* Closes its standard input: there will be no more. */
void vv_child_finish(struct vv_child *child);

/* Waits for its end and closes the pipes. Its exit status, 128 after a signal; -1 and errno (EINTR: call again). */
int vv_child_wait(struct vv_child *child);

/* Ends it, if it runs, and closes the pipes. */
void vv_child_stop(struct vv_child *child);

#endif
