/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The inside of archive_read: which files a window asks for, and what each of them added. */
#ifndef STORE_ARCHIVE_READ_H
#define STORE_ARCHIVE_READ_H

#include "store/archive.h"
#include "store/archive_day.h"
#include "store/archive_file.h"
#include "store/archive_list.h"
#include "store/archive_sum.h"

#define ARCHIVE_NAMED_MAX 20 /* unreadable files that are named */

/* Windows from here on are dealt out by quarters of an hour, and may use the day cache. */
#define ARCHIVE_LONG_S (INT64_C(2) * 86400)

/* Of cached days, the newest ones with this many files together have the stamps of all their files
 * compared each time (1.3 µs a file); older ones when the last time was an hour ago. */
#define ARCHIVE_VERIFY_FILES 5000
#define ARCHIVE_VERIFY_S 3600

/* Times of names, as if they were UTC, both inclusive. `wide` has room for every other zone. */
struct archive_span {
    int64_t from_s, to_s;
    int64_t wide_from_s, wide_to_s;
};
struct archive_span archive_span_of(const struct zone *zone, int64_t from_s, int64_t to_s);

struct archive_reading {
    const struct archive_request *request;
    struct archive_result *result;
    struct archive_file file;
    struct archive_rows rows;
    struct archive_seen seen; /* rows of the merged file of the day at hand */
    struct archive_sum total;
    struct archive_sum day; /* the day at hand, where `is_by_day` */
    bool is_by_day;         /* rows go to `day` first */
    bool is_merged;         /* the file at hand is a merged one */
    bool is_day_whole;      /* all rows of the day at hand lie in the window and the slots */
    int64_t rows_in_window; /* of the file at hand */
    struct stat status;     /* of the file at hand, before it was read */
    struct archive_days days;
    bool has_cache;
    int64_t start_ns;        /* in the time of file stamps */
    int64_t newest_stamp_ns; /* of the files of the day at hand */
    uint64_t samples_stamp, merged_stamp;
    int64_t files_before, skipped_before; /* the result's counts when the day began */
    bool is_stale;                        /* a file went away after the folder was listed */
    int64_t zone_time_s;                  /* what the name at hand says in today's zone, … */
    bool is_zone_checked;                 /* … whether rows are compared with it, … */
    bool is_zone_foreign;                 /* … and whether one did not agree */
    int64_t done, all;                    /* files, for request->progress */
};

/* Reads one file into the sums; what is unreadable is counted and named. */
void archive_reading_file(struct archive_reading *reading, const char *name, int64_t limit_bytes);

/* Answers a whole day from the cache; false: it must be read. */
bool archive_reading_from_cache(struct archive_reading *reading, const struct archive_list_day *day,
                                bool is_newest);

/* Called around the reading of a whole day: adds it to the total, and keeps it when it is over. */
void archive_reading_begin_day(struct archive_reading *reading, const struct archive_list_day *day);
void archive_reading_end_day(struct archive_reading *reading, const struct archive_list_day *day,
                             int32_t newest_day);

/* A word that changes whenever a file is written to. */
uint64_t archive_stamp(uint32_t key, const struct stat *status);

#endif
