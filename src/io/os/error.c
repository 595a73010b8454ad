/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int finish(struct vv_error *error, const char *code) {
  const struct vv_code *known = vv_code_find(code);
  assert(known != NULL);
  error->code = known->name;
  error->kind = known->kind;
  error->remedy[0] = '\0';
  return -1;
}

int vv_error_set(struct vv_error *error, const char *code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  return finish(error, code);
}

int vv_error_errno(struct vv_error *error, const char *code, const char *format, ...) {
  int saved = errno;
  va_list args;
  va_start(args, format);
  int used = vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  if (used >= 0 && (size_t)used < sizeof error->text) {
    snprintf(error->text + used, sizeof error->text - (size_t)used, ": %s", strerror(saved));
  }
  return finish(error, code);
}

int vv_error_remedy(struct vv_error *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->remedy, sizeof error->remedy, format, args);
  va_end(args);
  return -1;
}
