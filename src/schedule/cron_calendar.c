/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* cron's words in systemd's. Measured with systemd 252: a step on a star is refused where systemd
 * counts from 1, so every set is written as a list, a range or "first/step"; a local time in the
 * spring gap is skipped; of a local time in the autumn fold only the first instant fires. What
 * cron_next says beyond that is written out by date, so the two agree. systemd looks for the next
 * run of each value anew after every run, so an instant that stands in two values is one run. */
#include "schedule/cron.h"

#include <stddef.h>

#define CALENDAR_DAYS 3653 /* ten years */
#define DAY_S 86400
#define MINUTE_MAX 59

static const char *const weekday_words[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

static bool has_bit(uint64_t bits, int bit)
{
    return (bits >> bit & 1) != 0;
}

static uint64_t full_set(int low, int high)
{
    return ((UINT64_C(1) << high << 1) - 1) & ~((UINT64_C(1) << low) - 1);
}

/* The step between all members when there are three or more and none is missing; else 0. */
static int common_step(uint64_t bits, int *first, int *last)
{
    int count = 0;
    int step = 0;
    for (int bit = 0; bit < 64; bit++) {
        if (!has_bit(bits, bit)) {
            continue;
        }
        if (count == 0) {
            *first = bit;
        } else if (count > 1 && bit - *last != step) {
            return 0;
        } else {
            step = bit - *last;
        }
        *last = bit;
        count++;
    }
    return count > 2 ? step : 0;
}

/* "*", "00/10", "09..17", "00..54/9" or "01,04,09..12". The end is left out only for
 * minutes whose step leads exactly to the next hour: the minutes "00/9" lose 00:00 of every day,
 * and the hours "00/6" never get past a midnight that does not exist. */
static void add_set(struct buf *out, uint64_t bits, int low, int high)
{
    if (bits == full_set(low, high)) {
        buf_char(out, '*');
        return;
    }
    int first = 0;
    int last = 0;
    int step = common_step(bits, &first, &last);
    if (step > 1) {
        buf_format(out, "%02d", first);
        if (high != MINUTE_MAX || first != 0 || last + step != high + 1) {
            buf_format(out, "..%02d", last);
        }
        buf_format(out, "/%d", step);
        return;
    }
    const char *comma = "";
    for (int bit = low; bit <= high; bit++) {
        if (!has_bit(bits, bit)) {
            continue;
        }
        buf_format(out, "%s%02d", comma, bit);
        comma = ",";
        int end = bit;
        while (end < high && has_bit(bits, end + 1)) {
            end++;
        }
        if (end > bit + 1) {
            buf_format(out, "..%02d", end);
            bit = end;
        }
    }
}

/* "Mon..Fri " with the blank behind it; nothing for the whole week. systemd's week starts on
 * Monday, and a range over its end is refused. */
static void add_weekdays(struct buf *out, uint32_t weekdays)
{
    uint32_t from_monday = weekdays >> 1 | (weekdays & 1) << 6;
    if (from_monday == full_set(0, 6)) {
        return;
    }
    const char *comma = "";
    for (int day = 0; day < 7; day++) {
        if (!has_bit(from_monday, day)) {
            continue;
        }
        buf_format(out, "%s%s", comma, weekday_words[day]);
        comma = ",";
        int end = day;
        while (end < 6 && has_bit(from_monday, end + 1)) {
            end++;
        }
        if (end > day + 1) {
            buf_format(out, "..%s", weekday_words[end]);
            day = end;
        }
    }
    buf_char(out, ' ');
}

static void add_line(struct buf *out, const struct cron *cron, uint32_t weekdays, uint32_t days,
                     const char *zone_name)
{
    add_weekdays(out, weekdays);
    buf_text(out, "*-");
    add_set(out, cron->months, 1, 12);
    buf_char(out, '-');
    add_set(out, days, 1, 31);
    buf_char(out, ' ');
    add_set(out, cron->hours, 0, 23);
    buf_char(out, ':');
    add_set(out, cron->minutes, 0, 59);
    buf_format(out, ":00 %s", zone_name);
}

/* One line, or two when either day field may fire. */
static void add_main_lines(struct buf *out, const struct cron *cron, const char *zone_name,
                           const char *between)
{
    uint32_t all_days = (uint32_t)full_set(1, 31);
    uint32_t all_weekdays = (uint32_t)full_set(0, 6);
    if (cron->is_day_and) {
        add_line(out, cron, cron->weekdays, cron->days, zone_name);
        return;
    }
    if (cron->days == all_days) {
        add_line(out, cron, all_weekdays, all_days, zone_name);
        return;
    }
    add_line(out, cron, cron->weekdays, all_days, zone_name);
    if (cron->weekdays != all_weekdays && cron_has_days(cron)) {
        buf_text(out, between);
        add_line(out, cron, all_weekdays, cron->days, zone_name);
    }
}

/* systemd fires at the first instant of every local time that matches. */
static bool is_in_main_lines(const struct cron *cron, const struct zone *zone, int64_t at_s)
{
    struct civil local;
    zone_civil(zone, at_s, &local);
    int64_t instants[2] = {0, 0};
    return cron_matches(cron, &local) && zone_instants(zone, &local, instants) > 0 &&
           instants[0] == at_s;
}

/* "2027-10-31 01:00/10:00 UTC": the given minutes of the hour that starts at `hour_s`. In UTC,
 * because the zone's name for the second pass of a fold is the first pass for systemd, and it does
 * not find a gap's end that is inside an hour. */
static void add_minutes_line(struct buf *out, int64_t hour_s, uint64_t minutes)
{
    struct zone utc = {.name = "UTC"};
    char hour[32];
    zone_format(&utc, hour_s, "%Y-%m-%d %H:", hour, sizeof hour);
    buf_text(out, hour);
    add_set(out, minutes, 0, 59);
    buf_text(out, ":00 UTC\n");
}

/* A moment at which the zone's clocks jump, and the time around it that systemd may get wrong. */
struct jump {
    int64_t from_s, end_s; /* the instants to look at: from_s <= instant < end_s */
    bool is_whole;         /* all of them need a line, and the first one behind the jump too */
};

/* The cases, all measured:
 *   gap    only its end may be missing. When the gap is the end of what the zone calls daylight
 *          saving time (Dublin), the search may go back and give up: then the first run behind the
 *          jump must have a line, from which systemd finds its way again. When it ends inside an
 *          hour (Chatham), the rest of that hour is lost.
 *   fold   the second pass is missing. When neither side is daylight saving time, or both are
 *          (Morocco, 20 September 2026), part of the first pass is missing instead: a line for all
 *          of both. A fixed time must not have one, or it would run in both. */
static struct jump classify(const struct cron *cron, const struct civil *before,
                            const struct civil *after, int64_t jump_s)
{
    int64_t length_s = after->offset_s - before->offset_s;
    if (length_s > 0) {
        int64_t rest_s = 3600 - after->minute * 60 - after->second;
        bool is_inside_hour = rest_s < 3600;
        return (struct jump){jump_s, is_inside_hour ? jump_s + rest_s : jump_s + 1,
                             is_inside_hour || before->is_dst};
    }
    bool is_unmarked = before->is_dst == after->is_dst && cron->is_wild_time;
    return (struct jump){is_unmarked ? jump_s + length_s : jump_s, jump_s - length_s, is_unmarked};
}

static void add_jump_lines(struct buf *out, const struct cron *cron, const struct zone *zone,
                           const struct jump *jump)
{
    int64_t hour_s = 0;
    uint64_t minutes = 0;
    int64_t at = jump->from_s - 1;
    bool is_first = true;
    while (cron_next(cron, zone, at, &at) && (at < jump->end_s || (is_first && jump->is_whole))) {
        is_first = false;
        if (!jump->is_whole && is_in_main_lines(cron, zone, at)) {
            continue;
        }
        if (minutes != 0 && at - at % 3600 != hour_s) {
            add_minutes_line(out, hour_s, minutes);
            minutes = 0;
        }
        hour_s = at - at % 3600;
        minutes |= UINT64_C(1) << (at % 3600 / 60);
    }
    if (minutes != 0) {
        add_minutes_line(out, hour_s, minutes);
    }
}

/* The first second in ]low_s, high_s] at which the offset is no longer that of low_s. */
static int64_t find_jump(const struct zone *zone, int64_t low_s, int64_t high_s)
{
    struct civil start;
    zone_civil(zone, low_s, &start);
    while (high_s - low_s > 1) {
        int64_t middle = low_s + (high_s - low_s) / 2;
        struct civil local;
        zone_civil(zone, middle, &local);
        if (local.offset_s == start.offset_s) {
            low_s = middle;
        } else {
            high_s = middle;
        }
    }
    return high_s;
}

void cron_to_calendar(const struct cron *cron, const struct zone *zone, int64_t now_s,
                      struct buf *out)
{
    add_main_lines(out, cron, zone->name, "\n");
    buf_char(out, '\n');
    struct civil before;
    zone_civil(zone, now_s, &before);
    for (int day = 0; day < CALENDAR_DAYS; day++) {
        int64_t from_s = now_s + (int64_t)day * DAY_S;
        struct civil after;
        zone_civil(zone, from_s + DAY_S, &after);
        if (after.offset_s != before.offset_s) {
            int64_t jump_s = find_jump(zone, from_s, from_s + DAY_S);
            zone_civil(zone, jump_s, &after);
            struct jump jump = classify(cron, &before, &after, jump_s);
            add_jump_lines(out, cron, zone, &jump);
        }
        before = after;
    }
}

void cron_to_calendar_short(const struct cron *cron, const struct zone *zone, struct buf *out)
{
    add_main_lines(out, cron, zone->name, "; ");
}
