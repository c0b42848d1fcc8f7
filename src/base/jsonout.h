/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* JSON, written by appending (not named json_: jansson exports that). Commas and indentation are
 * the writer's business; the caller keeps begin and end in pairs (asserted). Unknown numbers (NaN,
 * infinities) are null. Strings are made valid: bad UTF-8 becomes U+FFFD. */
#ifndef BASE_JSONOUT_H
#define BASE_JSONOUT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define JSONOUT_DEPTH_MAX 32

struct jsonout {
    struct buf *out; /* borrowed */
    int indent;      /* blanks a level; 0 = one line without blanks, -1 = one line as Python's */
    bool is_ascii;   /* write non-ASCII as \uXXXX */
    /* private */
    int depth;
    bool has_member[JSONOUT_DEPTH_MAX];
    bool is_after_key;
};

void jsonout_begin_object(struct jsonout *json);
void jsonout_end_object(struct jsonout *json);
void jsonout_begin_array(struct jsonout *json);
void jsonout_end_array(struct jsonout *json);
void jsonout_key(struct jsonout *json, const char *key);
void jsonout_string(struct jsonout *json, const char *text); /* NULL = null */
void jsonout_string_bytes(struct jsonout *json, const char *text, size_t length);
void jsonout_number(struct jsonout *json, double value,
                    int decimals); /* -1: shortest that reads back */
/* Shortest that reads back, and with a point even when it is whole: "95.0". */
void jsonout_float(struct jsonout *json, double value);
void jsonout_int(struct jsonout *json, int64_t value);
void jsonout_bool(struct jsonout *json, bool value);
void jsonout_null(struct jsonout *json);

#endif
