/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of vaiven-fabric's input: one command a line, words apart by blanks, settings as NAME=NUMBER. */
#ifndef VV_BPF_WORDS_H
#define VV_BPF_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define VV_WORDS_MAX 20

/* A setting of a struct: where it lies and how wide it is (4 or 8 bytes, unsigned). */
struct vv_setting {
  const char *name;
  size_t offset;
  size_t size;
};
#define VV_SETTING(type, member)                                                                                       \
  { #member, offsetof(type, member), sizeof((type){0}.member) }

/* Cuts a line into at most VV_WORDS_MAX words, in place. How many; VV_WORDS_MAX + 1 when there are more. */
int vv_words_cut(char *line, char *words[VV_WORDS_MAX]);

/* Writes each word NAME=NUMBER into value. The word that is no setting, or NULL. */
const char *vv_words_set(char *const *words, int count, const struct vv_setting *settings, void *value);

/* The place of a word among names; -1 if it is none of them. */
int vv_words_find(const char *word, const char *const *names, int count);

#endif
