/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What lies in the folder, by day: half a million names a year, so four bytes a sample and no
 * sorting of the whole. `entries_hash` says which names with which inodes a day has: it changes
 * with every file that is added, removed, renamed or replaced. The caller owns the list (= {0}). */
#ifndef STORE_ARCHIVE_LIST_H
#define STORE_ARCHIVE_LIST_H

#include "base/err.h"
#include "store/archive_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCHIVE_FOREIGN_MAX 4096 /* names that say no time; more are counted, not kept */

struct archive_list_day {
    int32_t day;
    bool has_merged;
    uint32_t *key; /* of its samples, unsorted; see struct archive_name */
    size_t count, capacity;
    uint64_t entries_hash;
};

struct archive_list {
    struct archive_list_day *day; /* sorted by day */
    size_t day_count;
    char **foreign; /* sorted names that end in .csv and say no time */
    size_t foreign_count;
    int64_t foreign_left_out;
    int32_t newest_day; /* of all names, also those outside; INT32_MIN when there is none */
    int64_t name_count; /* all entries of the folder */
    /* private */
    size_t day_capacity, foreign_capacity;
    uint32_t *slot; /* hash of day → position + 1 */
    size_t slot_count;
};

/* Keeps the days first_day … last_day. */
int archive_list_read(int dir_fd, int32_t first_day, int32_t last_day, struct archive_list *out,
                      struct err *err);
void archive_list_fini(struct archive_list *list);

/* Puts a day's samples in the order of their names. */
void archive_list_sort_day(struct archive_list_day *day);

/* One word of bits that look random; equal inputs give equal words. */
uint64_t archive_mix(uint64_t a, uint64_t b);

#endif
