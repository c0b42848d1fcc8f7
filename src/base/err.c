/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

const char *err_name(int code)
{
    const char *text = strerrordesc_np(code < 0 ? -code : code);
    return text != NULL ? text : "unknown error";
}

int err_set(struct err *err, int code, const char *format, ...)
{
    if (err == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->code = code;
    return code;
}

int err_errno(struct err *err, int code, const char *format, ...)
{
    if (err == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    size_t at = length < 0 ? 0 : (size_t)length;
    if (at < sizeof err->text) {
        (void)snprintf(err->text + at, sizeof err->text - at, ": %s", err_name(code));
    }
    err->code = code;
    return code;
}

void err_prefix(struct err *err, const char *format, ...)
{
    if (err == NULL) {
        return;
    }
    char rest[ERR_TEXT_SIZE];
    memcpy(rest, err->text, sizeof rest);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    size_t at = length < 0 ? 0 : (size_t)length;
    if (at < sizeof err->text) {
        size_t room = sizeof err->text - at - 1;
        size_t take = strnlen(rest, room);
        memcpy(err->text + at, rest, take);
        err->text[at + take] = '\0';
    }
}
