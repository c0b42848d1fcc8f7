/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/options.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define IN_CONFIG(member) offsetof(struct config, member)
#define IN_REPORT(member) offsetof(struct config_report, member)

static const struct option_row rows[] = {
#define OPTION(id, section, key, kind, member, fallback, words, least, most, flags, help)          \
    {section, key, fallback, words, help, member, least, most, OPTION_##kind, flags},
#include "config/options.def"
#undef OPTION
};

const struct option_row *option_get(size_t index)
{
    assert(index < OPTION_COUNT);
    return &rows[index];
}

const struct option_row *option_find(const char *section, const char *key)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(rows[i].section, section) == 0 && strcmp(rows[i].key, key) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

bool option_is_section(const char *section)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(rows[i].section, section) == 0) {
            return true;
        }
    }
    return false;
}

const char *option_nearest_key(const char *section, const char *key)
{
    const char *words[OPTION_COUNT + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(rows[i].section, section) == 0 && (rows[i].flags & OPTION_LEGACY) == 0) {
            words[count++] = rows[i].key;
        }
    }
    return text_nearest(key, words);
}

const char *option_nearest_section(const char *section)
{
    const char *words[OPTION_COUNT + 1] = {NULL};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        words[i] = rows[i].section;
    }
    return text_nearest(section, words);
}

static void add_duration(struct buf *out, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    size_t i = 0;
    while (seconds % units[i].seconds != 0) {
        i++;
    }
    buf_format(out, "%" PRId64 "%c", seconds / units[i].seconds, units[i].unit);
}

static void add_words(struct buf *out, char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        buf_format(out, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
}

static void add_value(struct buf *out, const struct option_row *row, const char *member)
{
    switch (row->kind) {
    case OPTION_BOOL:
        buf_text(out, *(const bool *)(const void *)member ? "true" : "false");
        return;
    case OPTION_AGE: {
        int64_t seconds = *(const int64_t *)(const void *)member;
        if (seconds < 0) {
            buf_text(out, "never");
        } else {
            add_duration(out, seconds);
        }
        return;
    }
    case OPTION_PACE: {
        int64_t pace_ns = *(const int64_t *)(const void *)member;
        if (pace_ns == 0) {
            buf_text(out, "off");
        } else {
            buf_format(out, "%gs", (double)pace_ns / 1e9);
        }
        return;
    }
    case OPTION_WORDS:
        add_words(out, *(char *const *const *)(const void *)member);
        return;
    case OPTION_TEXT:
    case OPTION_ZONE:
    case OPTION_URL:
    case OPTION_FOLDER:
    case OPTION_FILE:
    case OPTION_DURATION:
    case OPTION_NAME:
    case OPTION_CRON:
    case OPTION_CLOCK:
    case OPTION_WINDOW:
    case OPTION_WORD: {
        const char *text = *(const char *const *)(const void *)member;
        buf_text(out, text != NULL ? text : "");
        return;
    }
    }
}

static void show(const struct option_row *row, const struct config *config,
                 const struct config_report *report, option_value_fn *each, void *arg)
{
    const char *owner = report != NULL ? (const char *)report : (const char *)config;
    const int *lines = report != NULL ? report->option_line : config->option_line;
    OWN_BUF struct buf text = {0};
    add_value(&text, row, owner + row->member);
    if ((row->flags & OPTION_SECRET) != 0) {
        bool is_set = text.length > 0;
        if (is_set) {
            explicit_bzero(text.data, text.length);
        }
        buf_clear(&text);
        buf_text(&text, is_set ? "(set)" : "(not set)");
    }
    struct option_value value = {row, report, buf_string(&text), lines[row - rows]};
    each(arg, &value);
}

void option_each_value(const struct config *config, option_value_fn *each, void *arg)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strcmp(rows[i].section, "report") != 0) {
            show(&rows[i], config, NULL, each, arg);
        }
    }
    for (size_t r = 0; r < config->report_count; r++) {
        for (size_t i = 0; i < OPTION_COUNT; i++) {
            if (strcmp(rows[i].section, "report") == 0 && (rows[i].flags & OPTION_LEGACY) == 0) {
                show(&rows[i], config, &config->report[r], each, arg);
            }
        }
    }
}
