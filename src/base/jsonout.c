/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/jsonout.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void new_line(struct jsonout *json)
{
    if (json->indent <= 0) {
        return;
    }
    buf_char(json->out, '\n');
    for (int i = 0; i < json->depth * json->indent; i++) {
        buf_char(json->out, ' ');
    }
}

/* What stands before a value or a key: a comma and a new line, or nothing. */
static void separate(struct jsonout *json)
{
    if (json->is_after_key) {
        json->is_after_key = false;
        return;
    }
    if (json->depth == 0) {
        return;
    }
    if (json->has_member[json->depth - 1]) {
        buf_text(json->out, json->indent == -1 ? ", " : ",");
    }
    json->has_member[json->depth - 1] = true;
    new_line(json);
}

static void begin(struct jsonout *json, char c)
{
    separate(json);
    assert(json->depth < JSONOUT_DEPTH_MAX);
    buf_char(json->out, c);
    json->has_member[json->depth] = false;
    json->depth++;
}

static void end(struct jsonout *json, char c)
{
    assert(json->depth > 0 && !json->is_after_key);
    json->depth--;
    if (json->has_member[json->depth]) {
        new_line(json);
    }
    buf_char(json->out, c);
}

void jsonout_begin_object(struct jsonout *json)
{
    begin(json, '{');
}

void jsonout_end_object(struct jsonout *json)
{
    end(json, '}');
}

void jsonout_begin_array(struct jsonout *json)
{
    begin(json, '[');
}

void jsonout_end_array(struct jsonout *json)
{
    end(json, ']');
}

void jsonout_key(struct jsonout *json, const char *key)
{
    jsonout_string(json, key);
    buf_text(json->out, json->indent == 0 ? ":" : ": ");
    json->is_after_key = true;
}

static unsigned decode(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned code = length == 2 ? bytes[0] & 0x1fU : length == 3 ? bytes[0] & 0x0fU : bytes[0] & 7U;
    for (size_t i = 1; i < length; i++) {
        code = code << 6 | (bytes[i] & 0x3fU);
    }
    return code;
}

static void escape_code(struct buf *out, unsigned code)
{
    if (code >= 0x10000) {
        code -= 0x10000;
        buf_format(out, "\\u%04x\\u%04x", 0xd800U + (code >> 10), 0xdc00U + (code & 0x3ffU));
        return;
    }
    buf_format(out, "\\u%04x", code);
}

static void escape_ascii(struct buf *out, char c)
{
    static const char letters[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    const char *at = c != '\0' ? strchr(letters, c) : NULL;
    if (at != NULL) {
        buf_char(out, '\\');
        buf_char(out, names[at - letters]);
        return;
    }
    escape_code(out, (unsigned char)c);
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\' && (unsigned char)c < 0x7f;
}

void jsonout_string_bytes(struct jsonout *json, const char *text, size_t length)
{
    separate(json);
    struct buf *out = json->out;
    buf_char(out, '"');
    size_t at = 0;
    while (at < length) {
        size_t run = at;
        while (run < length && is_plain(text[run])) {
            run++;
        }
        buf_add(out, text + at, run - at);
        at = run;
        if (at == length) {
            break;
        }
        size_t step = text_utf8_length(text + at, length - at);
        if (step == 1) {
            escape_ascii(out, text[at]);
        } else if (step == 0) {
            buf_text(out, "\\ufffd");
        } else if (json->is_ascii) {
            escape_code(out, decode(text + at, step));
        } else {
            buf_add(out, text + at, step);
        }
        at += step == 0 ? 1 : step;
    }
    buf_char(out, '"');
}

void jsonout_string(struct jsonout *json, const char *text)
{
    if (text == NULL) {
        jsonout_null(json);
        return;
    }
    jsonout_string_bytes(json, text, strlen(text));
}

void jsonout_number(struct jsonout *json, double value, int decimals)
{
    if (!isfinite(value)) {
        jsonout_null(json);
        return;
    }
    char text[400];
    if (decimals >= 0) {
        (void)snprintf(text, sizeof text, "%.*f", decimals, value);
    } else {
        for (int precision = 15; precision <= 17; precision++) {
            (void)snprintf(text, sizeof text, "%.*g", precision, value);
            if (strtod(text, NULL) == value) {
                break;
            }
        }
    }
    separate(json);
    buf_text(json->out, text);
}

void jsonout_float(struct jsonout *json, double value)
{
    if (fabs(value) < 1e15 && value == trunc(value)) {
        separate(json);
        buf_format(json->out, "%.1f", value);
        return;
    }
    jsonout_number(json, value, -1);
}

void jsonout_int(struct jsonout *json, int64_t value)
{
    separate(json);
    buf_format(json->out, "%lld", (long long)value);
}

void jsonout_bool(struct jsonout *json, bool value)
{
    separate(json);
    buf_text(json->out, value ? "true" : "false");
}

void jsonout_null(struct jsonout *json)
{
    separate(json);
    buf_text(json->out, "null");
}
