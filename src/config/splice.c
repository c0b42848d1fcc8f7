/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/splice.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "config/draft.h"

#include <errno.h>
#include <string.h>

static size_t find_table(const struct draft *draft, const struct config_change *change)
{
    bool is_report = strcmp(change->section, "report") == 0;
    return is_report ? draft_find_report(draft, change->report_name)
                     : toml_find(draft->doc, 0, change->section);
}

static void append_section(struct buf *text, const char *section, const char *key,
                           const char *value)
{
    const char *eol = draft_eol(text);
    OWN_FREE char *lines =
        mem_format("%s[%s]%s%s = %s%s", text->length > 0 ? eol : "", section, eol, key, value, eol);
    draft_insert_lines(text, text->length, lines);
}

/* "# key = …": where a template shows a key that is not set. */
static bool is_commented_key(const struct buf *text, const struct scan *scan, const char *key)
{
    struct span line = {text->data + scan->content, scan->end - scan->content};
    line = span_trim((struct span){line.data + 1, line.length - 1});
    if (!span_starts(line, key)) {
        return false;
    }
    size_t length = strlen(key);
    line = span_trim((struct span){line.data + length, line.length - length});
    return span_starts(line, "=");
}

/* Behind the comment that shows the key, else behind the last key. */
static size_t place_for_key(const struct buf *text, const struct block *block, const char *key)
{
    struct scan scan = block->header;
    while (scan.end < block->next) {
        scan = scan_next(text->data, text->length, scan.end);
        if (scan.kind == SCAN_COMMENT && is_commented_key(text, &scan, key)) {
            return scan.end;
        }
    }
    return block->last.end;
}

static void insert_under_header(struct draft *draft, const struct toml_node *table, const char *key,
                                const char *value)
{
    struct buf *text = &draft->text;
    struct block block = draft_block(text, table->begin.offset, false);
    OWN_FREE char *line = mem_format("%.*s%s = %s%s", (int)(block.last.content - block.last.begin),
                                     text->data + block.last.begin, key, value, draft_eol(text));
    draft_insert_lines(text, place_for_key(text, &block, key), line);
}

static void insert_dotted(struct draft *draft, const struct toml_node *table, const char *key,
                          const char *value)
{
    struct buf *text = &draft->text;
    struct scan scan = draft_statement(text, table->begin.offset);
    OWN_FREE char *line = mem_format("%.*s.%s = %s%s", (int)(table->key_end.offset - scan.begin),
                                     text->data + scan.begin, key, value, draft_eol(text));
    draft_insert_lines(text, scan.end, line);
}

static void insert_key(struct draft *draft, const struct toml_node *table, const char *section,
                       const char *key, const char *value)
{
    switch (draft_form(draft, table)) {
    case FORM_HEADER:
        insert_under_header(draft, table, key, value);
        return;
    case FORM_INLINE: {
        OWN_FREE char *member =
            mem_format(" %s = %s%s", key, value, table->first == TOML_NONE ? " " : ",");
        draft_replace(&draft->text, table->begin.offset + 1, table->begin.offset + 1, member);
        return;
    }
    case FORM_DOTTED:
        insert_dotted(draft, table, key, value);
        return;
    case FORM_IMPLIED:
        append_section(&draft->text, section, key, value);
        return;
    }
}

/* Changes the value, or adds the key; an older send_time becomes the report_time it stands for. */
static int put_value(struct draft *draft, size_t table, const struct config_change *change,
                     const char *value, struct err *err)
{
    const struct toml_node *owner = draft_node(draft, table);
    if (owner->kind != TOML_KIND_TABLE) {
        return draft_refuse(err, owner);
    }
    size_t at = toml_find(draft->doc, table, change->key);
    size_t older = strcmp(change->key, "report_time") == 0
                       ? toml_find(draft->doc, table, "send_time")
                       : TOML_NONE;
    if (at == TOML_NONE && older == TOML_NONE) {
        insert_key(draft, owner, change->section, change->key, value);
        return 0;
    }
    const struct toml_node *node = draft_node(draft, at != TOML_NONE ? at : older);
    if (node->kind == TOML_KIND_TABLE) {
        return draft_refuse(err, node);
    }
    draft_replace(&draft->text, node->begin.offset, node->end.offset, value);
    if (at == TOML_NONE) {
        draft_replace(&draft->text, node->key_begin.offset, node->key_end.offset, change->key);
    }
    return 0;
}

/* Only the value of the change is new, and it is what was asked for. */
static bool is_set_right(const struct draft *old, const struct draft *new,
                         const struct config_change *change, const char *value)
{
    struct version was = draft_version(old);
    struct version is = draft_version(new);
    const char *sections[2] = {change->section, NULL};
    size_t old_table = find_table(old, change);
    size_t new_table = find_table(new, change);
    if (!version_is_same_except(&was, 0, &is, 0, sections) || new_table == TOML_NONE) {
        return false;
    }
    size_t at = toml_find(new->doc, new_table, change->key);
    const struct toml_node *node = at != TOML_NONE ? draft_node(new, at) : NULL;
    size_t length = node != NULL ? node->end.offset - node->begin.offset : 0;
    if (node == NULL || length != strlen(value) ||
        memcmp(is.text + node->begin.offset, value, length) != 0) {
        return false;
    }
    if (old_table == TOML_NONE) {
        return draft_node(new, new_table)->first == at && node->next == TOML_NONE;
    }
    bool had_key = toml_find(old->doc, old_table, change->key) != TOML_NONE;
    bool is_time = strcmp(change->key, "report_time") == 0;
    const char *keys[2] = {change->key, is_time && !had_key ? "send_time" : NULL};
    return version_is_same_except(&was, old_table, &is, new_table, keys) &&
           (strcmp(change->section, "report") != 0 ||
            draft_is_same_reports(old, old_table, new, new_table));
}

static int check_change(const struct config_change *change, const struct option_row **row,
                        struct err *err)
{
    *row = option_find(change->section, change->key);
    if (*row == NULL || ((*row)->flags & OPTION_LEGACY) != 0) {
        return err_set(err, -EINVAL, "there is no option %s.%s", change->section, change->key);
    }
    if (strcmp(change->section, "report") == 0 && change->report_name == NULL) {
        return err_set(err, -EINVAL, "%s.%s: which report?", change->section, change->key);
    }
    if ((*row)->kind == OPTION_NAME && strcmp(change->value, change->report_name) != 0) {
        return err_set(err, -EINVAL, "report.name cannot be changed; add a report and remove this");
    }
    return 0;
}

int splice_set(struct buf *text, const struct config_change *change, struct err *err)
{
    const struct option_row *row = NULL;
    OWN_BUF struct buf value = {0};
    OWN_DRAFT struct draft old = {0};
    OWN_DRAFT struct draft new = {0};
    int code = check_change(change, &row, err);
    code = code != 0 ? code : draft_format_value(row, change->value, &value, err);
    code = code != 0 ? code : draft_init(&old, text, err);
    code = code != 0 ? code : draft_init(&new, text, err);
    if (code != 0) {
        return code;
    }
    size_t table = find_table(&new, change);
    if (table == TOML_NONE && strcmp(change->section, "report") == 0) {
        OWN_FREE char *name = mem_copy_text(change->report_name);
        struct config_report report = {.name = name};
        code = splice_add_report(text, &report, err);
        return code != 0 ? code : splice_set(text, change, err);
    }
    if (table == TOML_NONE) {
        append_section(&new.text, change->section, change->key, buf_string(&value));
    } else {
        code = put_value(&new, table, change, buf_string(&value), err);
    }
    if (code != 0) {
        return code;
    }
    if (draft_parse(&new, NULL) != 0 || !is_set_right(&old, &new, change, buf_string(&value))) {
        return draft_changed_more(err);
    }
    draft_take_text(&new, text);
    return 0;
}
