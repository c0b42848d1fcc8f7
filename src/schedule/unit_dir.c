/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/unit_dir.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "schedule/units.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_DIR "/etc/systemd/system"
#define UNIT_SIZE_MAX ((size_t)1024 * 1024) /* ten years of clock changes, a line each */
#define UNITS_MAX 4096

void words_add(struct words *words, const char *word)
{
    words->word = mem_grow(words->word, words->count, &words->capacity, sizeof *words->word);
    words->word[words->count++] = mem_copy_text(word);
}

bool words_have(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->word[i], word) == 0) {
            return true;
        }
    }
    return false;
}

void words_drop(struct words *words, const char *word)
{
    size_t kept = 0;
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->word[i], word) == 0) {
            free(words->word[i]);
        } else {
            words->word[kept++] = words->word[i];
        }
    }
    words->count = kept;
}

void words_fini(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->word[i]);
    }
    free(words->word);
    *words = (struct words){0};
}

bool unit_is_of_report(const char *unit, const char *report, const char *suffix)
{
    size_t length = strlen(report);
    return text_starts(unit, UNITS_REPORT_PREFIX) &&
           strncmp(unit + strlen(UNITS_REPORT_PREFIX), report, length) == 0 &&
           strcmp(unit + strlen(UNITS_REPORT_PREFIX) + length, suffix) == 0;
}

bool unit_is_switched(const char *unit)
{
    return text_ends(unit, ".timer") || strcmp(unit, UNITS_SERVE ".service") == 0;
}

/* The part before ".service" or ".timer"; data NULL when it is neither. */
static struct span stem_of(const char *unit)
{
    static const char *const suffixes[] = {".service", ".timer"};
    for (size_t i = 0; i < 2; i++) {
        if (text_ends(unit, suffixes[i])) {
            return (struct span){unit, strlen(unit) - strlen(suffixes[i])};
        }
    }
    return (struct span){0};
}

/* The grammar of a report's name (GM-028). */
static bool is_report_name(struct span name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    for (size_t i = 0; i < name.length; i++) {
        if (memchr(allowed, name.data[i], sizeof allowed - 1) == NULL) {
            return false;
        }
    }
    return name.length >= 1 && name.length <= 32;
}

bool unit_is_ours(const char *unit)
{
    struct span stem = stem_of(unit);
    if (stem.data == NULL || strlen(unit) >= UNIT_NAME_SIZE) {
        return false;
    }
    if (span_equals(stem, UNITS_SERVE)) {
        return text_ends(unit, ".service");
    }
    if (span_equals(stem, UNITS_SAMPLE) || span_equals(stem, UNITS_LEGACY_REPORT)) {
        return true;
    }
    size_t prefix = strlen(UNITS_REPORT_PREFIX);
    return span_starts(stem, UNITS_REPORT_PREFIX) &&
           is_report_name((struct span){stem.data + prefix, stem.length - prefix});
}

char *unit_path(const char *unit)
{
    OWN_FREE char *path = mem_format(UNIT_DIR "/%s", unit);
    return file_rooted(path);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void unit_dir_list(const char *folder, struct words *out)
{
    OWN_DIR DIR *dir = opendir(folder);
    if (dir == NULL) {
        return;
    }
    size_t first = out->count;
    for (const struct dirent *entry = readdir(dir); entry != NULL && out->count < UNITS_MAX;
         entry = readdir(dir)) {
        if (entry->d_type != DT_DIR && unit_is_ours(entry->d_name)) {
            words_add(out, entry->d_name);
        }
    }
    if (out->count > first) {
        qsort(out->word + first, out->count - first, sizeof *out->word, compare_words);
    }
}

void unit_dir_installed(struct words *out)
{
    OWN_FREE char *folder = file_rooted(UNIT_DIR);
    unit_dir_list(folder, out);
}

bool unit_read(const char *unit, struct buf *out)
{
    OWN_FREE char *path = unit_path(unit);
    return file_read(path, UNIT_SIZE_MAX, out, NULL) == 0;
}

static bool user_of(const char *unit, char out[UNIT_USER_SIZE])
{
    OWN_BUF struct buf text = {0};
    if (!text_ends(unit, ".service") || !unit_read(unit, &text)) {
        return false;
    }
    struct span rest = span_of(buf_string(&text));
    struct span line;
    while (span_cut(&rest, '\n', &line)) {
        line = span_trim(line);
        if (span_starts(line, "User=") && line.length > 5 && line.length - 5 < UNIT_USER_SIZE) {
            text_clean(out, UNIT_USER_SIZE, line.data + 5, line.length - 5);
            return true;
        }
    }
    return false;
}

bool unit_dir_user(char out[UNIT_USER_SIZE])
{
    if (user_of(UNITS_SAMPLE ".service", out)) {
        return true;
    }
    OWN_WORDS struct words installed = {0};
    unit_dir_installed(&installed);
    for (size_t i = 0; i < installed.count; i++) {
        if (user_of(installed.word[i], out)) {
            return true;
        }
    }
    return false;
}

void unit_dir_user_units(const char *home, struct words *out)
{
    OWN_FREE char *folder = mem_format("%s/.config/systemd/user", home);
    OWN_WORDS struct words found = {0};
    unit_dir_list(folder, &found);
    for (size_t i = 0; i < found.count; i++) {
        if (!words_have(out, found.word[i])) {
            words_add(out, found.word[i]);
        }
    }
}
