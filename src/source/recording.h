/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Recordings: what sources said, as JSON Lines (docs/recording.md), so that a bug report becomes a
 * test. A file holds snapshots, and beside them the text that was parsed to get them. Values stand
 * under the keys of metrics.def, so files outlive reordering; unknown keys and lines that cannot be
 * read are passed over and counted. */
#ifndef SOURCE_RECORDING_H
#define SOURCE_RECORDING_H

#include "base/buf.h"
#include "base/err.h"
#include "model/snapshot.h"

#include <stdio.h>

#define RECORDING_VERSION 1
#define RECORDING_LINE_MAX ((size_t)16 * 1024 * 1024) /* bytes; a longer line is not read */

/* Each adds one whole line with its end. */
void recording_format_header(struct buf *out);
void recording_format_snapshot(const struct snapshot *snapshot, struct buf *out);
void recording_format_text(int64_t time_ns, const char *origin, const char *text, size_t length,
                           struct buf *out);

enum recording_kind { RECORDING_HEADER, RECORDING_SNAPSHOT, RECORDING_TEXT, RECORDING_OTHER };

struct recording_line {
    enum recording_kind kind;
    int version;               /* of a header */
    int64_t time_ns;           /* of a snapshot or a text */
    struct snapshot *snapshot; /* the caller's */
    char *origin;              /* the caller's, as text */
    struct buf text;
};
void recording_line_fini(struct recording_line *line);

/* One line without its end. -EINVAL when it is not JSON or not a line of a recording. */
int recording_parse_line(const char *text, size_t length, struct recording_line *out,
                         struct err *err);

/* The next readable line of the file; 1 = there was one, 0 = the end. `*number` counts lines,
 * `*bad` those that were passed over (a torn last one too). */
int recording_next(FILE *file, int64_t *number, int64_t *bad, struct recording_line *out);

#endif
