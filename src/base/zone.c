/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/zone.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define ZONE_DIR_DEFAULT "/usr/share/zoneinfo"

static const char *zone_dir(void)
{
    const char *dir = getenv("TZDIR");
    return dir != NULL && dir[0] != '\0' ? dir : ZONE_DIR_DEFAULT;
}

/* Letters, digits and "_+-/" with no empty, "." or ".." part and no leading "/". */
static bool is_zone_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= ZONE_NAME_SIZE || name[0] == '/' || name[length - 1] == '/') {
        return false;
    }
    for (const char *at = name; *at != '\0'; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        bool is_digit = *at >= '0' && *at <= '9';
        if (!is_letter && !is_digit && strchr("_+-/", *at) == NULL) {
            return false;
        }
    }
    return strstr(name, "//") == NULL;
}

/* A regular file under the zone folder that starts with the magic of the format. */
static bool is_zone_file(const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", zone_dir(), name) >= (int)sizeof path) {
        return false;
    }
    OWN_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    char magic[4];
    return read(fd, magic, sizeof magic) == (ssize_t)sizeof magic && memcmp(magic, "TZif", 4) == 0;
}

/* The name behind the system's zone; "UTC" when it cannot be told. */
static void system_zone(char *out, size_t size)
{
    const char *tz = getenv("TZ");
    if (tz != NULL && tz[0] == ':') {
        tz++;
    }
    if (tz != NULL && is_zone_name(tz) && is_zone_file(tz)) {
        text_copy(out, size, tz);
        return;
    }
    char target[PATH_MAX];
    ssize_t length = readlink("/etc/localtime", target, sizeof target - 1);
    text_copy(out, size, "UTC");
    if (length <= 0) {
        return;
    }
    target[length] = '\0';
    const char *at = strstr(target, "zoneinfo/");
    if (at != NULL && is_zone_name(at + 9) && is_zone_file(at + 9)) {
        text_copy(out, size, at + 9);
    }
}

int zone_open(struct zone *out, const char *name, struct err *err)
{
    if (name[0] == '\0') {
        system_zone(out->name, sizeof out->name);
        return 0;
    }
    if (strcmp(name, "UTC") == 0) {
        text_copy(out->name, sizeof out->name, name);
        return 0;
    }
    if (!is_zone_name(name) || strncmp(name, "right/", 6) == 0) { /* those count leap seconds */
        return err_set(err, -EINVAL,
                       "'%s' is not a time zone name: use an IANA name like Asia/Seoul or UTC",
                       name);
    }
    if (!is_zone_file("Etc/UTC") && !is_zone_file("UTC")) {
        return err_set(err, -EINVAL,
                       "time zone '%s' is unknown because %s holds no zone files: install the "
                       "tzdata package, or use UTC",
                       name, zone_dir());
    }
    if (!is_zone_file(name)) {
        return err_set(err, -EINVAL,
                       "time zone '%s' is unknown: %s has no such zone (names are exact, for "
                       "example Asia/Seoul)",
                       name, zone_dir());
    }
    text_copy(out->name, sizeof out->name, name);
    return 0;
}

/* glibc keeps one zone a process; set it when another was asked last. */
static void use_zone(const struct zone *zone)
{
    static char current[ZONE_NAME_SIZE];
    if (strcmp(current, zone->name) == 0) {
        return;
    }
    char value[ZONE_NAME_SIZE + 1];
    /* UTC without files: the POSIX form needs none. */
    (void)snprintf(value, sizeof value, strcmp(zone->name, "UTC") == 0 ? "%s0" : ":%s", zone->name);
    (void)setenv("TZ", value, 1); /* NOLINT(concurrency-mt-unsafe): one thread, see the header */
    tzset();
    text_copy(current, sizeof current, zone->name);
}

static void to_tm(const struct zone *zone, int64_t utc_s, struct tm *out)
{
    use_zone(zone);
    time_t time = (time_t)utc_s;
    if (localtime_r(&time, out) == NULL) {
        memset(out, 0, sizeof *out);
        out->tm_mday = 1;
    }
}

void zone_civil(const struct zone *zone, int64_t utc_s, struct civil *out)
{
    struct tm tm;
    to_tm(zone, utc_s, &tm);
    *out = (struct civil){.year = tm.tm_year + 1900,
                          .month = tm.tm_mon + 1,
                          .day = tm.tm_mday,
                          .hour = tm.tm_hour,
                          .minute = tm.tm_min,
                          .second = tm.tm_sec,
                          .weekday = tm.tm_wday,
                          .offset_s = (int)tm.tm_gmtoff,
                          .is_dst = tm.tm_isdst > 0};
    text_copy(out->abbreviation, sizeof out->abbreviation, tm.tm_zone != NULL ? tm.tm_zone : "");
}

static int64_t as_if_utc(const struct civil *local)
{
    return clock_days_from_civil(local->year, local->month, local->day) * 86400 +
           local->hour * 3600 + local->minute * 60 + local->second;
}

static int offset_at(const struct zone *zone, int64_t utc_s)
{
    struct tm tm;
    to_tm(zone, utc_s, &tm);
    return (int)tm.tm_gmtoff;
}

int zone_instants(const struct zone *zone, const struct civil *local, int64_t out_utc_s[2])
{
    /* The only offsets that can apply are those in force a day before and a day after. */
    int64_t naive = as_if_utc(local);
    int before = offset_at(zone, naive - 86400);
    int after = offset_at(zone, naive + 86400);
    int count = 0;
    if (offset_at(zone, naive - before) == before) {
        out_utc_s[count++] = naive - before;
    }
    if (after != before && offset_at(zone, naive - after) == after) {
        out_utc_s[count++] = naive - after;
    }
    if (count == 2 && out_utc_s[0] > out_utc_s[1]) {
        int64_t first = out_utc_s[1];
        out_utc_s[1] = out_utc_s[0];
        out_utc_s[0] = first;
    }
    return count;
}

int64_t zone_instant(const struct zone *zone, const struct civil *local)
{
    int64_t instants[2];
    if (zone_instants(zone, local, instants) > 0) {
        return instants[0];
    }
    /* In a gap: look for the jump between an instant before it and one after it. */
    int64_t low = as_if_utc(local) - offset_at(zone, as_if_utc(local) + 86400) - 1;
    int64_t high = as_if_utc(local) - offset_at(zone, as_if_utc(local) - 86400);
    low = low < high ? low - 4 * 3600 : high - 4 * 3600;
    int start = offset_at(zone, low);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (offset_at(zone, middle) == start) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

void zone_format(const struct zone *zone, int64_t utc_s, const char *format, char *out,
                 unsigned size)
{
    struct tm tm;
    to_tm(zone, utc_s, &tm);
/* The compiler checks the format where the caller writes it: see the attribute in the header. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (strftime(out, size, format, &tm) == 0) {
        out[0] = '\0';
    }
#pragma GCC diagnostic pop
}

void zone_format_iso(const struct zone *zone, int64_t utc_s, char out[32])
{
    struct civil at;
    zone_civil(zone, utc_s, &at);
    int minutes = (at.offset_s < 0 ? -at.offset_s : at.offset_s) / 60;
    (void)snprintf(out, 32, "%04u-%02u-%02uT%02u:%02u:%02u%c%02u:%02u", (unsigned)at.year % 10000U,
                   (unsigned)at.month % 100U, (unsigned)at.day % 100U, (unsigned)at.hour % 100U,
                   (unsigned)at.minute % 100U, (unsigned)at.second % 100U,
                   at.offset_s < 0 ? '-' : '+', (unsigned)minutes / 60U % 100U,
                   (unsigned)minutes % 60U);
}

void civil_add_days(struct civil *civil, int64_t days)
{
    int64_t z = clock_days_from_civil(civil->year, civil->month, civil->day) + days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t day_of_era = z - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    civil->day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    civil->month = (int)(month < 10 ? month + 3 : month - 9);
    civil->year = (int)(year_of_era + era * 400 + (civil->month <= 2 ? 1 : 0));
    int64_t since_sunday = (z - 719468 + 4) % 7;
    civil->weekday = (int)(since_sunday < 0 ? since_sunday + 7 : since_sunday);
}
