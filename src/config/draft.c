/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/draft.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

void draft_fini(struct draft *draft)
{
    toml_free(draft->doc);
    buf_fini(&draft->text);
}

int draft_parse(struct draft *draft, struct err *err)
{
    struct toml_error error = {0};
    toml_free(draft->doc);
    draft->doc = toml_parse(buf_string(&draft->text), draft->text.length, &error);
    if (draft->doc == NULL) {
        return err_set(err, -EINVAL, "line %d, column %d: %s", error.place.line, error.place.column,
                       error.text);
    }
    return 0;
}

int draft_init(struct draft *draft, const struct buf *text, struct err *err)
{
    buf_add(&draft->text, buf_string(text), text->length);
    return draft_parse(draft, err);
}

const struct toml_node *draft_node(const struct draft *draft, size_t index)
{
    return toml_node(draft->doc, index);
}

struct version draft_version(const struct draft *draft)
{
    return (struct version){buf_string(&draft->text), draft->doc};
}

void draft_take_text(struct draft *draft, struct buf *text)
{
    struct buf old = *text;
    *text = draft->text;
    draft->text = old;
}

const char *draft_eol(const struct buf *text)
{
    const char *end = text->length > 0 ? memchr(text->data, '\n', text->length) : NULL;
    return end != NULL && end > text->data && end[-1] == '\r' ? "\r\n" : "\n";
}

void draft_replace(struct buf *text, size_t begin, size_t end, const char *with)
{
    OWN_BUF struct buf result = {0};
    buf_add(&result, buf_string(text), begin);
    buf_text(&result, with);
    buf_add(&result, buf_string(text) + end, text->length - end);
    struct buf old = *text;
    *text = result;
    result = old;
}

void draft_insert_lines(struct buf *text, size_t at, const char *lines)
{
    bool is_open = at > 0 && text->data[at - 1] != '\n';
    OWN_FREE char *all = mem_format("%s%s", is_open ? draft_eol(text) : "", lines);
    draft_replace(text, at, at, all);
}

static void add_quoted(struct buf *out, struct span text)
{
    buf_char(out, '"');
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '"' || c == '\\') {
            buf_format(out, "\\%c", c);
        } else if ((unsigned char)c < 0x20 || c == 0x7f) {
            buf_format(out, "\\u%04X", (unsigned)c);
        } else {
            buf_char(out, c);
        }
    }
    buf_char(out, '"');
}

int draft_format_value(const struct option_row *row, const char *value, struct buf *out,
                       struct err *err)
{
    size_t length = strlen(value);
    size_t step = 0;
    for (size_t at = 0; at < length; at += step) {
        step = text_utf8_length(value + at, length - at);
        if (step == 0) {
            return err_set(err, -EINVAL, "%s.%s must be valid UTF-8", row->section, row->key);
        }
    }
    if (row->kind == OPTION_BOOL) {
        bool is_bool = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
        buf_text(out, is_bool ? value : "");
        return is_bool
                   ? 0
                   : err_set(err, -EINVAL, "%s.%s must be true or false", row->section, row->key);
    }
    if (row->kind != OPTION_WORDS) {
        add_quoted(out, span_of(value));
        return 0;
    }
    buf_char(out, '[');
    struct span rest = span_of(value);
    struct span part = {0};
    for (bool is_first = true; length > 0 && span_cut(&rest, ',', &part); is_first = false) {
        buf_text(out, is_first ? "" : ", ");
        add_quoted(out, span_trim(part));
    }
    buf_char(out, ']');
    return 0;
}

struct scan draft_statement(const struct buf *text, size_t offset)
{
    struct scan scan = scan_next(text->data, text->length, 0);
    while (scan.end <= offset && scan.end < text->length) {
        scan = scan_next(text->data, text->length, scan.end);
    }
    return scan;
}

static bool is_sub_of_report(const struct buf *text, const struct scan *scan)
{
    struct span header = {text->data + scan->content, scan->end - scan->content};
    return span_starts(header, "[report.") || span_starts(header, "[[report.");
}

/* Where the run of comments that holds this statement began; SIZE_MAX for any other statement. */
static size_t run_of_comments(enum scan_kind kind, size_t before, size_t at)
{
    if (kind != SCAN_COMMENT) {
        return SIZE_MAX;
    }
    return before != SIZE_MAX ? before : at;
}

struct block draft_block(const struct buf *text, size_t header, bool with_subs)
{
    struct scan scan = draft_statement(text, header);
    struct block block = {.header = scan, .last = scan, .end = scan.end, .next = text->length};
    bool is_attached = true;    /* only comments since the last key */
    size_t comments = SIZE_MAX; /* where the run of comments at hand began */
    for (size_t at = scan.end; at < text->length; at = scan.end) {
        scan = scan_next(text->data, text->length, at);
        if (scan.kind == SCAN_HEADER && !(with_subs && is_sub_of_report(text, &scan))) {
            block.next = comments != SIZE_MAX ? comments : scan.begin;
            block.end = block.end > block.next ? block.last.end : block.end;
            break;
        }
        if (scan.kind == SCAN_KEY || scan.kind == SCAN_HEADER) {
            block.last = scan;
            block.end = scan.end;
            is_attached = true;
        }
        comments = run_of_comments(scan.kind, comments, at);
        is_attached = is_attached && scan.kind != SCAN_BLANK;
        block.end = is_attached ? scan.end : block.end;
    }
    return block;
}

/* "[name]" itself, and not a part of "[name.more]". */
static bool is_own_header(const struct draft *draft, const struct toml_node *table)
{
    size_t at = table->key == NULL ? table->begin.offset : table->key_end.offset;
    while (at < draft->text.length &&
           (draft->text.data[at] == ' ' || draft->text.data[at] == '\t')) {
        at++;
    }
    return table->key == NULL || (at < draft->text.length && draft->text.data[at] == ']');
}

enum form draft_form(const struct draft *draft, const struct toml_node *table)
{
    if (table->is_inline) {
        return FORM_INLINE;
    }
    if (draft_statement(&draft->text, table->begin.offset).kind == SCAN_KEY) {
        return FORM_DOTTED;
    }
    return is_own_header(draft, table) ? FORM_HEADER : FORM_IMPLIED;
}

static bool is_report_named(const struct draft *draft, size_t table, const char *name,
                            const char *unnamed)
{
    size_t at = toml_find(draft->doc, table, "name");
    const char *found = at != TOML_NONE ? draft_node(draft, at)->text : unnamed;
    return found != NULL && strcmp(found, name) == 0;
}

size_t draft_find_report(const struct draft *draft, const char *name)
{
    size_t reports = toml_find(draft->doc, 0, "report");
    if (reports == TOML_NONE) {
        return TOML_NONE;
    }
    if (draft_node(draft, reports)->kind == TOML_KIND_TABLE) {
        return is_report_named(draft, reports, name, "default") ? reports : TOML_NONE;
    }
    size_t at = draft_node(draft, reports)->kind == TOML_KIND_ARRAY
                    ? draft_node(draft, reports)->first
                    : TOML_NONE;
    while (at != TOML_NONE && !is_report_named(draft, at, name, NULL)) {
        at = draft_node(draft, at)->next;
    }
    return at;
}

bool draft_is_same_reports(const struct draft *old, size_t old_skip, const struct draft *new,
                           size_t new_skip)
{
    struct version was = draft_version(old);
    struct version is = draft_version(new);
    size_t reports = toml_find(old->doc, 0, "report");
    size_t new_reports = toml_find(new->doc, 0, "report");
    if (reports == TOML_NONE || reports == old_skip) {
        return true; /* nothing else was there */
    }
    if (new_reports == TOML_NONE) {
        return draft_node(old, reports)->first == old_skip &&
               draft_node(old, old_skip)->next == TOML_NONE;
    }
    size_t a = draft_node(old, reports)->first;
    size_t b = draft_node(new, new_reports)->first;
    for (;;) {
        a = a == old_skip && a != TOML_NONE ? draft_node(old, a)->next : a;
        b = b == new_skip && b != TOML_NONE ? draft_node(new, b)->next : b;
        if (a == TOML_NONE || b == TOML_NONE) {
            return a == b;
        }
        if (!version_is_same(&was, a, &is, b)) {
            return false;
        }
        a = draft_node(old, a)->next;
        b = draft_node(new, b)->next;
    }
}

int draft_refuse(struct err *err, const struct toml_node *node)
{
    return err_set(err, -ENOTSUP,
                   "line %d is written in a way that cannot be changed safely; edit it by hand",
                   node->begin.line);
}

int draft_changed_more(struct err *err)
{
    return err_set(err, -ENOTSUP,
                   "the change would touch other values too; nothing was changed, edit it by hand");
}
