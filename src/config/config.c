/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/config.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "config/options.h"
#include "config/toml.h"
#include "config/value.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT_BYTES ((size_t)1 << 20)
#define REPORTS_MAX 1000
#define NOTES_MAX 20     /* problems and warnings that are kept */
#define PROBLEMS_SHOWN 3 /* of them in one error */
#define NAME_SHOWN_MAX 40

/* Something to say about a place of the file. */
struct note {
    size_t offset;
    bool is_problem; /* else a warning */
    char *text;
};

struct reader {
    const struct toml_doc *doc;
    const char *name; /* of the file, for messages */
    const struct config_checks *checks;
    struct config *config;
    struct note note[NOTES_MAX];
    size_t note_count, problem_count;
};

static void note(struct reader *reader, bool is_problem, const struct toml_place *place,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

static void note(struct reader *reader, bool is_problem, const struct toml_place *place,
                 const char *format, ...)
{
    reader->problem_count += is_problem ? 1 : 0;
    if (reader->note_count == NOTES_MAX) {
        return;
    }
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reader->note[reader->note_count++] =
        (struct note){place->offset, is_problem,
                      mem_format("%s:%d:%d: %s", reader->name, place->line, place->column, text)};
}

static const struct toml_node *node_at(const struct reader *reader, size_t index)
{
    return toml_node(reader->doc, index);
}

/* A quoted key may hold a NUL character; then it is none of ours. */
static bool is_whole_key(const struct toml_node *node)
{
    return strlen(node->key) == node->key_length;
}

/* A key as it may be shown: a slip can put a secret before the equals sign. */
static const char *shown_key(const struct toml_node *node, char out[NAME_SHOWN_MAX + 1])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    bool is_plain = node->key_length > 0 && node->key_length <= NAME_SHOWN_MAX &&
                    strspn(node->key, plain) == node->key_length;
    text_copy(out, NAME_SHOWN_MAX + 1, is_plain ? node->key : "…");
    return out;
}

/* "; did you mean …?" for a key that is not known in this section (NULL: outside any). */
static char *key_suggestion(const char *section, const char *key)
{
    const char *other = NULL;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(option_get(i)->key, key) == 0) {
            other = option_get(i)->section;
        }
    }
    if (other != NULL) {
        return mem_format("; did you mean '%s' in [%s]?", key, other);
    }
    const char *nearest = section != NULL ? option_nearest_key(section, key) : NULL;
    return nearest != NULL ? mem_format("; did you mean '%s'?", nearest) : mem_copy_text("");
}

static const char *strict_hint(const struct reader *reader)
{
    return reader->config->is_strict ? " (general.strict = false turns this into a warning)"
                                     : " (ignored)";
}

static void note_unknown_key(struct reader *reader, const struct toml_node *node,
                             const char *section)
{
    char key[NAME_SHOWN_MAX + 1];
    OWN_FREE char *suggestion = key_suggestion(section, node->key);
    OWN_FREE char *where =
        section != NULL ? mem_format("in [%s]", section) : mem_copy_text("outside any section");
    note(reader, reader->config->is_strict, &node->key_begin, "unknown key '%s' %s%s%s",
         shown_key(node, key), where, suggestion, strict_hint(reader));
}

static void note_unknown_section(struct reader *reader, const struct toml_node *node)
{
    char key[NAME_SHOWN_MAX + 1];
    const char *nearest = option_nearest_section(node->key);
    note(reader, reader->config->is_strict, &node->key_begin, "unknown section [%s]%s%s%s%s",
         shown_key(node, key), nearest != NULL ? "; did you mean [" : "",
         nearest != NULL ? nearest : "", nearest != NULL ? "]?" : "", strict_hint(reader));
}

/* send_time fills the member of report_time; when both are given the newer key counts. */
static bool is_replaced(struct reader *reader, size_t table, const struct toml_node *node,
                        const struct option_row *row)
{
    if (row->kind != OPTION_CLOCK || toml_find(reader->doc, table, "report_time") == TOML_NONE) {
        return false;
    }
    note(reader, false, &node->key_begin, "%s.%s is ignored because report_time is set",
         row->section, row->key);
    return true;
}

static size_t row_index(const struct option_row *row)
{
    return (size_t)(row - option_get(0));
}

static void read_member(struct reader *reader, size_t index, const struct option_row *row,
                        void *owner, int *lines)
{
    const struct toml_node *node = node_at(reader, index);
    if (is_replaced(reader, node->parent, node, row)) {
        return;
    }
    struct err err = {0};
    lines[row_index(row)] = node->key_begin.line;
    if (value_read(row, reader->doc, index, reader->checks, owner, &err) != 0) {
        note(reader, true, &node->begin, "%s", err.text);
        return;
    }
    if (row->kind == OPTION_CLOCK) {
        lines[OPTION_ID_REPORT_TIME] = node->key_begin.line;
    }
}

static void read_section(struct reader *reader, size_t table, const char *section, void *owner,
                         int *lines)
{
    size_t next = TOML_NONE;
    for (size_t i = node_at(reader, table)->first; i != TOML_NONE; i = next) {
        const struct toml_node *node = node_at(reader, i);
        next = node->next;
        const struct option_row *row = is_whole_key(node) ? option_find(section, node->key) : NULL;
        if (row == NULL) {
            note_unknown_key(reader, node, section);
        } else {
            read_member(reader, i, row, owner, lines);
        }
    }
}

/* Members that the file does not set get their defaults. */
static void fill_defaults(bool is_report, void *owner, const int *lines)
{
    static const struct config_checks none;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_get(i);
        bool is_wanted = (strcmp(row->section, "report") == 0) == is_report &&
                         (row->flags & OPTION_LEGACY) == 0 && lines[i] == 0;
        /* A name has no default; the caller gives it. */
        if (is_wanted && row->kind != OPTION_NAME) {
            (void)value_read_text(row, row->fallback, &none, owner, NULL);
        }
    }
}

static struct config_report *add_report(struct config *config)
{
    /* Grown one by one: there are few, and REPORTS_MAX at most. */
    size_t size = (config->report_count + 1) * sizeof *config->report;
    config->report = mem_resize(config->report, size);
    struct config_report *report = &config->report[config->report_count++];
    *report = (struct config_report){.option_line = mem_new(OPTION_COUNT, sizeof(int))};
    return report;
}

static void read_report(struct reader *reader, size_t table, const char *name)
{
    if (reader->config->report_count == REPORTS_MAX) {
        note(reader, true, &node_at(reader, table)->begin, "more than %d reports", REPORTS_MAX);
        return;
    }
    struct config_report *report = add_report(reader->config);
    report->line = node_at(reader, table)->begin.line;
    read_section(reader, table, "report", report, report->option_line);
    fill_defaults(true, report, report->option_line);
    if (report->option_line[OPTION_ID_REPORT_NAME] != 0) {
        return;
    }
    if (name == NULL) {
        note(reader, true, &node_at(reader, table)->begin, "report.name is missing");
        return;
    }
    report->name = mem_copy_text(name);
}

/* [[report]], any number of them, or the older single [report], which is the report "default". */
static void read_reports(struct reader *reader, size_t index)
{
    const struct toml_node *node = node_at(reader, index);
    if (node->kind == TOML_KIND_TABLE) {
        read_report(reader, index, "default");
        return;
    }
    size_t i = node->kind == TOML_KIND_ARRAY ? node->first : index;
    for (; i != TOML_NONE; i = node_at(reader, i)->next) {
        if (node_at(reader, i)->kind != TOML_KIND_TABLE) {
            note(reader, true, &node_at(reader, i)->begin,
                 "report must be [[report]] sections, not %s",
                 toml_kind_name(node_at(reader, i)->kind));
            return;
        }
        read_report(reader, i, NULL);
    }
}

/* A name taken by an earlier report. */
static void check_report_names(struct reader *reader)
{
    const struct config *config = reader->config;
    size_t reports = toml_find(reader->doc, 0, "report");
    size_t node = reports != TOML_NONE ? node_at(reader, reports)->first : TOML_NONE;
    for (size_t i = 0; i < config->report_count && config->report_count > 1; i++) {
        const char *name = config->report[i].name;
        const struct config_report *first = name != NULL ? config_report_find(config, name) : NULL;
        if (first != NULL && first != &config->report[i]) {
            size_t name_node = toml_find(reader->doc, node, "name");
            note(reader, true, &node_at(reader, name_node)->begin,
                 "report.name '%s' is already the name of the report in line %d", name,
                 first->line);
        }
        node = node_at(reader, node)->next;
    }
}

static void read_root_member(struct reader *reader, size_t index)
{
    const struct toml_node *node = node_at(reader, index);
    bool is_known = is_whole_key(node) && option_is_section(node->key);
    bool is_section = node->kind == TOML_KIND_TABLE ||
                      (node->kind == TOML_KIND_ARRAY && node->first != TOML_NONE &&
                       node_at(reader, node->first)->kind == TOML_KIND_TABLE);
    if (is_known && strcmp(node->key, "report") == 0) {
        read_reports(reader, index);
    } else if (is_known && node->kind == TOML_KIND_TABLE) {
        read_section(reader, index, node->key, reader->config, reader->config->option_line);
    } else if (is_known) {
        note(reader, true, &node->begin, "%s must be one [%s] section, not %s", node->key,
             node->key, toml_kind_name(node->kind));
    } else if (is_section) {
        note_unknown_section(reader, node);
    } else {
        note_unknown_key(reader, node, NULL);
    }
}

/* general.strict says how the rest is read, so it is looked at first. */
static bool is_strict(const struct toml_doc *doc)
{
    size_t general = toml_find(doc, 0, "general");
    size_t strict = general != TOML_NONE ? toml_find(doc, general, "strict") : TOML_NONE;
    const struct toml_node *node = strict != TOML_NONE ? toml_node(doc, strict) : NULL;
    return node == NULL || node->kind != TOML_KIND_BOOL || node->is_truth;
}

static void read_document(struct reader *reader)
{
    struct config *config = reader->config;
    config->is_strict = is_strict(reader->doc);
    for (size_t i = node_at(reader, 0)->first; i != TOML_NONE; i = node_at(reader, i)->next) {
        read_root_member(reader, i);
    }
    check_report_names(reader);
    fill_defaults(false, config, config->option_line);
    if (config->report_count == 0) {
        struct config_report *report = add_report(config);
        fill_defaults(true, report, report->option_line);
        report->name = mem_copy_text("default");
    }
    if (config->sample_interval != NULL) {
        (void)config_parse_duration("sample.interval", config->sample_interval,
                                    &config->sample_interval_s, NULL);
    }
}

static int compare_notes(const void *a, const void *b)
{
    size_t left = ((const struct note *)a)->offset;
    size_t right = ((const struct note *)b)->offset;
    return left < right ? -1 : left > right ? 1 : 0;
}

/* The first problems, a line each, as one error; without any, the warnings go to the config. */
static int conclude(struct reader *reader, struct err *err)
{
    qsort(reader->note, reader->note_count, sizeof reader->note[0], compare_notes);
    OWN_BUF struct buf problems = {0};
    size_t shown = 0;
    size_t warnings = 0;
    reader->config->warning = mem_new(reader->note_count + 1, sizeof *reader->config->warning);
    for (size_t i = 0; i < reader->note_count; i++) {
        struct note *note = &reader->note[i];
        if (!note->is_problem) {
            reader->config->warning[warnings++] = MOVE(note->text);
        } else if (shown++ < PROBLEMS_SHOWN) {
            buf_format(&problems, "%s%s", shown > 1 ? "\n" : "", note->text);
        }
        free(note->text);
    }
    if (reader->problem_count > PROBLEMS_SHOWN) {
        buf_format(&problems, "\n(and %zu more)", reader->problem_count - PROBLEMS_SHOWN);
    }
    reader->note_count = 0;
    return reader->problem_count == 0 ? 0 : err_set(err, -EINVAL, "%s", buf_string(&problems));
}

/* Skips a UTF-8 byte order mark; refuses what only looks like text. */
static int check_encoding(struct span *text, const char *name, struct err *err)
{
    const char *bytes = text->data;
    if (span_starts(*text, "\xef\xbb\xbf")) {
        text->data += 3;
        text->length -= 3;
        return 0;
    }
    bool has_mark = span_starts(*text, "\xff\xfe") || span_starts(*text, "\xfe\xff");
    if (has_mark || (text->length >= 2 && (bytes[0] == '\0' || bytes[1] == '\0'))) {
        return err_set(err, -EINVAL, "%s is encoded as UTF-16; save it as UTF-8", name);
    }
    return 0;
}

static struct config *new_config(void)
{
    struct config *config = mem_new(1, sizeof *config);
    config->is_strict = true;
    config->option_line = mem_new(OPTION_COUNT, sizeof(int));
    return config;
}

int config_parse(const char *text, size_t length, const char *name,
                 const struct config_checks *checks, struct config **out, struct err *err)
{
    struct span rest = {text, length};
    if (length > FILE_LIMIT_BYTES) {
        return err_set(err, -EFBIG, "%s is larger than the %zu bytes we accept", name,
                       FILE_LIMIT_BYTES);
    }
    int code = check_encoding(&rest, name, err);
    if (code != 0) {
        return code;
    }
    struct toml_error error = {0};
    struct toml_doc *doc = toml_parse(rest.data, rest.length, &error);
    if (doc == NULL) {
        return err_set(err, -EINVAL, "%s:%d:%d: %s", name, error.place.line, error.place.column,
                       error.text);
    }
    struct config *config = new_config();
    struct reader reader = {.doc = doc, .name = name, .checks = checks, .config = config};
    read_document(&reader);
    code = conclude(&reader, err);
    toml_free(doc);
    if (code != 0) {
        config_free(config);
        return code;
    }
    *out = config;
    return 0;
}

int config_load(const char *path, const struct config_checks *checks, struct config **out,
                struct err *err)
{
    OWN_BUF struct buf text = {0};
    int code = path != NULL ? file_read(path, FILE_LIMIT_BYTES, &text, err) : 0;
    if (code == -ENOENT || code == -ENOTDIR) {
        return err_set(err, -ENOENT, "Config file not found: %s", path);
    }
    if (code != 0) {
        return code;
    }
    code = config_parse(buf_string(&text), text.length, path != NULL ? path : "config.toml", checks,
                        out, err);
    if (text.data != NULL) {
        explicit_bzero(text.data, text.length);
    }
    if (code == 0 && path != NULL) {
        (*out)->path = mem_copy_text(path);
    }
    return code;
}

void config_free(struct config *config)
{
    if (config == NULL) {
        return;
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_get(i);
        if (strcmp(row->section, "report") != 0) {
            value_free(row, config);
        }
        for (size_t r = 0; r < config->report_count && strcmp(row->section, "report") == 0; r++) {
            value_free(row, &config->report[r]);
        }
    }
    for (size_t r = 0; r < config->report_count; r++) {
        free(config->report[r].option_line);
    }
    for (size_t i = 0; config->warning != NULL && config->warning[i] != NULL; i++) {
        free(config->warning[i]);
    }
    free(config->warning);
    free(config->report);
    free(config->option_line);
    free(config->path);
    free(config);
}

const struct config_report *config_report_find(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->report_count; i++) {
        const char *other = config->report[i].name;
        if (other != NULL && strcmp(other, name) == 0) {
            return &config->report[i];
        }
    }
    return NULL;
}

static bool is_there(const char *path)
{
    struct stat status;
    /* A file that we may not look at is there: another one must not be used in its place. */
    return stat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static char *named_path(const char *explicit_path)
{
    const char *path = explicit_path;
    if (path == NULL) {
        const char *from_environment = getenv("GPUMANAGER_CONFIG");
        path = from_environment != NULL && from_environment[0] != '\0' ? from_environment : NULL;
    }
    return path != NULL ? file_expand_home(path) : NULL;
}

char *config_find(const char *explicit_path)
{
    char *path = named_path(explicit_path);
    if (path != NULL) {
        return path;
    }
    path = file_expand_home("~/.config/gpumanager/config.toml");
    if (path[0] == '/' && is_there(path)) {
        return path;
    }
    free(path);
    path = file_rooted("/etc/gpumanager/config.toml");
    if (is_there(path)) {
        return path;
    }
    free(path);
    return NULL;
}

char *config_default_path(const char *explicit_path)
{
    char *path = named_path(explicit_path);
    if (path != NULL) {
        return path;
    }
    const char *home = getenv("HOME");
    bool has_home = home != NULL && home[0] != '\0';
    path = file_expand_home("~/.config/gpumanager/config.toml");
    if (path[0] == '/' && (has_home || geteuid() != 0)) {
        return path;
    }
    free(path);
    return file_rooted("/etc/gpumanager/config.toml");
}
