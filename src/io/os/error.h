/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An error that says what broke, why, and what to do about it.
 *
 * The first to know sets it; callers pass it on unchanged. Outputs of a
 * function that failed are not set.
 */
#ifndef VV_IO_OS_ERROR_H
#define VV_IO_OS_ERROR_H

#include "io/os/code.h"

struct vv_error {
  const char *code;       /* a word to look up, "no-permission" (io/os/code.h): static storage; NULL: no error */
  enum vv_code_kind kind; /* of that code: what programs decide by */
  char text[240];         /* one sentence for people */
  char remedy[240];       /* what to do; may be empty */
};

/* Sets the error and returns -1. The code is one of io/os/code.c; the format is printf's. */
int vv_error_set(struct vv_error *error, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with ": " and strerror(errno) behind the text. */
int vv_error_errno(struct vv_error *error, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets what to do about it; returns -1, so that it can end the function. */
int vv_error_remedy(struct vv_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
