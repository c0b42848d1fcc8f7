/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_lines.h"

#include "base/csv.h"
#include "base/mem.h"

#include <stdlib.h>

static void add_field(struct buf *out, struct span field)
{
    OWN_BUF struct buf word = {0};
    buf_add(&word, field.data, field.length);
    csv_field(out, buf_string(&word));
}

void archive_lines_add(struct archive_lines *lines, const struct archive_row *row)
{
    size_t start = lines->text.length;
    for (size_t i = 0; i < ARCHIVE_COLUMN_COUNT; i++) {
        add_field(&lines->text, row->field[i]);
        buf_char(&lines->text, i + 1 < ARCHIVE_COLUMN_COUNT ? ',' : '\n');
    }
    lines->line = mem_grow(lines->line, lines->count, &lines->capacity, sizeof *lines->line);
    lines->line[lines->count++] = (struct archive_line){
        .time_s = row->time_s, .at = start, .length = lines->text.length - start};
}

void archive_lines_cut(struct archive_lines *lines, size_t count)
{
    if (count < lines->count) {
        lines->text.length = lines->line[count].at;
        lines->count = count;
    }
}

static int compare_lines(const void *a, const void *b)
{
    const struct archive_line *first = a;
    const struct archive_line *second = b;
    if (first->time_s != second->time_s) {
        return first->time_s < second->time_s ? -1 : 1;
    }
    return (first->at > second->at) - (first->at < second->at);
}

void archive_lines_format(struct archive_lines *lines, struct buf *out)
{
    if (lines->count > 1) {
        qsort(lines->line, lines->count, sizeof *lines->line, compare_lines);
    }
    buf_text(out, ARCHIVE_HEADER "\n");
    for (size_t i = 0; i < lines->count; i++) {
        buf_add(out, lines->text.data + lines->line[i].at, lines->line[i].length);
    }
}

void archive_lines_clear(struct archive_lines *lines)
{
    buf_clear(&lines->text);
    lines->count = 0;
}

void archive_lines_fini(struct archive_lines *lines)
{
    buf_fini(&lines->text);
    free(lines->line);
    *lines = (struct archive_lines){0};
}
