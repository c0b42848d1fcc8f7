/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Rows gathered to be written again as one file: fields word for word, in time order. The caller
 * owns the struct (= {0}) and ends it with archive_lines_fini. */
#ifndef STORE_ARCHIVE_LINES_H
#define STORE_ARCHIVE_LINES_H

#include "base/buf.h"
#include "store/archive_row.h"

struct archive_line {
    int64_t time_s;
    size_t at, length; /* in `text` */
};

struct archive_lines {
    struct archive_line *line;
    size_t count, capacity;
    struct buf text;
};

void archive_lines_add(struct archive_lines *lines, const struct archive_row *row);
void archive_lines_cut(struct archive_lines *lines, size_t count); /* forgets the later ones */

/* Header and lines by time; lines of one second stay in the order they were added. */
void archive_lines_format(struct archive_lines *lines, struct buf *out);
void archive_lines_clear(struct archive_lines *lines);
void archive_lines_fini(struct archive_lines *lines);

#endif
