/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include "base/text.h"
#include "build_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;
    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* The test hook's answer; false when the real clock counts. */
static bool read_hook(int64_t *out)
{
    const char *hook = HAVE_TEST_HOOKS ? getenv("GPUMANAGER_NOW") : NULL;
    if (hook == NULL || hook[0] == '\0') {
        return false;
    }
    int64_t seconds = 0;
    int offset_s = 0;
    if (clock_parse_iso(hook, (int64_t)strlen(hook), &seconds, &offset_s)) {
        *out = seconds * NS_PER_S;
        return true;
    }
    bool is_fixed = hook[0] == '@';
    const char *digits = hook[0] == '@' || hook[0] == '+' ? hook + 1 : hook;
    if (!text_to_int64(span_of(digits), &seconds)) {
        return false;
    }
    *out = seconds * NS_PER_S + (is_fixed ? 0 : read_clock(CLOCK_REALTIME));
    return true;
}

int64_t clock_wall_ns(void)
{
    int64_t hooked = 0;
    return read_hook(&hooked) ? hooked : read_clock(CLOCK_REALTIME);
}

int64_t clock_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_file_ns(void)
{
    return read_clock(CLOCK_REALTIME_COARSE);
}

void clock_sleep_ns(int64_t duration_ns)
{
    if (duration_ns <= 0) {
        return;
    }
    struct timespec left = {.tv_sec = (time_t)(duration_ns / NS_PER_S),
                            .tv_nsec = (long)(duration_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

int64_t clock_days_from_civil(int64_t year, int month, int day)
{
    /* Years start in March, so that the leap day is the last of the year. */
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static int digits(const char *text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return -1;
        }
        value = value * 10 + text[i] - '0';
    }
    return value;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

/* "Z", "+09:00" or "-04:30" (14:59 at most). */
static bool parse_offset(const char *text, int64_t length, int *offset_s)
{
    if (length == 1 && text[0] == 'Z') {
        *offset_s = 0;
        return true;
    }
    if (length != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') {
        return false;
    }
    int hours = digits(text + 1, 2);
    int minutes = digits(text + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) {
        return false;
    }
    *offset_s = (hours * 3600 + minutes * 60) * (text[0] == '-' ? -1 : 1);
    return true;
}

bool clock_parse_iso(const char *text, int64_t length, int64_t *out_s, int *offset_s)
{
    if (length < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
        text[13] != ':' || text[16] != ':') {
        return false;
    }
    int year = digits(text, 4);
    int month = digits(text + 5, 2);
    int day = digits(text + 8, 2);
    int hour = digits(text + 11, 2);
    int minute = digits(text + 14, 2);
    int second = digits(text + 17, 2);
    int offset = 0;
    bool is_date = year >= 1 && month >= 1 && month <= 12 && day >= 1;
    if (!is_date || day > days_in_month(year, month) || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 60 ||
        !parse_offset(text + 19, length - 19, &offset)) {
        return false;
    }
    *out_s = clock_days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second -
             offset;
    *offset_s = offset;
    return true;
}
