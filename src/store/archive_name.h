/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The names of the archive: "2026-03-22T16-21-00.csv" is one sample, "…-2.csv" another of the same
 * local second, "2026-03-22.csv" a merged day. A name is local time without an offset, so it only
 * says where to look; the rows say when. Pure. */
#ifndef STORE_ARCHIVE_NAME_H
#define STORE_ARCHIVE_NAME_H

#include "base/zone.h"

#include <stddef.h>
#include <stdint.h>

#define ARCHIVE_NAME_SIZE 40
#define ARCHIVE_NAME_REPEAT_MAX 32767 /* samples of one second that have a name of their own */

enum archive_name_kind {
    ARCHIVE_NAME_OTHER,   /* nothing of ours, not looked at */
    ARCHIVE_NAME_FOREIGN, /* ends in .csv but says no time */
    ARCHIVE_NAME_SAMPLE,
    ARCHIVE_NAME_DAY,
};

struct archive_name {
    enum archive_name_kind kind;
    int32_t day;  /* days from 1970-01-01 to the date in the name */
    uint32_t key; /* second of the day << 15 | repeat (0 = plain, 2 = "-2"); orders a day */
};

struct archive_name archive_name_parse(const char *name);

/* The name's time as if it were UTC; of a merged day its midnight. */
int64_t archive_name_naive_s(int32_t day, uint32_t key);

void archive_name_format(int32_t day, uint32_t key, char out[ARCHIVE_NAME_SIZE]);
void archive_name_format_day(int32_t day, char out[ARCHIVE_NAME_SIZE]);

/* The plain name of a sample taken at this instant. */
struct archive_name archive_name_at(const struct zone *zone, int64_t utc_s);

#endif
