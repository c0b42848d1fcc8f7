/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* GM's CSV folder: one file a sample, readable by the Python predecessor and by spreadsheets
 * (GM-003 … GM-014). docs/format.md describes it, the day cache and merged days. Files are bytes
 * from outside: what is torn or foreign is read around, counted and named, never fatal.
 * Everything of ours that is not a sample lives in <csv_dir>/.gpumanager/. */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include "base/err.h"
#include "base/zone.h"
#include "model/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes one sample of all GPUs of the snapshot (MIG instances without utilization of their own
 * are left out). The file name is local time; when it is taken (two samples in a second, the
 * repeated autumn hour) "-2", "-3", … is added. `*out_path` is the caller's, `*out_rows` the rows
 * written. */
int archive_write(const char *csv_dir, const struct snapshot *snapshot, const struct zone *zone,
                  char **out_path, size_t *out_rows, struct err *err);

struct archive_bucket {
    int64_t sum_micro; /* percent × 1e6: integer, so that the order of adding does not matter */
    int64_t count;
};

struct archive_gpu {
    char uuid[GPU_UUID_SIZE];
    char name[GPU_NAME_SIZE];
    int index;                /* of its latest sample in the window */
    int64_t first_s, last_s;  /* times of its first and latest sample in the window */
    int64_t sum_micro, count; /* over samples with a value */
    int64_t sample_count;     /* samples with or without a value */
    int64_t min_micro, max_micro;
    struct archive_bucket *bucket; /* request->bucket_count of them, equal parts of the window */
};

struct archive_result {
    struct archive_gpu *gpu; /* sorted by index, then uuid */
    size_t gpu_count;
    int64_t file_count;    /* files with at least one row in the window */
    int64_t skipped_lines; /* torn or malformed */
    char **unreadable;     /* names of foreign or unreadable files, the first 20 */
    int64_t unreadable_count;
    int64_t opened_count; /* files opened to answer: what the cache saves */
};

struct archive_request {
    const char *csv_dir;
    const struct zone *zone;
    int64_t from_s, to_s; /* UTC seconds, both inclusive */
    size_t bucket_count;  /* 0 = none */
    bool is_cache_off;    /* neither read nor write the day cache */
    void (*progress)(void *arg, int64_t done, int64_t all); /* may be NULL */
    void *progress_arg;
};

/* A folder that does not exist is an empty archive. */
int archive_read(const struct archive_request *request, struct archive_result *out,
                 struct err *err);
void archive_result_fini(struct archive_result *result);

/* Merges finished local days that ended before `before_s` into one file a day with the same
 * columns, then removes the single files. Reports give the same figures before and after. Files
 * that are not wholly understood (foreign, torn, with further columns) are left as they are. A
 * failure leaves finished days merged and the others as they were. */
struct archive_compacted {
    int64_t days, files_before, bytes_before, bytes_after;
    int64_t left_files;  /* not merged, see above */
    char left_name[256]; /* one of them, "" when there is none */
};
int archive_compact(const struct archive_request *request, int64_t before_s,
                    struct archive_compacted *out, struct err *err);

/* Samples in [from_s, to_s] by the local time in their file name, both ends inclusive (GM-081): how
 * many files, and their removal. Rows of merged files inside the range are removed by rewriting
 * the file, which counts as one; a merged file that is not wholly understood is left alone. */
int archive_count(const struct archive_request *request, int64_t *out_files, struct err *err);
int archive_delete(const struct archive_request *request, int64_t *out_files, struct err *err);

#endif
