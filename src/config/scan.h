/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Statements of TOML text, found by its quotes, brackets and line ends alone: enough to edit a
 * text that is known to be TOML, and to see before it is parsed that it is not absurdly nested. */
#ifndef CONFIG_SCAN_H
#define CONFIG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_kind { SCAN_BLANK, SCAN_COMMENT, SCAN_HEADER, SCAN_KEY };

struct scan {
    enum scan_kind kind;
    size_t begin;   /* of the first line */
    size_t content; /* the first byte that is not blank */
    size_t end;     /* behind the line end, or the end of the text */
    size_t dots;    /* the most dots in one of its keys */
};

/* The statement that begins at `at`; at < length. */
struct scan scan_next(const char *text, size_t length, size_t at);

/* True when a key has more than `dots_max` dots. */
bool scan_is_deeper(const char *text, size_t length, size_t dots_max);

/* The first header whose name does not begin as a name can, which the parser takes for granted;
 * SIZE_MAX when all do. */
size_t scan_nameless_header(const char *text, size_t length);

#endif
