/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* JSON, written by appending. Commas and indentation are the writer's business; the caller keeps
 * begin and end in pairs (asserted). Unknown numbers (NaN, infinities) are null. Strings are made
 * valid: bad UTF-8 becomes U+FFFD. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 32

struct json {
    struct buf *out; /* borrowed */
    int indent;      /* blanks a level; 0 = one line without blanks, -1 = one line as Python's */
    bool is_ascii;   /* write non-ASCII as \uXXXX */
    /* private */
    int depth;
    bool has_member[JSON_DEPTH_MAX];
    bool is_after_key;
};

void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);
void json_key(struct json *json, const char *key);
void json_string(struct json *json, const char *text); /* NULL = null */
void json_string_bytes(struct json *json, const char *text, size_t length);
void json_number(struct json *json, double value, int decimals); /* -1: shortest that reads back */
void json_int(struct json *json, int64_t value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

#endif
