/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control connection: lines of text between near and far.
 *
 * A line is a verb and words "name=value", separated by single spaces, at most
 * VV_CONTROL_LINE_MAX bytes with its newline. Values hold no spaces and no
 * newlines; free text is the last word and is called "text". Numbers are
 * decimal: neither end's byte order matters.
 */
#ifndef VV_PROBE_LINK_CONTROL_H
#define VV_PROBE_LINK_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/time.h"
#include "io/os/error.h"

#define VV_CONTROL_LINE_MAX   1024
#define VV_CONTROL_NUMBER_MAX INT64_C(3000000000000000000)
#define VV_CONTROL_NONE       (-1) /* the descriptor of no connection */

struct vv_control {
  int fd; /* or VV_CONTROL_NONE */
  char buffer[VV_CONTROL_LINE_MAX];
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
int vv_control_take(struct vv_control *control, char line[VV_CONTROL_LINE_MAX], struct vv_error *error);

/*
 * Waits for a line. 0, or -1 and *error: "timeout", "launcher-gone", and those of
 * vv_control_take.
 */
int vv_control_receive(struct vv_control *control, char line[VV_CONTROL_LINE_MAX], vv_ns deadline_ns,
                       struct vv_error *error);
/* The same, and the line must be of that verb, else "bad-control". */
int vv_control_expect(struct vv_control *control, const char *verb, char line[VV_CONTROL_LINE_MAX], vv_ns deadline_ns,
                      struct vv_error *error);

/* Whether the line is of that verb. */
bool vv_control_is(const char *line, const char *verb);
/* Copies the value of that name. 0, or -1 when there is none or it is too long. */
int vv_control_word(const char *line, const char *name, char *value, size_t room);
/*
 * The value as a number, from -VV_CONTROL_NUMBER_MAX to it: so far that any time is within until 2065, and so near that
 * what two of them and a clock of ours come to is a number, too. 0, or -1 and *error "bad-control".
 */
int vv_control_number(const char *line, const char *name, int64_t *value, struct vv_error *error);

/* Tells the other end what broke; failures to do so are of no interest any more. */
void vv_control_send_error(struct vv_control *control, const struct vv_error *error);

#endif
