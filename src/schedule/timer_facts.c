/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/timer_facts.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"

#include <stddef.h>
#include <string.h>

#define US_PER_S INT64_C(1000000)
#define US_MAX 9e18

#define MINUTE INT64_C(60)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define WEEK (7 * DAY)
#define MONTH INT64_C(2629800) /* systemd's: a twelfth of its year */
#define YEAR INT64_C(31557600) /* 365.25 days */

static bool to_us(struct span number, double scale_us, int64_t *out_us)
{
    double value = 0;
    if (!text_to_double(number, &value) || value < 0 || value * scale_us > US_MAX) {
        return false;
    }
    *out_us = (int64_t)(value * scale_us + 0.5);
    return true;
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

/* "4.5min" */
static bool parse_part(struct span part, int64_t *out_us)
{
    static const struct {
        const char *name;
        double us;
    } units[] = {
        {"y", YEAR * 1e6}, {"month", MONTH * 1e6}, {"w", WEEK * 1e6}, {"d", DAY * 1e6},
        {"h", HOUR * 1e6}, {"min", MINUTE * 1e6},  {"s", 1e6},        {"ms", 1e3},
        {"us", 1},
    };
    size_t digits = 0;
    while (digits < part.length && is_of_number(part.data[digits])) {
        digits++;
    }
    struct span unit = {part.data + digits, part.length - digits};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (span_equals(unit, units[i].name)) {
            return to_us((struct span){part.data, digits}, units[i].us, out_us);
        }
    }
    return false;
}

bool timer_parse_span(struct span text, int64_t *out_us)
{
    int64_t sum_us = 0;
    struct span rest = span_trim(text);
    struct span part;
    if (rest.length == 0) {
        return false;
    }
    while (span_cut(&rest, ' ', &part)) {
        int64_t us = 0;
        if (!parse_part(part, &us) || __builtin_add_overflow(sum_us, us, &sum_us)) {
            return false;
        }
    }
    *out_us = sum_us;
    return true;
}

/* The instant at which the zone's clocks show what UTC clocks show at as_utc_s, by its letters. */
static bool find_instant(int64_t as_utc_s, struct span letters, const struct zone *zone,
                         int64_t *out_s)
{
    if (span_equals(letters, "UTC") || span_equals(letters, "GMT")) {
        *out_s = as_utc_s;
        return true;
    }
    const struct zone utc = {.name = "UTC"};
    struct civil local;
    int64_t instant[2];
    zone_civil(&utc, as_utc_s, &local);
    int count = zone_instants(zone, &local, instant);
    for (int i = 0; i < count; i++) {
        struct civil there;
        zone_civil(zone, instant[i], &there);
        if (span_equals(letters, there.abbreviation)) {
            *out_s = instant[i] + local.second - there.second;
            return true;
        }
    }
    return false;
}

bool timer_parse_stamp(struct span text, const struct zone *zone, int64_t *out_us)
{
    struct span rest = span_trim(text);
    if (span_starts(rest, "@")) {
        return to_us((struct span){rest.data + 1, rest.length - 1}, 1e6, out_us);
    }
    struct span day = {0};
    struct span date = {0};
    struct span hour = {0};
    if (!span_cut(&rest, ' ', &day) || !span_cut(&rest, ' ', &date) ||
        !span_cut(&rest, ' ', &hour) || rest.data == NULL || date.length != 10 || hour.length < 8) {
        return false;
    }
    char iso[24]; /* 2026-03-24T09:00:00Z */
    memcpy(iso, date.data, 10);
    iso[10] = 'T';
    memcpy(iso + 11, hour.data, 8);
    iso[19] = 'Z';
    iso[20] = '\0';
    int64_t second = 0;
    int offset_s = 0;
    if (!clock_parse_iso(iso, 20, &second, &offset_s) ||
        !find_instant(second, rest, zone, &second)) {
        return false;
    }
    *out_us = second * US_PER_S;
    return true;
}

void timer_facts_parse(const char *text, const struct zone *zone, struct timer_facts *out)
{
    struct span rest = span_of(text);
    struct span line;
    while (span_cut(&rest, '\n', &line)) {
        struct span name;
        struct span value = line;
        if (!span_cut(&value, '=', &name) || value.data == NULL) {
            continue;
        }
        if (span_equals(name, "LoadState")) {
            text_clean(out->load_state, sizeof out->load_state, value.data, value.length);
        } else if (span_equals(name, "UnitFileState")) {
            text_clean(out->file_state, sizeof out->file_state, value.data, value.length);
        } else if (span_equals(name, "LastTriggerUSec")) {
            (void)timer_parse_stamp(value, zone, &out->last_us);
        } else if (span_equals(name, "NextElapseUSecRealtime")) {
            (void)timer_parse_stamp(value, zone, &out->next_real_us);
        } else if (span_equals(name, "NextElapseUSecMonotonic")) {
            (void)timer_parse_span(value, &out->next_mono_us);
        }
    }
}

/* "1 week 2 days": systemd keeps the second part when it is 0, too. */
static void long_span(struct buf *out, int64_t s, int64_t big_s, const char *big, int64_t small_s,
                      const char *small)
{
    int64_t bigs = s / big_s;
    int64_t smalls = s % big_s / small_s;
    buf_format(out, "%lld %s%s %lld %s%s", (long long)bigs, big, bigs == 1 ? "" : "s",
               (long long)smalls, small, smalls == 1 ? "" : "s");
}

static void short_span(struct buf *out, int64_t s)
{
    if (s >= 2 * DAY) {
        buf_format(out, "%lld days", (long long)(s / DAY));
    } else if (s >= 25 * HOUR) {
        buf_format(out, "1 day %lldh", (long long)((s - DAY) / HOUR));
    } else if (s >= 6 * HOUR) {
        buf_format(out, "%lldh", (long long)(s / HOUR));
    } else if (s >= HOUR) {
        buf_format(out, "%lldh %lldmin", (long long)(s / HOUR), (long long)(s % HOUR / MINUTE));
    } else if (s >= 5 * MINUTE) {
        buf_format(out, "%lldmin", (long long)(s / MINUTE));
    } else if (s >= MINUTE) {
        buf_format(out, "%lldmin %llds", (long long)(s / MINUTE), (long long)(s % MINUTE));
    } else {
        buf_format(out, "%llds", (long long)s);
    }
}

/* Below a second. */
static void tiny_span(struct buf *out, int64_t us)
{
    bool is_ms = us >= US_PER_S / 1000;
    buf_format(out, "%lld%s", (long long)(is_ms ? us * 1000 / US_PER_S : us), is_ms ? "ms" : "us");
}

void timer_left(int64_t left_us, struct buf *out)
{
    int64_t us = left_us < 0 ? -left_us : left_us;
    int64_t s = us / US_PER_S;
    if (us == 0) {
        buf_text(out, "now");
        return;
    }
    if (s >= YEAR) {
        long_span(out, s, YEAR, "year", MONTH, "month");
    } else if (s >= MONTH) {
        long_span(out, s, MONTH, "month", DAY, "day");
    } else if (s >= WEEK) {
        long_span(out, s, WEEK, "week", DAY, "day");
    } else if (s > 0) {
        short_span(out, s);
    } else {
        tiny_span(out, us);
    }
    buf_text(out, left_us < 0 ? " ago" : " left");
}

int64_t timer_next(const struct timer_facts *facts, int64_t now_us, int64_t mono_us)
{
    int64_t real_us = facts->next_real_us;
    if (facts->next_mono_us == 0) {
        return real_us;
    }
    int64_t by_mono_us = now_us + (facts->next_mono_us - mono_us);
    return real_us != 0 && real_us < by_mono_us ? real_us : by_mono_us;
}

/* Not strftime: systemd's names of days are English whatever the locale. */
void timer_trigger(int64_t next_us, const struct zone *zone, int64_t now_us, struct buf *out)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    if (next_us == 0) {
        buf_text(out, "n/a");
        return;
    }
    struct civil at;
    zone_civil(zone, next_us / US_PER_S, &at);
    buf_format(out, "%s %04d-%02d-%02d %02d:%02d:%02d %s; ", days[at.weekday], at.year, at.month,
               at.day, at.hour, at.minute, at.second, at.abbreviation);
    timer_left(next_us - now_us, out);
}
