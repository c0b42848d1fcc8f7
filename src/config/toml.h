/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* TOML text as a tree of nodes with their places in the text: what toml++ finds, seen from C. Node
 * 0 is the root table; members of a table come sorted by key. Everything a node points to belongs
 * to the document. Excerpts of the text never reach an error's sentence, as it may hold a secret.
 */
#ifndef CONFIG_TOML_H
#define CONFIG_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toml_kind {
    TOML_KIND_STRING,
    TOML_KIND_INTEGER,
    TOML_KIND_FLOAT,
    TOML_KIND_BOOL,
    TOML_KIND_TIME, /* dates, times and both */
    TOML_KIND_ARRAY,
    TOML_KIND_TABLE,
};

#define TOML_NONE SIZE_MAX

struct toml_place {
    size_t offset; /* bytes */
    int line;      /* from 1 */
    int column;    /* from 1, in characters */
};

struct toml_node {
    enum toml_kind kind;
    bool is_inline;             /* a table written { … } */
    bool is_truth;              /* of a TOML_KIND_BOOL */
    const char *key;            /* NULL for members of an array; closed by NUL */
    size_t key_length;          /* a key may hold NUL characters */
    const char *text;           /* of a string, closed by NUL; else NULL */
    size_t text_length;         /* a string may hold NUL characters */
    int64_t integer;            /* of a TOML_KIND_INTEGER */
    size_t parent, first, next; /* nodes, or TOML_NONE */
    struct toml_place key_begin, key_end;
    struct toml_place begin, end; /* of the value; of a table's header, with its brackets */
};

/* A place and a sentence about what is wrong there. */
struct toml_error {
    struct toml_place place;
    char text[256];
};

struct toml_doc;

/* NULL on an error. `length` is the caller's to limit; a byte order mark is the caller's to skip.
 */
struct toml_doc *toml_parse(const char *text, size_t length, struct toml_error *error);
void toml_free(struct toml_doc *doc); /* accepts NULL */

/* Borrowed, index < toml_count. */
const struct toml_node *toml_node(const struct toml_doc *doc, size_t index);
size_t toml_count(const struct toml_doc *doc);

/* The member of a table, or TOML_NONE. */
size_t toml_find(const struct toml_doc *doc, size_t table, const char *key);

/* "a string", "an integer", … */
const char *toml_kind_name(enum toml_kind kind);

#ifdef __cplusplus
}
#endif

#endif
