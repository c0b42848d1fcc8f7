/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/csv.h"

#include <string.h>

/* A quoted field: `at` is behind the opening quote. Returns behind the closing one. */
static char *read_quoted(char *at, char *end, struct span *field, bool *is_malformed)
{
    char *to = at;
    field->data = at;
    while (at < end) {
        if (*at == '"') {
            if (at + 1 < end && at[1] == '"') {
                at++;
            } else {
                field->length = (size_t)(to - field->data);
                return at + 1;
            }
        }
        *to++ = *at++;
    }
    *is_malformed = true;
    field->length = (size_t)(to - field->data);
    return at;
}

static char *read_plain(char *at, char *end, struct span *field)
{
    field->data = at;
    while (at < end && *at != ',' && *at != '\n' && *at != '\r') {
        at++;
    }
    field->length = (size_t)(at - field->data);
    return at;
}

static void add_field(struct csv_row *row, struct span field)
{
    if (row->count == CSV_FIELDS_MAX) {
        row->is_malformed = true;
        return;
    }
    row->field[row->count++] = field;
}

bool csv_read(char **rest, char *end, struct csv_row *row)
{
    char *at = *rest;
    if (at >= end) {
        return false;
    }
    row->count = 0;
    row->is_ended = false;
    row->is_malformed = false;
    for (;;) {
        struct span field = {0};
        bool is_quoted = at < end && *at == '"';
        at = is_quoted ? read_quoted(at + 1, end, &field, &row->is_malformed)
                       : read_plain(at, end, &field);
        add_field(row, field);
        if (is_quoted && at < end && *at != ',' && *at != '\n' && *at != '\r') {
            row->is_malformed = true;
            struct span junk;
            at = read_plain(at, end, &junk);
        }
        if (at >= end) {
            break;
        }
        if (*at == ',') {
            at++;
            continue;
        }
        row->is_ended = true;
        at += *at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1;
        break;
    }
    *rest = at;
    return true;
}

void csv_field(struct buf *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        buf_text(out, text);
        return;
    }
    buf_char(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            buf_char(out, '"');
        }
        buf_char(out, *text);
    }
    buf_char(out, '"');
}
