/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_name.h"

#include "base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define REPEAT_BITS 15U

/* A year has half a million names: two digits at a time, without a loop that can fail late. */
static int two_digits(const char *text)
{
    unsigned high = (unsigned char)text[0] - (unsigned)'0';
    unsigned low = (unsigned char)text[1] - (unsigned)'0';
    return high > 9 || low > 9 ? -1 : (int)(high * 10 + low);
}

static bool parse_date(const char *name, size_t length, int32_t *out_day)
{
    static const char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (length < 10 || name[4] != '-' || name[7] != '-') {
        return false;
    }
    int century = two_digits(name);
    int year = two_digits(name + 2);
    int month = two_digits(name + 5);
    int day = two_digits(name + 8);
    if (century < 0 || year < 0 || month < 1 || month > 12 || day < 1 || day > days[month - 1]) {
        return false;
    }
    year += century * 100;
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1 || (month == 2 && day == 29 && !is_leap)) {
        return false;
    }
    *out_day = (int32_t)clock_days_from_civil(year, month, day);
    return true;
}

/* "-2" to "-32767", no leading zero: each sample has one way to be written. */
static bool parse_repeat(const char *text, size_t length, uint32_t *out)
{
    uint32_t value = 0;
    if (length < 2 || length > 6 || text[0] != '-' || text[1] == '0') {
        return false;
    }
    for (size_t i = 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        value = value * 10 + (uint32_t)(text[i] - '0');
    }
    *out = value;
    return value >= 2 && value <= ARCHIVE_NAME_REPEAT_MAX;
}

static bool parse_time(const char *text, size_t length, uint32_t *out_key)
{
    if (length < 9 || text[0] != 'T' || text[3] != '-' || text[6] != '-') {
        return false;
    }
    int hour = two_digits(text + 1);
    int minute = two_digits(text + 4);
    int second = two_digits(text + 7);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
        return false;
    }
    uint32_t repeat = 0;
    if (length > 9 && !parse_repeat(text + 9, length - 9, &repeat)) {
        return false;
    }
    *out_key = (uint32_t)(hour * 3600 + minute * 60 + second) << REPEAT_BITS | repeat;
    return true;
}

struct archive_name archive_name_parse(const char *name)
{
    struct archive_name out = {.kind = ARCHIVE_NAME_OTHER};
    size_t length = strlen(name);
    if (length < 5 || name[0] == '.' || memcmp(name + length - 4, ".csv", 4) != 0) {
        return out;
    }
    length -= 4;
    out.kind = ARCHIVE_NAME_FOREIGN;
    if (!parse_date(name, length, &out.day)) {
        return out;
    }
    if (length == 10) {
        out.kind = ARCHIVE_NAME_DAY;
    } else if (parse_time(name + 10, length - 10, &out.key)) {
        out.kind = ARCHIVE_NAME_SAMPLE;
    }
    return out;
}

int64_t archive_name_naive_s(int32_t day, uint32_t key)
{
    return (int64_t)day * 86400 + (key >> REPEAT_BITS);
}

void archive_name_format_day(int32_t day, char out[ARCHIVE_NAME_SIZE])
{
    struct civil date = {.year = 1970, .month = 1, .day = 1};
    civil_add_days(&date, day);
    (void)snprintf(out, ARCHIVE_NAME_SIZE, "%04d-%02d-%02d.csv", date.year, date.month, date.day);
}

void archive_name_format(int32_t day, uint32_t key, char out[ARCHIVE_NAME_SIZE])
{
    struct civil date = {.year = 1970, .month = 1, .day = 1};
    civil_add_days(&date, day);
    unsigned second = key >> REPEAT_BITS;
    unsigned repeat = key & ARCHIVE_NAME_REPEAT_MAX;
    int length = snprintf(out, ARCHIVE_NAME_SIZE, "%04d-%02d-%02dT%02u-%02u-%02u", date.year,
                          date.month, date.day, second / 3600, second / 60 % 60, second % 60);
    size_t at = length > 0 ? (size_t)length : 0;
    if (repeat == 0) {
        (void)snprintf(out + at, ARCHIVE_NAME_SIZE - at, ".csv");
    } else {
        (void)snprintf(out + at, ARCHIVE_NAME_SIZE - at, "-%u.csv", repeat);
    }
}

struct archive_name archive_name_at(const struct zone *zone, int64_t utc_s)
{
    struct civil at;
    zone_civil(zone, utc_s, &at);
    int second = at.second < 60 ? at.second : 59;
    return (struct archive_name){.kind = ARCHIVE_NAME_SAMPLE,
                                 .day = (int32_t)clock_days_from_civil(at.year, at.month, at.day),
                                 .key = (uint32_t)(at.hour * 3600 + at.minute * 60 + second)
                                        << REPEAT_BITS};
}
