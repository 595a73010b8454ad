/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/base/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/os/inventory.h"

#define ROOM_FIRST 512

static void append(struct vv_record *record, const char *bytes, size_t count) {
  if (record->used + count > record->room) {
    record->room = 2 * record->room + count + ROOM_FIRST;
    char *text = realloc(record->text, record->room);
    /* Nothing can be reported any more, this neither. */
    if (!text) abort();
    record->text = text;
  }
  memcpy(record->text + record->used, bytes, count);
  record->used += count;
}

static void append_text(struct vv_record *record, const char *text) {
  append(record, text, strlen(text));
}

static bool is_continuation(unsigned char byte) {
  return (byte & 0xc0) == 0x80;
}

/* The bytes of the UTF-8 character there (Unicode 15, table 3-7); 0: it is none. */
static size_t utf8_length(const unsigned char *at) {
  if (at[0] < 0x80) return 1;
  if (at[0] >= 0xc2 && at[0] <= 0xdf) return is_continuation(at[1]) ? 2 : 0;
  if (!is_continuation(at[1])) return 0;
  unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
  unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
  if (at[1] < low || at[1] > high || !is_continuation(at[2])) return 0;
  if (at[0] >= 0xe0 && at[0] <= 0xef) return 3;
  return at[0] >= 0xf0 && at[0] <= 0xf4 && is_continuation(at[3]) ? 4 : 0;
}

static void append_string(struct vv_record *record, const char *text) {
  append(record, "\"", 1);
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    size_t length = utf8_length(at);
    char escape[8];
    if (length == 0) {
      append_text(record, "\\ufffd");
    } else if (*at < 0x20 || *at == '"' || *at == '\\' || *at == 0x7f) {
      append(record, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", *at));
    } else {
      append(record, (const char *)at, length);
    }
    at += length ? length : 1;
  }
  append(record, "\"", 1);
}

/* The comma, if one is due, and the key, if there is one. */
static void append_key(struct vv_record *record, const char *key) {
  char last = record->used > 0 ? record->text[record->used - 1] : '{';
  if (last != '{' && last != '[') append(record, ",", 1);
  if (!key) return;
  append_string(record, key);
  append(record, ":", 1);
}

void vv_record_begin(struct vv_record *record, const char *type) {
  *record = (struct vv_record){0};
  append(record, "{", 1);
  vv_record_text(record, "type", type);
}

void vv_record_begin_stream(struct vv_record *record, const char *type) {
  vv_record_begin(record, type);
  vv_record_int(record, "schema", VV_RECORD_SCHEMA);
  vv_record_text(record, "probe", VV_VERSION);
}

void vv_record_begin_cell(struct vv_record *record, const char *ask, size_t size_bytes, uint32_t batch) {
  vv_record_begin(record, "cell");
  vv_record_text(record, "ask", ask);
  vv_record_int(record, "size_bytes", (int64_t)size_bytes);
  vv_record_int(record, "batch", batch);
}

void vv_record_text(struct vv_record *record, const char *key, const char *text) {
  append_key(record, key);
  append_string(record, text);
}

void vv_record_int(struct vv_record *record, const char *key, int64_t value) {
  char digits[24];
  append_key(record, key);
  append(record, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
}

void vv_record_bool(struct vv_record *record, const char *key, bool value) {
  append_key(record, key);
  append_text(record, value ? "true" : "false");
}

void vv_record_null(struct vv_record *record, const char *key) {
  append_key(record, key);
  append_text(record, "null");
}

void vv_record_known_text(struct vv_record *record, const char *key, const char *text) {
  if (text[0])
    vv_record_text(record, key, text);
  else
    vv_record_null(record, key);
}

void vv_record_known(struct vv_record *record, const char *key, int64_t value) {
  if (value != VV_INVENTORY_UNKNOWN)
    vv_record_int(record, key, value);
  else
    vv_record_null(record, key);
}

void vv_record_known_bool(struct vv_record *record, const char *key, int value) {
  if (value != VV_INVENTORY_UNKNOWN)
    vv_record_bool(record, key, value != 0);
  else
    vv_record_null(record, key);
}

void vv_record_ints(struct vv_record *record, const char *key, const int64_t *values, size_t count) {
  vv_record_array(record, key);
  for (size_t i = 0; i < count; i++) vv_record_int(record, NULL, values[i]);
  vv_record_array_end(record);
}

void vv_record_object(struct vv_record *record, const char *key) {
  append_key(record, key);
  append(record, "{", 1);
}

void vv_record_object_end(struct vv_record *record) {
  append(record, "}", 1);
}

void vv_record_array(struct vv_record *record, const char *key) {
  append_key(record, key);
  append(record, "[", 1);
}

void vv_record_array_end(struct vv_record *record) {
  append(record, "]", 1);
}

static uint64_t written; /* bytes */

uint64_t vv_record_written(void) {
  return written;
}

int vv_record_end(struct vv_record *record, struct vv_error *error) {
  append(record, "}\n", 2);
  size_t done = 0;
  while (done < record->used) {
    ssize_t wrote = write(STDOUT_FILENO, record->text + done, record->used - done);
    if (wrote < 0 && errno != EINTR) break;
    if (wrote > 0) done += (size_t)wrote;
  }
  written += done;
  int result = done == record->used ? 0 : vv_error_errno(error, "no-output", "cannot write to standard output");
  free(record->text);
  return result;
}

void vv_record_warning(const char *code, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  struct vv_record record;
  struct vv_error ignored;
  vv_record_begin(&record, "warning");
  vv_record_text(&record, "code", code);
  vv_record_text(&record, "text", text);
  vv_record_end(&record, &ignored);
}

void vv_record_error(const struct vv_error *error) {
  struct vv_record record;
  struct vv_error ignored;
  vv_record_begin(&record, "error");
  vv_record_text(&record, "code", error->code);
  vv_record_text(&record, "kind", vv_code_kind_word(error->kind));
  vv_record_text(&record, "text", error->text);
  vv_record_text(&record, "remedy", error->remedy);
  vv_record_end(&record, &ignored);
}
