/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/scan.h"

#include <string.h>

static bool is_triple(const char *text, size_t length, size_t at)
{
    return length - at >= 3 && text[at + 1] == text[at] && text[at + 2] == text[at];
}

/* Behind a string of one line; an open one ends before the line end. */
static size_t skip_short(const char *text, size_t length, size_t at)
{
    char quote = text[at];
    for (at++; at < length && text[at] != '\n'; at++) {
        if (text[at] == quote) {
            return at + 1;
        }
        if (text[at] == '\\' && quote == '"' && at + 1 < length && text[at + 1] != '\n') {
            at++;
        }
    }
    return at;
}

/* Behind a string of several lines; up to two quotes may stand directly before the closing
 * three. An open one ends with the text. */
static size_t skip_long(const char *text, size_t length, size_t at)
{
    char quote = text[at];
    for (at += 3; at < length; at++) {
        if (text[at] == '\\' && quote == '"') {
            at++;
        } else if (text[at] == quote && is_triple(text, length, at)) {
            size_t end = at + 3;
            while (end < at + 5 && end < length && text[end] == quote) {
                end++;
            }
            return end;
        }
    }
    return length;
}

static size_t skip_line(const char *text, size_t length, size_t at)
{
    const char *end = memchr(text + at, '\n', length - at);
    return end != NULL ? (size_t)(end - text) : length;
}

static enum scan_kind kind_of(char first)
{
    switch (first) {
    case '\r':
    case '\n':
        return SCAN_BLANK;
    case '#':
        return SCAN_COMMENT;
    case '[':
        return SCAN_HEADER;
    default:
        return SCAN_KEY;
    }
}

/* Behind what stands at `at`: a comment (without its line end), a string, or one character. */
static size_t skip_piece(const char *text, size_t length, size_t at)
{
    if (text[at] == '#') {
        return skip_line(text, length, at);
    }
    if (text[at] != '"' && text[at] != '\'') {
        return at + 1;
    }
    return is_triple(text, length, at) ? skip_long(text, length, at) : skip_short(text, length, at);
}

/* Characters of a dotted key: its dots are counted over all of them and over quoted parts. */
static bool is_in_key(char c)
{
    return c == '.' || c == ' ' || c == '\t' || c == '-' || c == '_' || c == '"' || c == '\'' ||
           (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Where brackets stand and how many dots the key at hand has. */
struct track {
    size_t depth;
    size_t dots, dots_most;
};

static void follow(struct track *track, char c)
{
    if (c == '[' || c == '{') {
        track->depth++;
    } else if ((c == ']' || c == '}') && track->depth > 0) {
        track->depth--;
    }
    track->dots = is_in_key(c) ? track->dots + (c == '.' ? 1 : 0) : 0;
    track->dots_most = track->dots > track->dots_most ? track->dots : track->dots_most;
}

struct scan scan_next(const char *text, size_t length, size_t at)
{
    struct scan scan = {.kind = SCAN_BLANK, .begin = at};
    while (at < length && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    scan.content = at;
    scan.kind = at < length ? kind_of(text[at]) : SCAN_BLANK;
    struct track track = {0};
    while (at < length) {
        char c = text[at];
        at = skip_piece(text, length, at);
        if (c == '\n' && track.depth == 0) {
            break;
        }
        follow(&track, c);
    }
    scan.end = at;
    scan.dots = track.dots_most;
    return scan;
}

bool scan_is_deeper(const char *text, size_t length, size_t dots_max)
{
    for (size_t at = 0; at < length;) {
        struct scan scan = scan_next(text, length, at);
        if (scan.dots > dots_max) {
            return true;
        }
        at = scan.end;
    }
    return false;
}

/* "[", "[[" and blanks; what follows begins a name, or closes the header, which the parser refuses
 * by itself. */
static bool is_named(const char *text, const struct scan *scan)
{
    size_t at = scan->content + 1;
    at += at < scan->end && text[at] == '[' ? 1 : 0;
    while (at < scan->end && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    return at < scan->end && (text[at] == ']' || (text[at] != '.' && is_in_key(text[at])));
}

size_t scan_nameless_header(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        struct scan scan = scan_next(text, length, at);
        if (scan.kind == SCAN_HEADER && !is_named(text, &scan)) {
            return scan.content;
        }
        at = scan.end;
    }
    return SIZE_MAX;
}
