/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/line.h"

#include <string.h>

enum { DIGITS_MAX = 20, TEN = 10 };

bool vv_line_take(char buffer[VV_LINE_BYTES_MAX], size_t *used, char line[VV_LINE_BYTES_MAX]) {
  const char *newline = memchr(buffer, '\n', *used);
  if (newline == NULL) return false;
  size_t length = (size_t)(newline - buffer);
  memcpy(line, buffer, length);
  line[length] = '\0';
  *used -= length + 1;
  memmove(buffer, newline + 1, *used);
  return true;
}

bool vv_line_is(const char *line, const char *verb) {
  size_t length = strlen(verb);
  return strncmp(line, verb, length) == 0 && (line[length] == ' ' || line[length] == '\0');
}

static const char free_text[] = "text";

/* The value of the word that stands there, if it has that name; else NULL. */
static const char *value_at(const char *word, const char *name) {
  size_t length = strlen(name);
  return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

/* Where the value of a word begins; NULL: there is no such word. What free text says is no word. */
static const char *value_of(const char *line, const char *name) {
  for (const char *at = strchr(line, ' '); at != NULL; at = strchr(at, ' ')) {
    const char *value = value_at(++at, name);
    if (value != NULL || value_at(at, free_text) != NULL) return value;
  }
  return NULL;
}

bool vv_line_word(const char *line, const char *name, char *value, size_t room) {
  const char *begin = value_of(line, name);
  if (begin == NULL) return false;
  const char *end = strchr(begin, ' ');
  size_t count = end == NULL ? strlen(begin) : (size_t)(end - begin);
  if (count >= room) return false;
  memcpy(value, begin, count);
  value[count] = '\0';
  return true;
}

bool vv_line_number(const char *line, const char *name, int64_t *value) {
  char digits[DIGITS_MAX + 2];
  if (!vv_line_word(line, name, digits, sizeof digits)) return false;
  bool negative = digits[0] == '-';
  const char *at = digits + negative;
  int64_t number = 0;
  if (*at == '\0') return false;
  for (; *at != '\0'; at++) {
    if (*at < '0' || *at > '9') return false;
    int digit = *at - '0';
    if (number > (VV_LINE_NUMBER_MAX - digit) / TEN) return false;
    number = number * TEN + digit;
  }
  *value = negative ? -number : number;
  return true;
}

const char *vv_line_text(const char *line) {
  return value_of(line, free_text);
}
