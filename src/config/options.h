/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The rows of options.def, to walk over: for `config show`, documents and suggestions. Constant,
 * for any thread. */
#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include "config/config.h"

enum option_kind {
    OPTION_TEXT,
    OPTION_BOOL,
    OPTION_ZONE,
    OPTION_URL,
    OPTION_FOLDER,
    OPTION_FILE,
    OPTION_DURATION,
    OPTION_AGE,  /* a duration or "never" */
    OPTION_PACE, /* "500ms", "0.5s", "10s", "2m"; "off" where the least is 0; kept in ns */
    OPTION_NAME,
    OPTION_CRON,
    OPTION_CLOCK, /* "09:00" */
    OPTION_WINDOW,
    OPTION_WORD,
    OPTION_WORDS, /* a list of words: those of the row, or any where it has none */
};

enum option_flag { OPTION_SECRET = 1, OPTION_LIVE = 2, OPTION_LEGACY = 4 };

enum option_id {
#define OPTION(id, ...) OPTION_ID_##id,
#include "config/options.def"
#undef OPTION
    OPTION_COUNT,
};

struct option_row {
    const char *section;
    const char *key;
    const char *fallback;
    const char *words; /* allowed ones with | between, or NULL */
    const char *help;
    size_t member;       /* offset in struct config, or in struct config_report for "report" */
    int64_t least, most; /* of a pace: milliseconds */
    enum option_kind kind;
    unsigned flags; /* enum option_flag */
};

/* Borrowed; index < OPTION_COUNT, in the order of options.def. */
const struct option_row *option_get(size_t index);

/* NULL when there is none. */
const struct option_row *option_find(const char *section, const char *key);
bool option_is_section(const char *section);

/* The key of the section that was probably meant, or NULL. */
const char *option_nearest_key(const char *section, const char *key);
const char *option_nearest_section(const char *section);

/* An effective value. `line` is that of the file, 0 for a default; `report` is NULL outside
 * [[report]]. The value is as a person would write it; a secret is "(set)" or "(not set)". */
struct option_value {
    const struct option_row *row;
    const struct config_report *report;
    const char *text; /* borrowed for the call */
    int line;
};

typedef void option_value_fn(void *arg, const struct option_value *value);

/* Calls `each` for every option of the configuration, legacy ones left out. */
void option_each_value(const struct config *config, option_value_fn *each, void *arg);

#endif
