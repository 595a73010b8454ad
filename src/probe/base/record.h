/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON Lines on standard output: one record, one object, one line.
 *
 *   struct vv_record record;
 *   vv_record_begin(&record, "warning");
 *   vv_record_text(&record, "code", "coarse-clock");
 *   vv_record_end(&record, error);
 *
 * A value inside an array has the key NULL. Texts are escaped; bytes that are no
 * UTF-8 are replaced. The line is written whole by vv_record_end. Times are
 * integers: there is no way to print a floating number.
 */
#ifndef VV_PROBE_BASE_RECORD_H
#define VV_PROBE_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/os/error.h"

#define VV_RECORD_SCHEMA 1

struct vv_record {
  char *text; /* grows; owned */
  size_t used;
  size_t room;
};

void vv_record_begin(struct vv_record *record, const char *type);
/* The same with "schema" and "probe" (the version): the first record of a stream. */
void vv_record_begin_stream(struct vv_record *record, const char *type);
/* What a question timed at one size, with what each of them says first; a sample is the mean over batch messages. */
void vv_record_begin_cell(struct vv_record *record, const char *ask, size_t size_bytes, uint32_t batch);
void vv_record_text(struct vv_record *record, const char *key, const char *text);
void vv_record_int(struct vv_record *record, const char *key, int64_t value);
void vv_record_bool(struct vv_record *record, const char *key, bool value);
void vv_record_null(struct vv_record *record, const char *key);
/* The same three, of what a system may not tell: null for "" and for VV_INVENTORY_UNKNOWN. */
void vv_record_known_text(struct vv_record *record, const char *key, const char *text);
void vv_record_known(struct vv_record *record, const char *key, int64_t value);
void vv_record_known_bool(struct vv_record *record, const char *key, int value);
void vv_record_ints(struct vv_record *record, const char *key, const int64_t *values, size_t count);
void vv_record_object(struct vv_record *record, const char *key);
void vv_record_object_end(struct vv_record *record);
void vv_record_array(struct vv_record *record, const char *key);
void vv_record_array_end(struct vv_record *record);
/* Writes the line and frees it. 0, or -1 and *error "no-output": standard output is closed or full. */
int vv_record_end(struct vv_record *record, struct vv_error *error);

/* How many bytes of records have been written. */
uint64_t vv_record_written(void);

/* Whole records. */
void vv_record_warning(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vv_record_error(const struct vv_error *error);

#endif
