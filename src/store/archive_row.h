/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Bytes of a CSV file to rows. A line is a row: a name never holds a line end, and a torn quote
 * must not swallow the lines behind it. Takes LF and CRLF, a byte order mark, quotes, `35` and
 * `35.0`, further columns, any order of columns by the header. What is not ours (semicolons, CR
 * alone, another header) is refused whole; a bad row costs only itself and is counted. */
#ifndef STORE_ARCHIVE_ROW_H
#define STORE_ARCHIVE_ROW_H

#include "base/text.h"
#include "model/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCHIVE_HEADER "timestamp,gpu_index,gpu_uuid,gpu_name,util_gpu"
#define ARCHIVE_NO_VALUE (-1)
#define ARCHIVE_MICRO_MAX INT64_C(100000000) /* 100 % */

enum archive_column {
    ARCHIVE_TIMESTAMP,
    ARCHIVE_INDEX,
    ARCHIVE_UUID,
    ARCHIVE_GPU_NAME,
    ARCHIVE_UTIL,
    ARCHIVE_COLUMN_COUNT
};

struct archive_row {
    struct span field[ARCHIVE_COLUMN_COUNT]; /* as they stand there, without quotes and blanks */
    int64_t time_s;                          /* UTC */
    int32_t index;
    int64_t micro; /* percent × 1e6, or ARCHIVE_NO_VALUE */
};

typedef void archive_row_fn(void *arg, const struct archive_row *row);

struct archive_rows {
    archive_row_fn *sink;
    void *sink_arg;
    int64_t skipped;    /* torn and malformed lines so far */
    bool is_only_usual; /* the header has our five columns and no other */
    bool is_fast_off;   /* for tests: every row by the general way */
    /* private */
    bool has_header, is_plain, has_midnight;
    size_t width;
    size_t column[ARCHIVE_COLUMN_COUNT];
    char date[10], offset[6]; /* of the last row, with the instant of its midnight */
    int64_t midnight_s;
};

/* 1 to 95 printable letters without blanks. */
bool archive_is_uuid(struct span text);

void archive_rows_init(struct archive_rows *rows, archive_row_fn *sink, void *sink_arg);

/* Hands every whole line of `data` to the sink and says in `*used` how many bytes those were; the
 * rest comes again in front of the next piece. With `is_end` a line without its end is torn:
 * counted, not used. -EBADMSG: not our file. The bytes must be writable. */
int archive_rows_parse(struct archive_rows *rows, char *data, size_t length, bool is_end,
                       size_t *used);

#endif
