/* SPDX-License-Identifier: BSD-3-Clause */
#include "bpf/words.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int vv_words_cut(char *line, char *words[VV_WORDS_MAX]) {
  int count = 0;
  char *rest = NULL;
  for (char *word = strtok_r(line, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
    if (count == VV_WORDS_MAX) return VV_WORDS_MAX + 1;
    words[count++] = word;
  }
  return count;
}

/* The number at text, of at most that many bytes. False if it is none. */
static bool number(const char *text, size_t size, uint64_t *value) {
  char *end = NULL;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && *end == '\0' && (size == sizeof(uint64_t) || *value <= UINT32_MAX);
}

static bool set(const char *word, const struct vv_setting *settings, void *value) {
  size_t length = strcspn(word, "=");
  for (const struct vv_setting *setting = settings; setting->name && word[length]; setting++) {
    uint64_t wide = 0;
    if (strlen(setting->name) != length || strncmp(setting->name, word, length) != 0) continue;
    if (!number(word + length + 1, setting->size, &wide)) return false;
    uint32_t narrow = (uint32_t)wide;
    memcpy((char *)value + setting->offset, setting->size == sizeof wide ? (void *)&wide : (void *)&narrow,
           setting->size);
    return true;
  }
  return false;
}

const char *vv_words_set(char *const *words, int count, const struct vv_setting *settings, void *value) {
  for (int i = 0; i < count; i++) {
    if (!set(words[i], settings, value)) return words[i];
  }
  return NULL;
}

int vv_words_find(const char *word, const char *const *names, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(word, names[i]) == 0) return i;
  }
  return -1;
}
