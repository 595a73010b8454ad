/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All codes of errors and warnings, and the kind of each: programs decide by the
 * kind, people look the code up. The manual's list is made from code.c.
 */
#ifndef VV_IO_OS_CODE_H
#define VV_IO_OS_CODE_H

enum vv_code_kind {
  VV_CODE_NONE,    /* no error */
  VV_CODE_TIMEOUT, /* the time is up, and nothing else is known to be wrong: to try again may help */
  VV_CODE_GONE,    /* somebody has ended, or cannot be reached any more */
  VV_CODE_REFUSED, /* the other side, or the system, does not let us */
  VV_CODE_WRONG,   /* what was asked for cannot be: ask for something else */
  VV_CODE_LACKING, /* this host has not got what it takes */
  VV_CODE_BROKEN,  /* what came, or what a device, a clock or a program did, makes no sense */
  VV_CODE_WARNING, /* nothing failed */
  VV_CODE_KINDS,
};

struct vv_code {
  const char *name; /* "peer-gone" */
  enum vv_code_kind kind;
  const char *meaning; /* one sentence */
};

/* The code of that name; NULL: there is none. */
const struct vv_code *vv_code_find(const char *name);

/* "none", "timeout", "gone", "refused", "wrong", "lacking", "broken", "warning". */
const char *vv_code_kind_word(enum vv_code_kind kind);

#endif
