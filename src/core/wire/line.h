/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of text, as the two ends of a launch exchange them: a verb and words
 * "name=value", separated by single spaces, at most VV_LINE_BYTES_MAX bytes with
 * the newline. Values hold no spaces and no newlines; free text is the last word
 * and is called "text". Numbers are decimal: neither end's byte order matters.
 *
 * Whoever reads a line may be a stranger's: nothing here believes a length, a
 * number or that a word is there. Lines end with a zero byte, as texts do; one
 * that came with zeros in it is what stands before the first.
 */
#ifndef VV_CORE_WIRE_LINE_H
#define VV_CORE_WIRE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VV_LINE_BYTES_MAX  1024
#define VV_LINE_NUMBER_MAX INT64_C(3000000000000000000) /* of a number, and no less than its negative */

/*
 * Takes the first line out of the *used bytes of a buffer, without its newline;
 * what is behind it moves to the front. False: none is whole yet.
 */
bool vv_line_take(char buffer[VV_LINE_BYTES_MAX], size_t *used, char line[VV_LINE_BYTES_MAX]);

/* True when the line's verb is that one. */
bool vv_line_is(const char *line, const char *verb);

/* Copies the value of a word. False, and nothing set, when it is missing or does not fit in `room` with its end. */
bool vv_line_word(const char *line, const char *name, char *value, size_t room);

/* The value of a word as a number. False, and nothing set: missing, no decimal number, or beyond the bound. */
bool vv_line_number(const char *line, const char *name, int64_t *value);

/* The free text of the line, to its end; NULL: it has none. */
const char *vv_line_text(const char *line);

#endif
