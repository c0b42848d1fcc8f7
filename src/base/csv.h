/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Comma-separated values, RFC 4180 as Python's csv reads and writes it: quotes double inside
 * quotes, LF or CRLF ends a row. The reader works in place on bytes it does not own and never
 * allocates beyond its fields. */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/buf.h"
#include "base/text.h"

#include <stdbool.h>

#define CSV_FIELDS_MAX 512

struct csv_row {
    struct span field[CSV_FIELDS_MAX]; /* content without quotes; doubled quotes are undone */
    size_t count;
    bool is_ended;     /* the row was closed by a line end; false = the text stopped first */
    bool is_malformed; /* text after a closing quote, an open quote, or too many fields */
};

/* Reads the row at `*rest` (which moves on); false at the end of the text. `bytes` is changed
 * where doubled quotes are undone, so it must be writable. */
bool csv_read(char **rest, char *end, struct csv_row *row);

/* Adds one field, quoted only where RFC 4180 asks for it; the caller adds ',' and the line end. */
void csv_field(struct buf *out, const char *text);

#endif
