/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Small questions about strings. Nothing here allocates unless it says so. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of somebody else's text; not closed by NUL. */
struct span {
    const char *data;
    size_t length;
};

struct span span_of(const char *text);
struct span span_trim(struct span span); /* without blanks and line ends on both sides */
bool span_equals(struct span span, const char *text);
bool span_starts(struct span span, const char *prefix);
char *span_copy(struct span span); /* caller frees; never NULL */

/* Cuts `*rest` at the first `separator`; false when `*rest` is used up (data == NULL). */
bool span_cut(struct span *rest, char separator, struct span *part);

/* Whole-text numbers: no blanks, no sign but '-', no trailing text, no locale. false and
 * `*out` untouched when the text is no such number or does not fit. */
bool text_to_int64(struct span text, int64_t *out);
bool text_to_double(struct span text, double *out); /* decimal, finite, at most 40 characters */

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);

/* Copies what fits, always closed by NUL, never cutting a UTF-8 character in half. */
void text_copy(char *to, size_t size, const char *from);

/* As text_copy for bytes of a foreign origin: invalid UTF-8 and control characters become '?'. */
void text_clean(char *to, size_t size, const char *from, size_t length);

/* Length of the valid UTF-8 character at `text` (1 to 4), 0 when it is not one. */
size_t text_utf8_length(const char *text, size_t length);

/* Edits between two words, capped at 100; to say "did you mean …?". */
size_t text_distance(const char *a, const char *b);

/* The member of `words` (NULL ends it) nearest to `word`, or NULL when none is near. */
const char *text_nearest(const char *word, const char *const *words);

#endif
