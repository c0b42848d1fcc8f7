/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "query/window.h"

#include "base/clock.h"
#include "base/text.h"

#include "tests/check.h"

#include <errno.h>

static int64_t instant(const char *iso)
{
    int64_t at = 0;
    int offset = 0;
    CHECK(clock_parse_iso(iso, (int64_t)strlen(iso), &at, &offset));
    return at;
}

/* The start of the window `text` at `now` in `zone`; -1 when it is refused. */
static int64_t start(const char *text, const char *zone_name, const char *now, const char *label)
{
    struct zone zone = {.name = "UTC"};
    CHECK_INT(zone_open(&zone, zone_name, NULL), 0);
    struct window window = {0};
    struct err err = {0};
    if (!CHECK_INT(window_resolve(text, &zone, instant(now), &window, &err), 0)) {
        printf("# %s\n", err.text);
        return -1;
    }
    CHECK_INT(window.to_s, instant(now));
    CHECK_TEXT(window.label, label);
    return window.from_s;
}

/* GM-050, GM-058, GM-059. */
TEST(a_rolling_window_is_counted_back_from_now)
{
    const char *now = "2026-09-21T09:00:00+09:00";
    CHECK_INT(start("30m", "Asia/Seoul", now, "last 30m"), instant(now) - 1800);
    CHECK_INT(start("1h", "Asia/Seoul", now, "last 1h"), instant(now) - 3600);
    CHECK_INT(start("12h", "Asia/Seoul", now, "last 12h"), instant(now) - 43200);
    CHECK_INT(start("1d", "Asia/Seoul", now, "last 1d"), instant(now) - 86400);
    CHECK_INT(start("36525d", "UTC", now, "last 36525d"), instant(now) - INT64_C(3155760000));
}

/* GM-127. */
TEST(seven_days_reach_into_the_quarter_before_and_since_quarter_does_not)
{
    const char *now = "2026-07-03T09:00:00+09:00";
    CHECK_INT(start("7d", "Asia/Seoul", now, "last 7d"), instant("2026-06-26T09:00:00+09:00"));
    CHECK_INT(start("since:quarter", "Asia/Seoul", now, "since 2026-07-01 00:00"),
              instant("2026-07-01T00:00:00+09:00"));
}

TEST(a_day_is_twenty_four_hours_also_when_the_clocks_jump)
{
    CHECK_INT(start("1d", "Europe/Berlin", "2026-03-29T12:00:00+02:00", "last 1d"),
              instant("2026-03-28T11:00:00+01:00"));
}

/* GM-051 … GM-057: all start at 00:00 in the zone. */
TEST(a_since_window_starts_at_midnight_of_its_first_day_in_the_zone)
{
    /* A Monday, where it is already the 21st in Seoul and still the 20th in UTC. */
    const char *now = "2026-09-20T15:30:00Z";
    CHECK_INT(start("since:day", "Asia/Seoul", now, "since 2026-09-21 00:00"),
              instant("2026-09-21T00:00:00+09:00"));
    CHECK_INT(start("since:day", "UTC", now, "since 2026-09-20 00:00"),
              instant("2026-09-20T00:00:00Z"));
    CHECK_INT(start("since:month", "Asia/Seoul", now, "since 2026-09-01 00:00"),
              instant("2026-09-01T00:00:00+09:00"));
    CHECK_INT(start("since:quarter", "Asia/Seoul", now, "since 2026-07-01 00:00"),
              instant("2026-07-01T00:00:00+09:00"));
    CHECK_INT(start("since:year", "Asia/Seoul", now, "since 2026-01-01 00:00"),
              instant("2026-01-01T00:00:00+09:00"));
    CHECK_INT(start("since:2026-07-01", "Asia/Seoul", now, "since 2026-07-01 00:00"),
              instant("2026-07-01T00:00:00+09:00"));
    CHECK_INT(start("since:2024-02-29", "Asia/Seoul", now, "since 2024-02-29 00:00"),
              instant("2024-02-29T00:00:00+09:00"));
}

/* GM-052, GM-127. */
TEST(a_week_starts_on_monday)
{
    const char *label = "since 2026-09-21 00:00";
    int64_t monday = instant("2026-09-21T00:00:00+09:00");
    CHECK_INT(start("since:week", "Asia/Seoul", "2026-09-21T00:00:00+09:00", label), monday);
    CHECK_INT(start("since:week", "Asia/Seoul", "2026-09-24T12:00:00+09:00", label), monday);
    CHECK_INT(start("since:week", "Asia/Seoul", "2026-09-27T23:59:59+09:00", label), monday);
    CHECK_INT(
        start("since:week", "Asia/Seoul", "2026-09-20T23:59:59+09:00", "since 2026-09-14 00:00"),
        instant("2026-09-14T00:00:00+09:00"));
    CHECK_INT(start("since:week", "UTC", "2027-01-01T12:00:00Z", "since 2026-12-28 00:00"),
              instant("2026-12-28T00:00:00Z"));
}

/* GM-054. */
TEST(every_month_belongs_to_its_quarter)
{
    for (int month = 1; month <= 12; month++) {
        char now[32];
        char first[32];
        char label[64];
        int begin = (month - 1) / 3 * 3 + 1;
        (void)snprintf(now, sizeof now, "2026-%02d-28T12:00:00Z", month);
        (void)snprintf(first, sizeof first, "2026-%02d-01T00:00:00Z", begin);
        (void)snprintf(label, sizeof label, "since 2026-%02d-01 00:00", begin);
        CHECK_INT(start("since:quarter", "UTC", now, label), instant(first));
    }
}

TEST(a_day_without_midnight_starts_at_its_first_instant)
{
    CHECK_INT(
        start("since:day", "Africa/Cairo", "2026-04-24T12:00:00+03:00", "since 2026-04-24 01:00"),
        instant("2026-04-23T22:00:00Z"));
    /* Havana shows 00:00 to 00:59 twice on 1 November 2026: the first one counts. */
    CHECK_INT(
        start("since:day", "America/Havana", "2026-11-01T05:30:00Z", "since 2026-11-01 00:00"),
        instant("2026-11-01T04:00:00Z"));
}

TEST(a_window_that_starts_in_the_future_is_refused_with_the_time_it_is)
{
    struct zone zone = {.name = "UTC"};
    REQUIRE(zone_open(&zone, "Asia/Seoul", NULL) == 0);
    struct window window = {.from_s = 7};
    struct err err = {0};
    int64_t now = instant("2026-06-30T14:59:59Z");
    CHECK_INT(window_resolve("since:2026-07-01", &zone, now, &window, &err), -EINVAL);
    CHECK_TEXT(err.text, "the window 'since:2026-07-01' starts in the future (it is 2026-06-30 "
                         "23:59 in Asia/Seoul): there is nothing to report yet");
    CHECK_INT(window.from_s, 7);
    CHECK_INT(window_check("since:2026-07-01", &err), 0);
    CHECK_INT(window_resolve("since:2026-07-01", &zone, now + 1, &window, &err), 0);
    CHECK_INT(window.from_s, window.to_s);
}

/* GM-030, GM-037. */
TEST(what_is_no_window_is_refused_in_the_words_scripts_know)
{
    const char *bad[] = {"",
                         " ",
                         "1",
                         "d",
                         "1s",
                         "1w",
                         "1 d",
                         " 1d",
                         "1d ",
                         "1D",
                         "0m",
                         "0d",
                         "-1d",
                         "+1d",
                         "1.5h",
                         "1d2h",
                         "since:",
                         "since:fortnight",
                         "since: day",
                         "since:Day",
                         "since",
                         "SINCE:day",
                         "since:2026-02-29",
                         "since:2026-13-01",
                         "since:2026-7-1",
                         "since:2026-07-01 ",
                         "since:0000-01-01",
                         "since:2026-07-01T00:00:00Z",
                         "36526d",
                         "9223372036854775807d",
                         "99999999999999999999m",
                         "since:\x1b[31m"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err err = {0};
        if (!CHECK_INT(window_check(bad[i], &err), -EINVAL)) {
            printf("# '%s' was taken\n", bad[i]);
        }
        CHECK(text_starts(err.text, "report.interval must look like 1d, 12h, or 30m"));
        CHECK(strchr(err.text, '\x1b') == NULL);
        struct window window;
        CHECK_INT(window_resolve(bad[i], &(struct zone){.name = "UTC"}, 0, &window, NULL), -EINVAL);
    }
    const char *good[] = {"30m", "1h", "12h", "1d", "7d", "90m", "since:day", "since:2026-12-31"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK_INT(window_check(good[i], NULL), 0);
    }
}

MAIN(RUN(a_rolling_window_is_counted_back_from_now),
     RUN(seven_days_reach_into_the_quarter_before_and_since_quarter_does_not),
     RUN(a_day_is_twenty_four_hours_also_when_the_clocks_jump),
     RUN(a_since_window_starts_at_midnight_of_its_first_day_in_the_zone),
     RUN(a_week_starts_on_monday), RUN(every_month_belongs_to_its_quarter),
     RUN(a_day_without_midnight_starts_at_its_first_instant),
     RUN(a_window_that_starts_in_the_future_is_refused_with_the_time_it_is),
     RUN(what_is_no_window_is_refused_in_the_words_scripts_know))
