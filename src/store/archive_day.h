/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The day cache: what a finished day of files adds up to, so that a report over months need not
 * open them again. One file a month in <csv_dir>/.gpumanager/days/, replaced whole, safe to delete,
 * read as if an enemy wrote it. A record counts only as long as the day's folder entries and the
 * stamps of its files are those that it was made from. The caller owns the struct; days are asked
 * for in ascending order, so that each month is read and written once. */
#ifndef STORE_ARCHIVE_DAY_H
#define STORE_ARCHIVE_DAY_H

#include "base/buf.h"
#include "store/archive_sum.h"

#define ARCHIVE_DAY_SLOTS_MAX 400
#define ARCHIVE_MONTH_DAYS 31

/* What a day was made of and what it holds besides the sums. */
struct archive_day {
    int32_t day;
    uint32_t entry_count;   /* files, a merged one included */
    uint64_t entries_hash;  /* of names and inodes: struct archive_list_day */
    uint64_t samples_stamp; /* of sizes and times of the single files */
    uint64_t merged_stamp;  /* of the merged file; 0 without one */
    int64_t verified_s;     /* when the stamps of all single files were last seen to be these */
    int64_t file_count, skipped_lines;
    int64_t first_s, last_s; /* of its rows; first > last when it has none */
};

struct archive_days {
    int dir_fd;    /* of csv_dir, borrowed; -1 = no cache */
    int64_t month; /* year × 12 + month - 1 of what is loaded, -1 = nothing */
    struct buf record[ARCHIVE_MONTH_DAYS];
    bool is_changed;
};

void archive_days_init(struct archive_days *days, int dir_fd);

/* False: there is none. */
bool archive_days_find(struct archive_days *days, int32_t day, struct archive_day *out);

/* Adds the sums of a day that was found to `to`; false (and nothing added) when they make no sense.
 */
bool archive_days_add_to(struct archive_days *days, int32_t day, struct archive_sum *to);

/* `sum` has CELL_SLOTS. */
void archive_days_put(struct archive_days *days, const struct archive_day *day,
                      const struct archive_sum *sum);
void archive_days_set_verified(struct archive_days *days, int32_t day, int64_t verified_s);

/* Writes what changed (a folder that cannot be written to is no error) and releases the memory. */
void archive_days_close(struct archive_days *days);

/* The inside of reading, for tests: takes the bytes of the month file of `day`, and the checksum
 * that its head must carry for what follows the head. */
void archive_days_load(struct archive_days *days, int32_t day, const void *bytes, size_t length);
uint64_t archive_days_checksum(const void *bytes, size_t length);
#define ARCHIVE_MONTH_HEAD 24

/* A descriptor of <csv_dir>/.gpumanager or, with `inner`, a folder in it, made when missing; made
 * by root it belongs to the owner of csv_dir. Negative errno when it cannot be had. */
int archive_open_own(int csv_dir_fd, const char *inner);

/* Compacting and deleting take files away under an exclusive lock; readers hold a shared one, so
 * that they never see a day half merged. The descriptor is the lock. Readers get -1 where nothing
 * was ever compacted, or when the lock is not to be had within seconds: they go on without. */
int archive_lock_shared(int csv_dir_fd);
int archive_lock_exclusive(int csv_dir_fd, struct err *err);

#endif
