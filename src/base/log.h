/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What the program says about itself, on stderr. The only global state we have is the level.
 * Library folders never log above debug; cmd/ and sampler/ decide what a person sees. Under systemd
 * (JOURNAL_STREAM set) lines carry the journal's priority prefix. Safe from several threads. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_level(enum log_level level);
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
