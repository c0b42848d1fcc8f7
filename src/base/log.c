/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic int log_level = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
    atomic_store(&log_level, (int)level);
}

static void log_line(enum log_level level, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void log_line(enum log_level level, const char *format, va_list args)
{
    static const char *const names[] = {"Error: ", "Warning: ", "", "debug: "};
    static const char *const priorities[] = {"<3>", "<4>", "<6>", "<7>"};
    if ((int)level > atomic_load(&log_level)) {
        return;
    }
    char text[2048];
    (void)vsnprintf(text, sizeof text, format, args);
    /* Control characters from outside must not steer a terminal or forge a second line. */
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *at = ' ';
        }
    }
    bool is_journal = getenv("JOURNAL_STREAM") != NULL;
    (void)fprintf(stderr, "%s%s%s\n", is_journal ? priorities[level] : "", names[level], text);
}

#define LOG_FUNCTION(name, level)                                                                  \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        log_line(level, format, args);                                                             \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
