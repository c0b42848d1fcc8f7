/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/value.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DURATION_MOST_S (INT64_C(36500) * 86400)

static int64_t unit_seconds(char unit)
{
    switch (unit) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    default:
        return 0;
    }
}

int config_parse_duration(const char *key, const char *text, int64_t *out_s, struct err *err)
{
    struct span number = span_trim(span_of(text));
    int64_t unit = number.length > 1 ? unit_seconds(number.data[number.length - 1]) : 0;
    bool is_number = unit != 0 && strspn(number.data, "0123456789") == number.length - 1;
    if (!is_number) {
        return err_set(err, -EINVAL,
                       "%s must be a number followed by s, m, h, or d "
                       "(for example: 11s, 2m, 1h, 1d)",
                       key);
    }
    number.length--;
    int64_t count = 0;
    if (!text_to_int64(number, &count) || count > DURATION_MOST_S / unit) {
        return err_set(err, -EINVAL, "%s must be at most 36500d", key);
    }
    if (count == 0) {
        return err_set(err, -EINVAL, "%s must be positive", key);
    }
    *out_s = count * unit;
    return 0;
}

int config_check_report_name(const char *name, struct err *err)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    if (length == 0 || length > 32 || name[length] != '\0') {
        return err_set(err, -EINVAL,
                       "report.name must be 1 to 32 characters of a-z, 0-9, _ and -, because it "
                       "becomes part of a unit's name");
    }
    return 0;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return true;
        }
    }
    return false;
}

/* Puts the key before a sentence of another folder, unless GM's sentence has it already. */
static int name_key(const struct option_row *row, struct err *err)
{
    if (err == NULL) {
        return -EINVAL;
    }
    OWN_FREE char *key = mem_format("%s.%s", row->section, row->key);
    if (strstr(err->text, key) == NULL) {
        err_prefix(err, text_starts(err->text, "must ") ? "%s " : "%s: ", key);
    }
    return -EINVAL;
}

static int check_length(const struct option_row *row, const char *text, struct err *err)
{
    int64_t length = (int64_t)strlen(text);
    if (length < row->least) {
        return err_set(err, -EINVAL, "%s.%s must not be empty", row->section, row->key);
    }
    if (length > row->most) {
        return err_set(err, -EINVAL, "%s.%s is longer than %" PRId64 " bytes", row->section,
                       row->key, row->most);
    }
    return 0;
}

static int check_duration(const struct option_row *row, const char *text, int64_t *out_s,
                          struct err *err)
{
    OWN_FREE char *key = mem_format("%s.%s", row->section, row->key);
    int64_t seconds = 0;
    int code = config_parse_duration(key, text, &seconds, err);
    if (code != 0) {
        return code;
    }
    if (seconds < row->least || seconds > row->most) {
        return err_set(err, -EINVAL, "%s must be between %" PRId64 " s and %" PRId64 " days", key,
                       row->least, row->most / 86400);
    }
    *out_s = seconds;
    return 0;
}

static int read_age(const struct option_row *row, const char *text, int64_t *out_s, struct err *err)
{
    if (strcmp(text, "never") == 0) {
        *out_s = -1;
        return 0;
    }
    int64_t seconds = 0;
    int code = check_duration(row, text, &seconds, NULL);
    if (code != 0) {
        return err_set(err, code,
                       "%s.%s must be \"never\" or an age from 1d to %" PRId64
                       "d (for example: 30d)",
                       row->section, row->key, row->most / 86400);
    }
    *out_s = seconds;
    return 0;
}

static int wrong_pace(const struct option_row *row, struct err *err)
{
    return err_set(err, -EINVAL,
                   "%s.%s must be a time from %" PRId64 " ms to %" PRId64
                   " s (for example: 0.5s, 10s)%s",
                   row->section, row->key, row->least > 0 ? row->least : 100, row->most / 1000,
                   row->least == 0 ? " or \"off\"" : "");
}

static int read_pace(const struct option_row *row, const char *text, int64_t *out_ns,
                     struct err *err)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};
    if (row->least == 0 && strcmp(text, "off") == 0) {
        *out_ns = 0;
        return 0;
    }
    size_t digits = strspn(text, "0123456789.");
    double value = 0;
    double ms = 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].unit) == 0 &&
            text_to_double((struct span){text, digits}, &value)) {
            ms = value * units[i].ms;
        }
    }
    if (ms < (double)(row->least > 0 ? row->least : 100) || ms > (double)row->most) {
        return wrong_pace(row, err);
    }
    *out_ns = (int64_t)(ms * 1e6);
    return 0;
}

static int read_bool(const struct option_row *row, const char *text, bool *out, struct err *err)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return err_set(err, -EINVAL, "%s.%s must be true or false", row->section, row->key);
    }
    *out = text[0] == 't';
    return 0;
}

/* "09:00" or "9:00" → "0 9 * * *". */
static int read_clock(const struct option_row *row, const char *text, char **out, struct err *err)
{
    struct span rest = span_of(text);
    struct span hour_text = {0};
    int64_t hour = 0;
    int64_t minute = 0;
    bool is_clock = span_cut(&rest, ':', &hour_text) && rest.data != NULL && rest.length == 2 &&
                    hour_text.length <= 2 && text_to_int64(hour_text, &hour) &&
                    text_to_int64(rest, &minute);
    if (!is_clock || hour < 0 || hour > 23 || minute < 0 || minute > 59) {
        return err_set(err, -EINVAL, "%s.%s must be a time of day like 09:00", row->section,
                       row->key);
    }
    *out = mem_format("%" PRId64 " %" PRId64 " * * *", minute, hour);
    return 0;
}

static int check_url(const struct option_row *row, const char *text, struct err *err)
{
    const char *rest = strncasecmp(text, "https://", 8) == 0  ? text + 8
                       : strncasecmp(text, "http://", 7) == 0 ? text + 7
                                                              : NULL;
    if (text[0] != '\0' && (rest == NULL || rest[0] == '\0' || strchr(rest, ' ') != NULL)) {
        return err_set(err, -EINVAL,
                       "%s.%s must be an address that begins with https:// (or http://)",
                       row->section, row->key);
    }
    return 0;
}

static bool has_word(const char *words, struct span word)
{
    struct span rest = span_of(words);
    struct span part = {0};
    while (span_cut(&rest, '|', &part)) {
        if (part.length == word.length && memcmp(part.data, word.data, word.length) == 0) {
            return true;
        }
    }
    return false;
}

static int wrong_word(const struct option_row *row, struct err *err)
{
    OWN_BUF struct buf list = {0};
    if (row->words == NULL) {
        return err_set(err, -EINVAL, "%s.%s must be a list of strings in quotes", row->section,
                       row->key);
    }
    struct span rest = span_of(row->words);
    struct span part = {0};
    while (span_cut(&rest, '|', &part)) {
        buf_format(&list, "%s\"%.*s\"", list.length > 0 ? " or " : "", (int)part.length, part.data);
    }
    return err_set(err, -EINVAL, "%s.%s must be %s%s", row->section, row->key,
                   row->kind == OPTION_WORDS ? "a list of " : "", buf_string(&list));
}

static int read_words(const struct option_row *row, const char *text, char ***out, struct err *err)
{
    struct span rest = span_of(text);
    struct span part = {0};
    size_t count = 1;
    while (text[0] != '\0' && span_cut(&rest, ',', &part)) {
        if (part.length == 0 || (row->words != NULL && !has_word(row->words, part))) {
            return wrong_word(row, err);
        }
        count++;
    }
    char **words = mem_new(count, sizeof *words);
    rest = span_of(text);
    for (size_t i = 0; i + 1 < count && span_cut(&rest, ',', &part); i++) {
        words[i] = span_copy(part);
    }
    *out = words;
    return 0;
}

static int run_check(const struct option_row *row, int (*check)(const char *text, struct err *err),
                     const char *text, struct err *err)
{
    if (check == NULL || check(text, err) == 0) {
        return 0;
    }
    return name_key(row, err);
}

/* The rules of kinds that are kept as text. */
static int check_text(const struct option_row *row, const char *text,
                      const struct config_checks *checks, struct err *err)
{
    int64_t seconds = 0;
    switch (row->kind) {
    case OPTION_ZONE:
        return text[0] == '\0' ? 0 : run_check(row, checks->zone, text, err);
    case OPTION_CRON:
        return run_check(row, checks->cron, text, err);
    case OPTION_WINDOW:
        return run_check(row, checks->window, text, err);
    case OPTION_URL:
        return check_url(row, text, err);
    case OPTION_NAME:
        return config_check_report_name(text, err);
    case OPTION_DURATION:
        return check_duration(row, text, &seconds, err);
    case OPTION_FILE:
        if (text[0] != '\0' && text[0] != '/' && !text_starts(text, "~/")) {
            return err_set(err, -EINVAL, "%s.%s must be a path that begins with / or ~/",
                           row->section, row->key);
        }
        return 0;
    case OPTION_WORD:
        return has_word(row->words, span_of(text)) ? 0 : wrong_word(row, err);
    case OPTION_TEXT:
    case OPTION_FOLDER:
    case OPTION_BOOL:
    case OPTION_AGE:
    case OPTION_PACE:
    case OPTION_CLOCK:
    case OPTION_WORDS:
        return 0;
    }
    return 0;
}

static bool is_text_kind(enum option_kind kind)
{
    return kind != OPTION_BOOL && kind != OPTION_AGE && kind != OPTION_PACE &&
           kind != OPTION_WORDS && kind != OPTION_WORD && kind != OPTION_DURATION;
}

int value_read_text(const struct option_row *row, const char *text,
                    const struct config_checks *checks, void *owner, struct err *err)
{
    void *member = (char *)owner + row->member;
    if (has_control(text)) {
        return err_set(err, -EINVAL, "%s.%s must not hold control characters or line ends",
                       row->section, row->key);
    }
    int code = is_text_kind(row->kind) ? check_length(row, text, err) : 0;
    code = code != 0 ? code : check_text(row, text, checks, err);
    if (code != 0) {
        return code;
    }
    switch (row->kind) {
    case OPTION_BOOL:
        return read_bool(row, text, member, err);
    case OPTION_AGE:
        return read_age(row, text, member, err);
    case OPTION_PACE:
        return read_pace(row, text, member, err);
    case OPTION_CLOCK:
        return read_clock(row, text, member, err);
    case OPTION_WORDS:
        return read_words(row, text, member, err);
    case OPTION_FOLDER:
        *(char **)member = file_expand_home(text);
        return 0;
    case OPTION_FILE:
        *(char **)member = text[0] != '\0' ? file_expand_home(text) : NULL;
        return 0;
    case OPTION_DURATION:
        *(char **)member = span_copy(span_trim(span_of(text)));
        return 0;
    case OPTION_TEXT:
    case OPTION_ZONE:
    case OPTION_URL:
    case OPTION_NAME:
    case OPTION_CRON:
    case OPTION_WINDOW:
    case OPTION_WORD:
        *(char **)member = mem_copy_text(text);
        return 0;
    }
    return 0;
}

static int wrong_kind(const struct option_row *row, enum toml_kind kind, struct err *err)
{
    bool has_example = row->fallback[0] != '\0';
    return err_set(err, -EINVAL, "%s.%s must be a string in quotes%s%s%s, not %s", row->section,
                   row->key, has_example ? " (for example \"" : "", row->fallback,
                   has_example ? "\")" : "", toml_kind_name(kind));
}

/* A list in the file → its words with a comma between, which is what value_read_text takes. */
static int join_words(const struct option_row *row, const struct toml_doc *doc, size_t node,
                      struct buf *out, struct err *err)
{
    if (toml_node(doc, node)->kind != TOML_KIND_ARRAY) {
        return wrong_word(row, err);
    }
    for (size_t i = toml_node(doc, node)->first; i != TOML_NONE; i = toml_node(doc, i)->next) {
        const struct toml_node *member = toml_node(doc, i);
        bool is_word = member->kind == TOML_KIND_STRING && member->text_length > 0 &&
                       memchr(member->text, ',', member->text_length) == NULL &&
                       strlen(member->text) == member->text_length;
        if (!is_word) {
            return wrong_word(row, err);
        }
        buf_format(out, "%s%s", out->length > 0 ? "," : "", member->text);
    }
    return 0;
}

int value_read(const struct option_row *row, const struct toml_doc *doc, size_t node,
               const struct config_checks *checks, void *owner, struct err *err)
{
    const struct toml_node *value = toml_node(doc, node);
    if (row->kind == OPTION_WORDS) {
        OWN_BUF struct buf words = {0};
        int code = join_words(row, doc, node, &words, err);
        return code != 0 ? code : value_read_text(row, buf_string(&words), checks, owner, err);
    }
    if (row->kind == OPTION_BOOL) {
        const char *text = value->is_truth ? "true" : "false";
        return value_read_text(row, value->kind == TOML_KIND_BOOL ? text : "", checks, owner, err);
    }
    if (value->kind != TOML_KIND_STRING) {
        return wrong_kind(row, value->kind, err);
    }
    if (strlen(value->text) != value->text_length) {
        return err_set(err, -EINVAL, "%s.%s must not hold control characters or line ends",
                       row->section, row->key);
    }
    return value_read_text(row, value->text, checks, owner, err);
}

void value_free(const struct option_row *row, void *owner)
{
    void *member = (char *)owner + row->member;
    if (row->kind == OPTION_BOOL || row->kind == OPTION_AGE || row->kind == OPTION_PACE) {
        return;
    }
    if (row->kind == OPTION_WORDS) {
        char **words = *(char ***)member;
        for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
            free(words[i]);
        }
        free(words);
        return;
    }
    if ((row->flags & OPTION_LEGACY) == 0) { /* its member belongs to the row that replaced it */
        free(*(char **)member);
    }
}
