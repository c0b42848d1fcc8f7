/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One file of the folder through the parser of rows, in pieces, under a limit; and a set of rows
 * seen, for the day of which a merged file and single files are both there. */
#ifndef STORE_ARCHIVE_FILE_H
#define STORE_ARCHIVE_FILE_H

#include "store/archive_row.h"

#include <sys/stat.h>

#define ARCHIVE_SAMPLE_LIMIT ((int64_t)4 << 20)
#define ARCHIVE_DAY_LIMIT ((int64_t)256 << 20)
#define ARCHIVE_LINE_LIMIT ((size_t)64 << 10)

struct archive_file {
    int dir_fd; /* borrowed */
    char *buffer;
};

void archive_file_init(struct archive_file *file, int dir_fd);
void archive_file_fini(struct archive_file *file);

/* Every row of a file to rows->sink. `*out_status` is how the file was before it was read.
 * -EBADMSG: not our content; -EFBIG: larger than the limit; -EINVAL: not a regular file; others as
 * the system says. Rows handed over before an error stay handed over. */
int archive_file_rows(struct archive_file *file, const char *name, int64_t limit_bytes,
                      struct archive_rows *rows, struct stat *out_status);

/* 64-bit fingerprints; archive_seen_fini when done. */
struct archive_seen {
    uint64_t *slot;
    size_t count, slot_count;
};
void archive_seen_add(struct archive_seen *seen, const struct archive_row *row);
bool archive_seen_has(const struct archive_seen *seen, const struct archive_row *row);
void archive_seen_clear(struct archive_seen *seen);
void archive_seen_fini(struct archive_seen *seen);

#endif
