/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Time zones by IANA name. glibc reads the zone files; a process looks at one zone at a time
 * (TZ is set when another one is asked), so use it from one thread. A name is checked against
 * the files before glibc sees it, because glibc takes a wrong name for UTC without a word. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define ZONE_NAME_SIZE 64

struct zone {
    char name[ZONE_NAME_SIZE]; /* "" never; "UTC" needs no files */
};

/* A civil date and time in some zone, with what the zone says of it. */
struct civil {
    int year, month, day;     /* month 1-12, day 1-31 */
    int hour, minute, second; /* 0-23, 0-59, 0-60 */
    int weekday;              /* 0 = Sunday */
    int offset_s;             /* seconds east of UTC */
    bool is_dst;              /* the zone calls it daylight saving time; Dublin does so in winter */
    char abbreviation[16];    /* "KST" */
};

/* -EINVAL: no such zone; the sentence does not name a configuration key, the caller adds it.
 * "" gives the system's zone (TZ, else /etc/localtime's link, else UTC). */
int zone_open(struct zone *out, const char *name, struct err *err);

void zone_civil(const struct zone *zone, int64_t utc_s, struct civil *out);

/* The instants at which the zone's clocks show this local time: 0 (in a spring gap), 1, or 2 (in
 * an autumn fold, earlier first). Fields of `local` behind `second` are ignored. */
int zone_instants(const struct zone *zone, const struct civil *local, int64_t out_utc_s[2]);

/* As zone_instants for a local time that must become an instant: the first of two, and in a gap
 * the first valid instant after it. */
int64_t zone_instant(const struct zone *zone, const struct civil *local);

/* strftime in the zone; `size` at least 1. */
void zone_format(const struct zone *zone, int64_t utc_s, const char *format, char *out,
                 unsigned size) __attribute__((format(strftime, 3, 0)));

/* "2026-03-22T16:21:00+09:00" (25 characters); `out` holds 32. */
void zone_format_iso(const struct zone *zone, int64_t utc_s, char out[32]);

/* Moves the date by days (negative too), keeping it a real date; the time is not touched. */
void civil_add_days(struct civil *civil, int64_t days);

#endif
