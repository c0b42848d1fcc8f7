/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct span span_trim(struct span span)
{
    while (span.length > 0 && is_blank(span.data[0])) {
        span.data++;
        span.length--;
    }
    while (span.length > 0 && is_blank(span.data[span.length - 1])) {
        span.length--;
    }
    return span;
}

bool span_equals(struct span span, const char *text)
{
    return span.length == strlen(text) && memcmp(span.data, text, span.length) == 0;
}

bool span_starts(struct span span, const char *prefix)
{
    size_t length = strlen(prefix);
    return span.length >= length && memcmp(span.data, prefix, length) == 0;
}

char *span_copy(struct span span)
{
    char *copy = mem_new(span.length + 1, 1);
    memcpy(copy, span.data, span.length);
    return copy;
}

bool span_cut(struct span *rest, char separator, struct span *part)
{
    if (rest->data == NULL) {
        return false;
    }
    const char *at = rest->length > 0 ? memchr(rest->data, separator, rest->length) : NULL;
    if (at == NULL) {
        *part = *rest;
        *rest = (struct span){0};
        return true;
    }
    *part = (struct span){rest->data, (size_t)(at - rest->data)};
    rest->length -= part->length + 1;
    rest->data = at + 1;
    return true;
}

bool text_to_int64(struct span text, int64_t *out)
{
    size_t at = 0;
    bool is_negative = text.length > 0 && text.data[0] == '-';
    if (is_negative) {
        at++;
    }
    if (at == text.length) {
        return false;
    }
    int64_t value = 0;
    for (; at < text.length; at++) {
        if (text.data[at] < '0' || text.data[at] > '9') {
            return false;
        }
        int digit = text.data[at] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value)) {
            return false;
        }
    }
    if (!is_negative && value == INT64_MIN) {
        return false;
    }
    *out = is_negative ? value : -value;
    return true;
}

bool text_to_double(struct span text, double *out)
{
    char copy[41] = {0};
    if (text.length == 0 || text.length >= sizeof copy) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool is_number = (c >= '0' && c <= '9') || c == '.' || c == '-' || c == 'e' || c == 'E';
        bool is_exponent_sign = c == '+' && i > 0 && (copy[i - 1] == 'e' || copy[i - 1] == 'E');
        if (!is_number && !is_exponent_sign) {
            return false;
        }
        copy[i] = c;
    }
    copy[text.length] = '\0';
    char *end = NULL;
    double value = strtod(copy, &end);
    if (end != copy + text.length || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

bool text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *text, const char *suffix)
{
    size_t length = strlen(text);
    size_t tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

size_t text_utf8_length(const char *text, size_t length)
{
    if (length == 0) {
        return 0;
    }
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80) {
        return 1;
    }
    size_t need = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || length < need) {
        return 0;
    }
    for (size_t i = 1; i < need; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool is_overlong =
        (bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xf0 && bytes[1] < 0x90);
    bool is_surrogate = bytes[0] == 0xed && bytes[1] >= 0xa0;
    bool is_too_large = bytes[0] == 0xf4 && bytes[1] >= 0x90;
    return is_overlong || is_surrogate || is_too_large ? 0 : need;
}

void text_copy(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memmove(to, from, length);
    to[length] = '\0';
}

void text_clean(char *to, size_t size, const char *from, size_t length)
{
    size_t at = 0;
    size_t out = 0;
    while (at < length) {
        size_t step = text_utf8_length(from + at, length - at);
        bool is_control = step == 1 && ((unsigned char)from[at] < 0x20 || from[at] == 0x7f);
        /* U+0080 to U+009F are control characters too; some terminals obey them. */
        is_control = is_control || (step == 2 && (unsigned char)from[at] == 0xc2 &&
                                    (unsigned char)from[at + 1] < 0xa0);
        bool is_bad = step == 0 || is_control;
        size_t need = is_bad ? 1 : step;
        if (out + need >= size) {
            break;
        }
        if (is_bad) {
            to[out] = '?';
        } else {
            memcpy(to + out, from + at, step);
        }
        out += need;
        at += step == 0 ? 1 : step;
    }
    to[out] = '\0';
}

#define DISTANCE_WORD_MAX 63

static bool is_same_letter(char a, char b)
{
    return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == (b >= 'A' && b <= 'Z' ? b | 0x20 : b);
}

size_t text_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);
    if (a_length > DISTANCE_WORD_MAX || b_length > DISTANCE_WORD_MAX) {
        return 100;
    }
    size_t row[DISTANCE_WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = diagonal + (is_same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < shift ? change : shift;
        }
    }
    return row[b_length];
}

const char *text_nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 2 + 1;
    for (; *words != NULL; words++) {
        size_t distance = text_distance(word, *words);
        if (distance < best_distance) {
            best = *words;
            best_distance = distance;
        }
    }
    return best;
}
