/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/cron.h"

#include "base/clock.h"
#include "base/text.h"

#include "tests/check.h"

#include <errno.h>

static struct cron parsed(const char *text)
{
    struct cron cron = {0};
    struct err err = {0};
    if (!CHECK_INT(cron_parse(text, &cron, &err), 0)) {
        printf("# '%s': %s\n", text, err.text);
    }
    return cron;
}

static bool is_same(const struct cron *a, const struct cron *b)
{
    return a->minutes == b->minutes && a->hours == b->hours && a->days == b->days &&
           a->months == b->months && a->weekdays == b->weekdays && a->is_day_and == b->is_day_and &&
           a->is_wild_time == b->is_wild_time;
}

/* Both texts mean the same. */
static void check_same(const char *text, const char *other)
{
    struct cron a = parsed(text);
    struct cron b = parsed(other);
    if (!CHECK(is_same(&a, &b))) {
        printf("# '%s' is not '%s'\n", text, other);
    }
}

static void check_refused(const char *text, const char *sentence)
{
    struct cron cron = {.minutes = 7};
    struct err err = {0};
    CHECK_INT(cron_parse(text, &cron, &err), -EINVAL);
    CHECK_TEXT(err.text, sentence);
    CHECK_INT(cron.minutes, 7);
    CHECK_INT(cron_check(text, NULL), -EINVAL);
}

/* The instants after `after`, as "2026-11-30T15:10Z,…". */
static void check_next(const char *text, const char *zone_name, const char *after,
                       const char *wanted)
{
    struct cron cron = parsed(text);
    struct zone zone = {.name = "UTC"};
    CHECK_INT(zone_open(&zone, zone_name, NULL), 0);
    int64_t at = 0;
    int offset = 0;
    CHECK(clock_parse_iso(after, (int64_t)strlen(after), &at, &offset));
    OWN_BUF struct buf got = {0};
    for (size_t i = 0; i < (strlen(wanted) + 1) / 18; i++) {
        if (!CHECK(cron_next(&cron, &zone, at, &at))) {
            return;
        }
        char one[32];
        zone_format(&(struct zone){.name = "UTC"}, at, "%Y-%m-%dT%H:%MZ", one, sizeof one);
        buf_format(&got, "%s%s", i > 0 ? "," : "", one);
    }
    CHECK_TEXT(buf_string(&got), wanted);
}

/* GM-040, GM-041. */
TEST(every_form_of_a_field_is_taken)
{
    struct cron cron = parsed("5,10-12,*/30,50/4 9-17/4 */10 1,4,7,10 1-5");
    CHECK_INT(cron.minutes, 1ULL << 0 | 1ULL << 5 | 7ULL << 10 | 1ULL << 30 | 1ULL << 50 |
                                1ULL << 54 | 1ULL << 58);
    CHECK_INT(cron.hours, 1 << 9 | 1 << 13 | 1 << 17);
    CHECK_INT(cron.days, 1LL << 1 | 1LL << 11 | 1LL << 21 | 1LL << 31);
    CHECK_INT(cron.months, 1 << 1 | 1 << 4 | 1 << 7 | 1 << 10);
    CHECK_INT(cron.weekdays, 0x3e);
    CHECK(cron.is_day_and && !cron.is_wild_time);
    const char *promised[] = {"0 9 * * *", "0 * * * *", "*/10 * * * *", "0 9 * * 1",
                              "0 9 1 1,4,7,10 *"};
    for (size_t i = 0; i < sizeof promised / sizeof promised[0]; i++) {
        CHECK_INT(cron_check(promised[i], NULL), 0);
    }
}

TEST(blanks_tabs_names_and_nicknames_are_taken_as_cron_takes_them)
{
    check_same(" \t0\t9  * *   * ", "0 9 * * *");
    check_same("0 9 * JAN-mar,Dec Mon,wed-FRI", "0 9 * 1-3,12 1,3-5");
    check_same("0 9 * * 7", "0 9 * * 0");
    check_same("0 9 * * fri-sun", "0 9 * * 5,6,0");
    check_same("0 9 * * 5-7", "0 9 * * 5,6,0");
    check_same("0 9 * * sat-mon", "0 9 * * 6,0,1");
    check_same("0 9 * * mon-fri/2", "0 9 * * 1,3,5");
    check_same("0 9 * * 0-7", "0 9 * * 0-6");
    check_same("@daily", "0 0 * * *");
    check_same("@midnight", "0 0 * * *");
    check_same(" @Hourly\t", "0 * * * *");
    check_same("@weekly", "0 0 * * 0");
    check_same("@monthly", "0 0 1 * *");
    check_same("@yearly", "0 0 1 1 *");
    check_same("@annually", "0 0 1 1 *");
    check_same("007 09 * * *", "7 9 * * *");
}

/* SPEC Part B. */
TEST(wrong_expressions_are_refused_in_the_words_scripts_know)
{
    const char *count = "report.report_time must be a 5-field cron string like '0 9 * * *' "
                        "(minute hour day-of-month month day-of-week)";
    check_refused("", count);
    check_refused("0 9 * *", count);
    check_refused("0 9 * * * *", count);
    check_refused("61 9 * * *", "Cron value out of range: 61 (minute: 0 to 59)");
    check_refused("0 24 * * *", "Cron value out of range: 24 (hour: 0 to 23)");
    check_refused("0 9 0 * *", "Cron value out of range: 0 (day of month: 1 to 31)");
    check_refused("0 9 * 13 *", "Cron value out of range: 13 (month: 1 to 12 or jan to dec)");
    check_refused("0 9 * * 8", "Cron value out of range: 8 (weekday: 0 to 7 or sun to sat, 0 and "
                               "7 are Sunday)");
    check_refused("99999999999999999999 9 * * *",
                  "Cron value out of range: 99999999999999999999 (minute: 0 to 59)");
    check_refused("x 9 * * *", "Invalid cron value: x (minute: 0 to 59)");
    check_refused("0 mon * * *", "Invalid cron value: mon (hour: 0 to 23)");
    check_refused("0 9 * janu *", "Invalid cron value: janu (month: 1 to 12 or jan to dec)");
    check_refused("+1 9 * * *", "Invalid cron value: +1 (minute: 0 to 59)");
    check_refused("0 -1 * * *", "Invalid cron range: -1 (hour: 0 to 23)");
    check_refused("0 9- * * *", "Invalid cron range: 9- (hour: 0 to 23)");
    check_refused("0 /5 * * *", "Invalid cron field: /5 (hour: 0 to 23)");
    check_refused("1, 9 * * *", "Invalid cron field: 1, (minute: 0 to 59)");
    check_refused(",1 9 * * *", "Invalid cron field: ,1 (minute: 0 to 59)");
    check_refused("1,,2 9 * * *", "Invalid cron field: 1,,2 (minute: 0 to 59)");
    check_refused("*/0 9 * * *", "Invalid cron step: 0 (minute: 0 to 59)");
    check_refused("*/x 9 * * *", "Invalid cron step: x (minute: 0 to 59)");
    check_refused("*/ 9 * * *", "Invalid cron field: */ (minute: 0 to 59)");
    check_refused("*/60 9 * * *", "Invalid cron step: 60 (minute: 0 to 59)");
    check_refused("*/5/5 9 * * *", "Invalid cron step: 5/5 (minute: 0 to 59)");
    check_refused("30-10 9 * * *", "Invalid cron range: 30-10 (minute: 0 to 59)");
    check_refused("1-2-3 9 * * *", "Invalid cron range: 1-2-3 (minute: 0 to 59)");
    check_refused("*-5 9 * * *", "Invalid cron value: * (minute: 0 to 59)");
    check_refused("** 9 * * *", "Invalid cron value: ** (minute: 0 to 59)");
    check_refused("\x1b[31m 9 * * *", "Invalid cron value: ?[31m (minute: 0 to 59)");
    check_refused("0 9 * * *\n", "Invalid cron value: *? (weekday: 0 to 7 or sun to sat, 0 and 7 "
                                 "are Sunday)");
}

TEST(a_nickname_that_is_no_time_is_refused_with_what_helps)
{
    check_refused("@reboot", "@reboot is not a time of the clock, and a report needs one: write 5 "
                             "fields like '0 9 * * *', or @hourly, @daily, @weekly, @monthly, "
                             "@yearly");
    check_refused("@fortnightly", "Invalid cron field: @fortnightly (known are @hourly, @daily, "
                                  "@midnight, @weekly, @monthly, @yearly, @annually)");
    check_refused("@daily *", "Invalid cron field: @daily * (known are @hourly, @daily, "
                              "@midnight, @weekly, @monthly, @yearly, @annually)");
}

TEST(what_can_never_fire_is_refused)
{
    check_refused("0 0 30 2 *", "the cron string '0 0 30 2 *' can never fire: no month it names "
                                "has such a day");
    check_refused("0 0 31 2,4,6,9,11 *", "the cron string '0 0 31 2,4,6,9,11 *' can never fire: no "
                                         "month it names has such a day");
    CHECK_INT(cron_check("0 0 30 2 */2", NULL), -EINVAL);
    CHECK_INT(cron_check("0 0 29 2 *", NULL), 0);
    CHECK_INT(cron_check("0 0 30 2 1", NULL), 0); /* the Mondays of February */
    CHECK_INT(cron_check("0 0 31 4,5 *", NULL), 0);
}

TEST(a_text_without_end_is_not_read_to_its_end)
{
    char text[1024];
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    check_refused(text, "the cron string is longer than 512 characters");
}

/* Case TM01. */
TEST(steps_on_a_star_fire_when_cron_fires)
{
    const char *base = "2026-11-30T15:00:00Z";
    check_next("*/10 * * * *", "Asia/Seoul", base,
               "2026-11-30T15:10Z,2026-11-30T15:20Z,2026-11-30T15:30Z,2026-11-30T15:40Z");
    check_next("*/7 * * * *", "Asia/Seoul", "2026-11-30T15:49:00Z",
               "2026-11-30T15:56Z,2026-11-30T16:00Z,2026-11-30T16:07Z");
    check_next("0 */5 * * *", "Asia/Seoul", base,
               "2026-11-30T20:00Z,2026-12-01T01:00Z,2026-12-01T06:00Z,2026-12-01T11:00Z,"
               "2026-12-01T15:00Z,2026-12-01T20:00Z");
    check_next("0 9 */2 * *", "Asia/Seoul", base,
               "2026-12-01T00:00Z,2026-12-03T00:00Z,2026-12-05T00:00Z");
    check_next("0 9 1 */3 *", "Asia/Seoul", base,
               "2027-01-01T00:00Z,2027-04-01T00:00Z,2027-07-01T00:00Z,2027-10-01T00:00Z");
}

/* Case TM02, Part C 2. */
TEST(day_of_month_or_weekday_fires_on_either_and_once)
{
    const char *base = "2026-11-30T15:00:00Z";
    check_next("0 9 13 * 5", "Asia/Seoul", base,
               "2026-12-04T00:00Z,2026-12-11T00:00Z,2026-12-13T00:00Z,2026-12-18T00:00Z");
    /* Friday 13 November 2026 is both. */
    check_next("0 9 13 * 5", "Asia/Seoul", "2026-11-12T12:00:00Z",
               "2026-11-13T00:00Z,2026-11-20T00:00Z");
    check_next("0 9 1 * 1", "Asia/Seoul", base,
               "2026-12-01T00:00Z,2026-12-07T00:00Z,2026-12-14T00:00Z");
}

TEST(a_day_field_that_begins_with_a_star_asks_for_both)
{
    check_next("0 9 */2 * 1", "UTC", "2026-12-01T00:00:00Z",
               "2026-12-07T09:00Z,2026-12-21T09:00Z,2027-01-11T09:00Z");
    check_next("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00Z,2032-02-29T00:00Z");
    check_next("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00Z");
}

/* Case TM11. */
TEST(a_fixed_time_in_the_spring_gap_fires_at_the_first_valid_instant)
{
    check_next("30 2 * * *", "America/New_York", "2026-03-07T00:00:00Z",
               "2026-03-07T07:30Z,2026-03-08T07:00Z,2026-03-09T06:30Z");
    check_next("30 2 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z",
               "2027-03-27T01:30Z,2027-03-28T01:00Z,2027-03-29T00:30Z");
    check_next("0 0 * * *", "Africa/Cairo", "2026-04-22T12:00:00Z",
               "2026-04-22T22:00Z,2026-04-23T22:00Z,2026-04-24T21:00Z,2026-04-25T21:00Z");
    check_next("0 3 * * *", "America/New_York", "2026-03-07T00:00:00Z",
               "2026-03-07T08:00Z,2026-03-08T07:00Z,2026-03-09T07:00Z");
    /* Both 02:30 and 03:00 stand for 03:00 on that day: one run. */
    check_next("0,30 2,3 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z",
               "2027-03-28T01:00Z,2027-03-28T01:30Z,2027-03-29T00:00Z");
    /* Nuuk jumps from 23:00 to midnight: the run of that evening is the next day's first minute. */
    check_next("30 23 * * *", "America/Nuuk", "2027-03-27T12:00:00Z",
               "2027-03-28T01:00Z,2027-03-29T00:30Z");
}

TEST(a_fixed_time_in_the_autumn_fold_fires_once_at_the_first)
{
    check_next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
               "2026-10-25T00:30Z,2026-10-26T01:30Z");
    check_next("30 1,2,3 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z",
               "2026-10-24T23:30Z,2026-10-25T00:30Z,2026-10-25T02:30Z");
}

TEST(a_wild_time_counts_real_minutes_when_the_clocks_jump)
{
    check_next("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z",
               "2026-10-25T00:30Z,2026-10-25T01:00Z,2026-10-25T01:30Z,2026-10-25T02:00Z");
    check_next("30 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z",
               "2027-03-28T00:30Z,2027-03-28T01:30Z,2027-03-28T02:30Z");
    /* At midnight Cairo goes back to 23:00 of the same day. */
    check_next("30 * * * *", "Africa/Cairo", "2026-10-29T20:00:00Z",
               "2026-10-29T20:30Z,2026-10-29T21:30Z,2026-10-29T22:30Z");
    /* Lord Howe moves by half an hour. */
    check_next("*/15 * * * *", "Australia/Lord_Howe", "2027-04-03T14:30:00Z",
               "2027-04-03T14:45Z,2027-04-03T15:00Z,2027-04-03T15:15Z,2027-04-03T15:30Z");
}

TEST(the_next_run_is_after_the_instant_and_not_at_it)
{
    check_next("0 9 * * *", "UTC", "2026-12-01T09:00:00Z", "2026-12-02T09:00Z");
    check_next("0 9 * * *", "UTC", "2026-12-01T08:59:59Z", "2026-12-01T09:00Z");
    check_next("* * * * *", "UTC", "2026-12-01T08:59:59Z", "2026-12-01T09:00Z,2026-12-01T09:01Z");
}

TEST(what_does_not_fire_within_ten_years_has_no_next_run)
{
    struct zone utc = {.name = "UTC"};
    /* A Sunday 29 February: 2032, then 2060. */
    struct cron cron = parsed("0 0 29 2 */7");
    int64_t at = 7;
    CHECK(cron_next(&cron, &utc, 1767225600, &at)); /* 2026-01-01 */
    CHECK_INT(at, 1961625600);
    at = 7;
    CHECK(!cron_next(&cron, &utc, 1961625600, &at));
    CHECK_INT(at, 7);
    CHECK(!cron_next(&cron, &utc, INT64_MAX, &at));
    CHECK(!cron_next(&cron, &utc, INT64_MIN, &at));
}

MAIN(RUN(every_form_of_a_field_is_taken),
     RUN(blanks_tabs_names_and_nicknames_are_taken_as_cron_takes_them),
     RUN(wrong_expressions_are_refused_in_the_words_scripts_know),
     RUN(a_nickname_that_is_no_time_is_refused_with_what_helps),
     RUN(what_can_never_fire_is_refused), RUN(a_text_without_end_is_not_read_to_its_end),
     RUN(steps_on_a_star_fire_when_cron_fires),
     RUN(day_of_month_or_weekday_fires_on_either_and_once),
     RUN(a_day_field_that_begins_with_a_star_asks_for_both),
     RUN(a_fixed_time_in_the_spring_gap_fires_at_the_first_valid_instant),
     RUN(a_fixed_time_in_the_autumn_fold_fires_once_at_the_first),
     RUN(a_wild_time_counts_real_minutes_when_the_clocks_jump),
     RUN(the_next_run_is_after_the_instant_and_not_at_it),
     RUN(what_does_not_fire_within_ten_years_has_no_next_run))
