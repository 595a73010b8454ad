/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes over the control connection of a probe before anybody has proved
 * anything: bytes in any pieces, of which lines are made, whose words, numbers and
 * hellos are read. The first byte says in what pieces they come. A line never
 * leaves its room, a value is what stands in the line, and no proof holds but the
 * right one.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/hello.h"
#include "core/wire/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[VV_KEY_BYTES] = {1};
static const char *const names[] = {"nonce", "proof", "probe", "code", "size_bytes_max", "contact", "text", "", "a"};
enum { NAMES = sizeof names / sizeof names[0], ROOM = 24 };

static void read_word(const char *line, const char *name) {
  char *value = malloc(ROOM); /* an exact block catches a step beyond */
  int64_t number = VV_LINE_NUMBER_MAX + 1;
  assert(value);
  if (vv_line_word(line, name, value, ROOM)) {
    const char *found = strstr(line, value);
    assert(strlen(value) < ROOM && strchr(value, ' ') == NULL && found != NULL);
  }
  bool is_number = vv_line_number(line, name, &number);
  assert(is_number == (number <= VV_LINE_NUMBER_MAX) && number >= -VV_LINE_NUMBER_MAX);
  free(value);
}

static void read_hello(const char *line) {
  const struct vv_hello hello = vv_hello_parse(line);
  struct vv_hello_nonces nonces = {.far = {2}};
  uint8_t right[VV_HELLO_PROOF_BYTES];
  memcpy(nonces.near, hello.nonce, sizeof nonces.near);
  assert(memchr(hello.version, '\0', sizeof hello.version) != NULL);
  vv_hello_prove(key, VV_HELLO_NEAR, &nonces, right);
  const bool equal = hello.has_proof && memcmp(hello.proof, right, sizeof right) == 0;
  assert(vv_hello_holds(&hello, key, VV_HELLO_NEAR, &nonces) == equal);
}

static void read_line(const char *line) {
  const char *text = vv_line_text(line);
  assert(strlen(line) < VV_LINE_BYTES_MAX && strchr(line, '\n') == NULL);
  assert(text == NULL || (text > line && text <= line + strlen(line)));
  (void)vv_line_is(line, "near");
  for (int i = 0; i < NAMES; i++) read_word(line, names[i]);
  read_hello(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *buffer = malloc(VV_LINE_BYTES_MAX), *line = malloc(VV_LINE_BYTES_MAX);
  assert(buffer && line);
  size_t used = 0, piece = size > 0 ? 1u + data[0] : 1;
  for (size_t at = 1; at < size && used < VV_LINE_BYTES_MAX;) {
    size_t count = size - at < piece ? size - at : piece;
    if (count > VV_LINE_BYTES_MAX - used) count = VV_LINE_BYTES_MAX - used;
    memcpy(buffer + used, data + at, count);
    at += count;
    used += count;
    while (vv_line_take(buffer, &used, line)) read_line(line);
  }
  free(line);
  free(buffer);
  return 0;
}
