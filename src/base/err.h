/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A sentence for a person, beside the errno for the program. The caller owns the struct; every
 * function that takes one accepts NULL. Initialise with = {0}. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>

#define ERR_TEXT_SIZE 1024

struct err {
    int code; /* 0, or the negative errno of the last err_set */
    char text[ERR_TEXT_SIZE];
};

/* Stores the sentence and returns `code` (a negative errno), so that it ends a function:
 * return err_set(err, -EINVAL, "retention '%s': expected a duration like 30d", text); */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As err_set, with ": <text of errno>" added. `code` is a negative errno. */
int err_errno(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts words before the sentence that is there: "config.toml: " + "line 3: …". */
void err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The system's name for a positive or negative errno; thread-safe. */
const char *err_name(int code);

#endif
