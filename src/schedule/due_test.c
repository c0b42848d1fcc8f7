/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/due.h"

#include "base/clock.h"

#include "tests/check.h"

#define NINE 1774137600 /* 2026-03-22T09:00:00+09:00 */
#define DAY 86400

static struct zone seoul(void)
{
    struct zone zone;
    CHECK_INT(zone_open(&zone, "Asia/Seoul", NULL), 0);
    return zone;
}

static struct cron cron_of(const char *text)
{
    struct cron cron = {0};
    CHECK_INT(cron_parse(text, &cron, NULL), 0);
    return cron;
}

TEST(a_report_is_due_once_at_its_time_in_the_zone)
{
    struct zone zone = seoul();
    struct cron cron = cron_of("0 9 * * *");
    struct due due = {0};
    CHECK(!schedule_due(&due, &cron, &zone, NINE - 90));
    CHECK_INT(due.next_s, NINE);
    CHECK(!schedule_due(&due, &cron, &zone, NINE - 1));
    CHECK(schedule_due(&due, &cron, &zone, NINE));
    CHECK_INT(due.last_s, NINE);
    CHECK_INT(due.next_s, NINE + DAY);
    CHECK(!schedule_due(&due, &cron, &zone, NINE));
    CHECK(!schedule_due(&due, &cron, &zone, NINE + 59));
}

TEST(what_passed_before_the_first_look_is_not_made_up_for)
{
    struct zone zone = seoul();
    struct cron cron = cron_of("0 9 * * *");
    struct due due = {0};
    CHECK(!schedule_due(&due, &cron, &zone, NINE));
    CHECK_INT(due.next_s, NINE + DAY);
}

TEST(a_run_may_be_late_by_a_minute_and_no_more)
{
    struct zone zone = seoul();
    struct cron cron = cron_of("0 9 * * *");
    struct due late = {0};
    CHECK(!schedule_due(&late, &cron, &zone, NINE - 5));
    CHECK(schedule_due(&late, &cron, &zone, NINE + DUE_LATE_MOST_S));
    struct due slept = {0};
    CHECK(!schedule_due(&slept, &cron, &zone, NINE - 5));
    CHECK(!schedule_due(&slept, &cron, &zone, NINE + DUE_LATE_MOST_S + 1));
    CHECK_INT(slept.next_s, NINE + DAY);
}

TEST(after_a_sleep_only_the_run_of_that_minute_is_due)
{
    struct zone zone = seoul();
    struct cron cron = cron_of("* * * * *");
    struct due due = {0};
    CHECK(!schedule_due(&due, &cron, &zone, NINE + 1));
    CHECK(schedule_due(&due, &cron, &zone, NINE + DAY + 30));
    CHECK_INT(due.last_s, NINE + DAY);
    CHECK_INT(due.next_s, NINE + DAY + 60);
    CHECK(!schedule_due(&due, &cron, &zone, NINE + DAY + 31));
}

TEST(a_clock_set_back_repeats_nothing_and_loses_nothing)
{
    struct zone zone = seoul();
    struct cron cron = cron_of("0 9 * * *");
    struct due due = {0};
    CHECK(!schedule_due(&due, &cron, &zone, NINE - 5));
    CHECK(schedule_due(&due, &cron, &zone, NINE + 1));
    CHECK(!schedule_due(&due, &cron, &zone, NINE - 3));
    CHECK(!schedule_due(&due, &cron, &zone, NINE));
    CHECK_INT(due.next_s, NINE + DAY);
    /* A year ahead by mistake: nine o'clock comes again when that is put right. */
    struct due wrong = {0};
    CHECK(!schedule_due(&wrong, &cron, &zone, NINE + 365 * DAY - 1));
    CHECK(schedule_due(&wrong, &cron, &zone, NINE + 365 * DAY));
    CHECK(!schedule_due(&wrong, &cron, &zone, NINE - 2));
    CHECK(schedule_due(&wrong, &cron, &zone, NINE));
}

TEST(a_change_of_the_schedule_loses_no_run)
{
    struct zone zone = seoul();
    struct cron cron = cron_of("0 9 * * *");
    struct due due = {0};
    schedule_replan(&due, &cron, &zone);
    CHECK(!schedule_due(&due, &cron, &zone, NINE - 1));
    schedule_replan(&due, &cron, &zone);
    CHECK(schedule_due(&due, &cron, &zone, NINE));
    struct cron later = cron_of("1 9 * * *");
    schedule_replan(&due, &later, &zone);
    CHECK_INT(due.next_s, NINE + 60);
    schedule_replan(&due, &cron, &zone);
    CHECK_INT(due.next_s, NINE + DAY);
}

TEST(an_interval_begins_soon_and_does_not_pile_up)
{
    int64_t next_ns = 0;
    int64_t interval_ns = 60 * NS_PER_S;
    int64_t start_ns = 5 * NS_PER_S;
    CHECK(!schedule_interval_due(&next_ns, interval_ns, start_ns));
    CHECK_INT(next_ns, start_ns + 10 * NS_PER_S);
    CHECK(!schedule_interval_due(&next_ns, interval_ns, next_ns - 1));
    CHECK(schedule_interval_due(&next_ns, interval_ns, start_ns + 10 * NS_PER_S + 5));
    CHECK_INT(next_ns, start_ns + 70 * NS_PER_S);
    CHECK(schedule_interval_due(&next_ns, interval_ns, start_ns + 1000 * NS_PER_S));
    CHECK_INT(next_ns, start_ns + 1060 * NS_PER_S);
    next_ns = 0;
    CHECK(!schedule_interval_due(&next_ns, NS_PER_S, start_ns));
    CHECK_INT(next_ns, start_ns + NS_PER_S);
}

MAIN(RUN(a_report_is_due_once_at_its_time_in_the_zone),
     RUN(what_passed_before_the_first_look_is_not_made_up_for),
     RUN(a_run_may_be_late_by_a_minute_and_no_more),
     RUN(after_a_sleep_only_the_run_of_that_minute_is_due),
     RUN(a_clock_set_back_repeats_nothing_and_loses_nothing),
     RUN(a_change_of_the_schedule_loses_no_run), RUN(an_interval_begins_soon_and_does_not_pile_up))
