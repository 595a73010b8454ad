/* SPDX-License-Identifier: BSD-3-Clause */
/* The control connection: lines of text (core/wire/line.h) between near and far. */
#ifndef VV_PROBE_LINK_CONTROL_H
#define VV_PROBE_LINK_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "core/wire/line.h"
#include "io/os/error.h"

#define VV_CONTROL_NONE (-1) /* the descriptor of no connection */

struct vv_control {
  int fd; /* or VV_CONTROL_NONE */
  char buffer[VV_LINE_BYTES_MAX];
  size_t used;
};

void vv_control_init(struct vv_control *control, int fd);
/* Closes it; what is under way is still delivered. */
void vv_control_close(struct vv_control *control);

/* Sends a line; the newline is added. 0, or -1 and *error "peer-gone". */
int vv_control_send(struct vv_control *control, struct vv_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Takes a line that has arrived, without its newline. 1; 0 when none is whole
 * yet; -1 and *error: "peer-gone", "bad-control" (too long). A line of the verb
 * "error" is returned as the other end's error.
 */
int vv_control_take(struct vv_control *control, char line[VV_LINE_BYTES_MAX], struct vv_error *error);

/*
 * Waits for a line. 0, or -1 and *error: "timeout", "launcher-gone", and those of
 * vv_control_take.
 */
int vv_control_receive(struct vv_control *control, char line[VV_LINE_BYTES_MAX], vv_ns deadline_ns,
                       struct vv_error *error);
/* The same, and the line must be of that verb, else "bad-control". */
int vv_control_expect(struct vv_control *control, const char *verb, char line[VV_LINE_BYTES_MAX], vv_ns deadline_ns,
                      struct vv_error *error);

/*
 * The value as a number, from -VV_LINE_NUMBER_MAX to it: so far that any time is within until 2065, and so near that
 * what two of them and a clock of ours come to is a number, too. 0, or -1 and *error "bad-control".
 */
int vv_control_number(const char *line, const char *name, int64_t *value, struct vv_error *error);

/* Tells the other end what broke; failures to do so are of no interest any more. */
void vv_control_send_error(struct vv_control *control, const struct vv_error *error);

#endif
