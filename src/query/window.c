/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "query/window.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DAY_S INT64_C(86400)
#define ROLLING_MAX_S (36525 * DAY_S) /* a hundred years */
#define SHOWN_SIZE 40
#define SINCE "since:"

static int refuse(const char *text, struct err *err)
{
    char shown[SHOWN_SIZE];
    text_clean(shown, sizeof shown, text, strnlen(text, SHOWN_SIZE));
    return err_set(err, -EINVAL,
                   "report.interval must look like 1d, 12h, or 30m, or like since:day, since:week, "
                   "since:month, since:quarter, since:year or since:2026-07-01; '%s' does not",
                   shown);
}

/* Each moves a date back to the first day of its period. */
static void to_day(struct civil *date)
{
    (void)date;
}

static void to_week(struct civil *date)
{
    civil_add_days(date, -((date->weekday + 6) % 7)); /* weeks start on Monday */
}

static void to_month(struct civil *date)
{
    date->day = 1;
}

static void to_quarter(struct civil *date)
{
    date->month -= (date->month - 1) % 3;
    date->day = 1;
}

static void to_year(struct civil *date)
{
    date->month = 1;
    date->day = 1;
}

static const struct period {
    const char *name;
    void (*to_start)(struct civil *date);
} periods[] = {
    {"day", to_day},         {"week", to_week}, {"month", to_month},
    {"quarter", to_quarter}, {"year", to_year},
};

static const struct period *find_period(const char *name)
{
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        if (strcmp(name, periods[i].name) == 0) {
            return &periods[i];
        }
    }
    return NULL;
}

/* "30m", "12h", "7d"; false for anything else, for nothing and for more than a hundred years. */
static bool parse_rolling(const char *text, int64_t *out_s)
{
    size_t length = strnlen(text, SHOWN_SIZE);
    if (length < 2 || text[0] == '-') {
        return false;
    }
    char unit = text[length - 1];
    int64_t unit_s = unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? DAY_S : 0;
    int64_t count = 0;
    if (unit_s == 0 || !text_to_int64((struct span){text, length - 1}, &count) || count < 1 ||
        count > ROLLING_MAX_S / unit_s) {
        return false;
    }
    *out_s = count * unit_s;
    return true;
}

/* "2026-07-01", a day that exists. */
static bool parse_date(const char *text, struct civil *out)
{
    if (strnlen(text, 11) != 10) {
        return false;
    }
    char iso[32];
    int length = snprintf(iso, sizeof iso, "%.10sT00:00:00Z", text);
    int64_t midnight_s = 0;
    int offset_s = 0;
    if (!clock_parse_iso(iso, length, &midnight_s, &offset_s)) {
        return false;
    }
    struct civil date = {.year = 1970, .month = 1, .day = 1};
    civil_add_days(&date, (midnight_s - (midnight_s < 0 ? DAY_S - 1 : 0)) / DAY_S);
    *out = date;
    return true;
}

/* What `text` says, apart from when: a length, or a period, or a date. */
struct parsed {
    int64_t rolling_s; /* 0: not rolling */
    const struct period *period;
    struct civil date; /* when period is NULL */
};

static int parse(const char *text, struct parsed *out, struct err *err)
{
    struct parsed parsed = {0};
    if (!text_starts(text, SINCE)) {
        if (!parse_rolling(text, &parsed.rolling_s)) {
            return refuse(text, err);
        }
    } else {
        const char *rest = text + strlen(SINCE);
        parsed.period = find_period(rest);
        if (parsed.period == NULL && !parse_date(rest, &parsed.date)) {
            return refuse(text, err);
        }
    }
    *out = parsed;
    return 0;
}

int window_check(const char *text, struct err *err)
{
    struct parsed parsed = {0};
    return parse(text, &parsed, err);
}

int window_resolve(const char *text, const struct zone *zone, int64_t now_s, struct window *out,
                   struct err *err)
{
    struct parsed parsed = {0};
    int code = parse(text, &parsed, err);
    if (code != 0) {
        return code;
    }
    struct window window = {.to_s = now_s};
    if (parsed.rolling_s != 0) {
        window.from_s = now_s - parsed.rolling_s;
        (void)snprintf(window.label, sizeof window.label, "last %s", text);
        *out = window;
        return 0;
    }
    struct civil start = parsed.date;
    if (parsed.period != NULL) {
        zone_civil(zone, now_s, &start);
        parsed.period->to_start(&start);
    }
    start.hour = start.minute = start.second = 0;
    window.from_s = zone_instant(zone, &start);
    zone_format(zone, window.from_s, "since %Y-%m-%d %H:%M", window.label, sizeof window.label);
    if (window.from_s > now_s) {
        char now[32];
        zone_format(zone, now_s, "%Y-%m-%d %H:%M", now, sizeof now);
        return err_set(err, -EINVAL,
                       "the window '%s' starts in the future (it is %s in %s): there is nothing to "
                       "report yet",
                       text, now, zone->name);
    }
    *out = window;
    return 0;
}
