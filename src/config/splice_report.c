/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/splice.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "config/draft.h"

#include <errno.h>
#include <string.h>

/* Adds "key = value" when there is a value. */
static int add_line(struct buf *block, const char *key, const char *value, const char *eol,
                    struct err *err)
{
    if (value == NULL) {
        return 0;
    }
    buf_format(block, "%s = ", key);
    int code = draft_format_value(option_find("report", key), value, block, err);
    buf_text(block, eol);
    return code;
}

static int format_report(struct buf *block, const struct config_report *report, const char *eol,
                         struct err *err)
{
    OWN_BUF struct buf words = {0};
    for (size_t i = 0; report->include != NULL && report->include[i] != NULL; i++) {
        buf_format(&words, "%s%s", i > 0 ? "," : "", report->include[i]);
    }
    const struct {
        const char *key, *value;
    } lines[] = {
        {"name", report->name},
        {"report_time", report->report_time},
        {"interval", report->interval},
        {"format", report->format},
        {"include", words.length > 0 ? words.data : NULL},
    };
    buf_format(block, "[[report]]%s", eol);
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof lines / sizeof lines[0]; i++) {
        code = add_line(block, lines[i].key, lines[i].value, eol, err);
    }
    return code;
}

static bool is_blank_at(const struct buf *text, size_t at)
{
    return at >= text->length || scan_next(text->data, text->length, at).kind == SCAN_BLANK;
}

/* Puts the lines of a block at `at`, with an empty line on each side that has something. */
static void insert_block(struct buf *text, size_t at, const char *lines)
{
    const char *eol = draft_eol(text);
    OWN_FREE char *all =
        mem_format("%s%s%s", at > 0 ? eol : "", lines, is_blank_at(text, at) ? "" : eol);
    draft_insert_lines(text, at, all);
}

/* "[report]" becomes the first of "[[report]]", with the name that it always had. */
static int upgrade_single(struct draft *draft, size_t table, struct err *err)
{
    const struct toml_node *node = draft_node(draft, table);
    if (draft_form(draft, node) != FORM_HEADER) {
        return draft_refuse(err, node);
    }
    bool is_named = toml_find(draft->doc, table, "name") != TOML_NONE;
    struct scan header = draft_statement(&draft->text, node->begin.offset);
    if (!is_named) {
        OWN_FREE char *name = mem_format("name = \"default\"%s", draft_eol(&draft->text));
        draft_insert_lines(&draft->text, header.end, name);
    }
    draft_replace(&draft->text, node->begin.offset, node->end.offset, "[[report]]");
    return draft_parse(draft, err) == 0 ? 0 : draft_changed_more(err);
}

/* Where the next report goes: behind the last one, else at the end. */
static int place_for_report(struct draft *draft, size_t *at, struct err *err)
{
    size_t reports = toml_find(draft->doc, 0, "report");
    *at = draft->text.length;
    if (reports == TOML_NONE) {
        return 0;
    }
    const struct toml_node *node = draft_node(draft, reports);
    if (node->kind != TOML_KIND_ARRAY || node->first == TOML_NONE) {
        return draft_refuse(err, node);
    }
    size_t last = node->first;
    while (draft_node(draft, last)->next != TOML_NONE) {
        last = draft_node(draft, last)->next;
    }
    if (draft_form(draft, draft_node(draft, last)) != FORM_HEADER) {
        return draft_refuse(err, node);
    }
    *at = draft_block(&draft->text, draft_node(draft, last)->begin.offset, true).end;
    return 0;
}

static bool is_single(const struct draft *draft)
{
    size_t reports = toml_find(draft->doc, 0, "report");
    return reports != TOML_NONE && draft_node(draft, reports)->kind == TOML_KIND_TABLE;
}

static bool is_text_member(const struct draft *draft, size_t table, const char *key,
                           const char *value)
{
    size_t at = toml_find(draft->doc, table, key);
    const char *text = at != TOML_NONE ? draft_node(draft, at)->text : NULL;
    return value == NULL ? at == TOML_NONE : text != NULL && strcmp(text, value) == 0;
}

/* The new report is there as asked, and nothing else changed. */
static bool is_added_right(const struct draft *old, const struct draft *new,
                           const struct config_report *report)
{
    static const char *const sections[2] = {"report", NULL};
    static const char *const names[2] = {"name", NULL};
    struct version was = draft_version(old);
    struct version is = draft_version(new);
    size_t added = draft_find_report(new, report->name);
    if (!version_is_same_except(&was, 0, &is, 0, sections) || added == TOML_NONE ||
        !is_text_member(new, added, "report_time", report->report_time) ||
        !is_text_member(new, added, "interval", report->interval) ||
        !is_text_member(new, added, "format", report->format)) {
        return false;
    }
    if (is_single(old)) {
        size_t first = draft_node(new, toml_find(new->doc, 0, "report"))->first;
        return version_is_same_except(&was, toml_find(old->doc, 0, "report"), &is, first, names) &&
               draft_node(new, first)->next == added;
    }
    return draft_is_same_reports(old, TOML_NONE, new, added);
}

int splice_add_report(struct buf *text, const struct config_report *report, struct err *err)
{
    OWN_DRAFT struct draft old = {0};
    OWN_DRAFT struct draft new = {0};
    OWN_BUF struct buf block = {0};
    int code = format_report(&block, report, draft_eol(text), err);
    code = code != 0 ? code : draft_init(&old, text, err);
    code = code != 0 ? code : draft_init(&new, text, err);
    if (code != 0) {
        return code;
    }
    if (draft_find_report(&old, report->name) != TOML_NONE) {
        return err_set(err, -EEXIST, "there is a report '%s' already", report->name);
    }
    size_t at = 0;
    if (is_single(&new)) {
        code = upgrade_single(&new, toml_find(new.doc, 0, "report"), err);
    }
    code = code != 0 ? code : place_for_report(&new, &at, err);
    if (code != 0) {
        return code;
    }
    insert_block(&new.text, at, block.data);
    if (draft_parse(&new, NULL) != 0 || !is_added_right(&old, &new, report)) {
        return draft_changed_more(err);
    }
    draft_take_text(&new, text);
    return 0;
}

/* Where the comments that stand directly above a header begin. */
static size_t begin_with_comments(const struct buf *text, size_t header)
{
    size_t begin = SIZE_MAX;
    for (size_t at = 0; at < header;) {
        struct scan scan = scan_next(text->data, text->length, at);
        begin = scan.kind != SCAN_COMMENT ? SIZE_MAX : begin != SIZE_MAX ? begin : at;
        at = scan.end;
    }
    return begin != SIZE_MAX ? begin : header;
}

/* Takes the lines out, and one of two empty lines that would meet, or the last one of the file. */
static void cut_block(struct buf *text, size_t begin, size_t end)
{
    bool is_last = end >= text->length;
    bool had_blank =
        begin == 0 ||
        (begin >= 2 && text->data[begin - 1] == '\n' &&
         (text->data[begin - 2] == '\n' ||
          (begin >= 3 && text->data[begin - 2] == '\r' && text->data[begin - 3] == '\n')));
    if (!is_last && had_blank && is_blank_at(text, end)) {
        end = scan_next(text->data, text->length, end).end;
    } else if (is_last && had_blank && begin > 0) {
        begin -= text->data[begin - 2] == '\r' ? 2 : 1;
    }
    draft_replace(text, begin, end, "");
}

int splice_remove_report(struct buf *text, const char *name, struct err *err)
{
    static const char *const sections[2] = {"report", NULL};
    OWN_DRAFT struct draft old = {0};
    OWN_DRAFT struct draft new = {0};
    int code = draft_init(&old, text, err);
    code = code != 0 ? code : draft_init(&new, text, err);
    if (code != 0) {
        return code;
    }
    size_t at = draft_find_report(&old, name);
    if (at == TOML_NONE) {
        return err_set(err, -ENOENT, "there is no report '%s'", name);
    }
    const struct toml_node *node = draft_node(&old, at);
    if (draft_form(&old, node) != FORM_HEADER) {
        return draft_refuse(err, node);
    }
    struct block block = draft_block(&new.text, node->begin.offset, true);
    cut_block(&new.text, begin_with_comments(&new.text, block.header.begin), block.end);
    struct version was = draft_version(&old);
    if (draft_parse(&new, NULL) != 0) {
        return draft_changed_more(err);
    }
    struct version is = draft_version(&new);
    if (!version_is_same_except(&was, 0, &is, 0, sections) ||
        !draft_is_same_reports(&old, at, &new, TOML_NONE)) {
        return draft_changed_more(err);
    }
    draft_take_text(&new, text);
    return 0;
}

/* One commented line an option: what it means, and its default. */
static void explain_section(struct buf *out, const char *section)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_get(i);
        if (strcmp(row->section, section) != 0 || (row->flags & OPTION_LEGACY) != 0 ||
            row->kind == OPTION_NAME) {
            continue;
        }
        OWN_BUF struct buf value = {0};
        (void)draft_format_value(row, row->fallback, &value, NULL);
        buf_format(out, "# %s\n# %s = %s\n", row->help, row->key, buf_string(&value));
    }
}

int splice_template(struct buf *out, const struct config_change *changes, size_t count,
                    struct err *err)
{
    static const char *const sections[] = {"general", "slack",  "storage",
                                           "sample",  "server", "live"};
    const char *report = "default";
    for (size_t i = count; i-- > 0;) {
        report = changes[i].report_name != NULL ? changes[i].report_name : report;
    }
    buf_text(out, "# gpumanager reads this file for every sample and report; after a change of an\n"
                  "# interval or a report run: gpumanager reload\n");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        buf_format(out, "\n[%s]\n", sections[i]);
        explain_section(out, sections[i]);
    }
    buf_format(out,
               "\n# One block a report; gpumanager add-report adds another.\n\n[[report]]\n"
               "name = \"%s\"\n",
               report);
    explain_section(out, "report");
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        code = splice_set(out, &changes[i], err);
    }
    return code;
}
