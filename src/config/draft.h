/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A TOML text with what is in it, while it is being edited: where statements, blocks and tables
 * stand, and how bytes are put between them. For the files splice*.c. */
#ifndef CONFIG_DRAFT_H
#define CONFIG_DRAFT_H

#include "base/buf.h"
#include "config/options.h"
#include "config/scan.h"
#include "config/version.h"

struct draft {
    struct buf text;
    struct toml_doc *doc; /* of the text when it was last parsed */
};

int draft_init(struct draft *draft, const struct buf *text, struct err *err);
int draft_parse(struct draft *draft, struct err *err);
void draft_fini(struct draft *draft);
#define OWN_DRAFT __attribute__((cleanup(draft_fini)))

const struct toml_node *draft_node(const struct draft *draft, size_t index);
struct version draft_version(const struct draft *draft);

/* The edit is done: `text` becomes the draft's. */
void draft_take_text(struct draft *draft, struct buf *text);

/* The line end that the text uses. */
const char *draft_eol(const struct buf *text);

/* The bytes from `begin` to `end` become `with`. */
void draft_replace(struct buf *text, size_t begin, size_t end, const char *with);

/* Puts whole lines at `at`, which is the begin of a line or the end of the text. */
void draft_insert_lines(struct buf *text, size_t at, const char *lines);

/* Adds the value as TOML, by the kind of its row; the words of a list have a comma between. */
int draft_format_value(const struct option_row *row, const char *value, struct buf *out,
                       struct err *err);

/* The statement that holds the offset. */
struct scan draft_statement(const struct buf *text, size_t offset);

/* A header with its keys, and the comments that follow the last of them without an empty line,
 * unless they stand directly above the next header. */
struct block {
    struct scan header;
    struct scan last; /* the last key, or the header */
    size_t end;       /* behind the last key and its comments */
    size_t next;      /* the next header with the comments above it, or the end of the text */
};

/* `with_subs`: the headers [report.…] are part of the block. */
struct block draft_block(const struct buf *text, size_t header, bool with_subs);

/* How a table is written: [a], a = {…}, a.b = …, or only as a part of [a.b]. */
enum form { FORM_HEADER, FORM_INLINE, FORM_DOTTED, FORM_IMPLIED };
enum form draft_form(const struct draft *draft, const struct toml_node *table);

/* The table of a report: a member of [[report]], or the older [report]; TOML_NONE. */
size_t draft_find_report(const struct draft *draft, const char *name);

/* The tables of reports in order, with one left out on each side (TOML_NONE: none), are the same.
 */
bool draft_is_same_reports(const struct draft *old, size_t old_skip, const struct draft *new,
                           size_t new_skip);

/* The sentences of a refusal; both return -ENOTSUP. */
int draft_refuse(struct err *err, const struct toml_node *node);
int draft_changed_more(struct err *err);

#endif
