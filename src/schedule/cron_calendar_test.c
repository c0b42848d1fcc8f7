/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* That systemd agrees is shown by tests/scenario/test_cron.py, which asks systemd itself. */
#include "schedule/cron.h"

#include "base/text.h"

#include "tests/check.h"

#define NOW_S INT64_C(1796083200) /* 2026-12-01T00:00:00Z */

static void check_short(const char *text, const char *zone_name, const char *wanted)
{
    struct cron cron = {0};
    struct zone zone = {.name = "UTC"};
    CHECK_INT(cron_parse(text, &cron, NULL), 0);
    CHECK_INT(zone_open(&zone, zone_name, NULL), 0);
    OWN_BUF struct buf out = {0};
    cron_to_calendar_short(&cron, &zone, &out);
    CHECK_TEXT(buf_string(&out), wanted);
}

static void calendar(const char *text, const char *zone_name, struct buf *out)
{
    struct cron cron = {0};
    struct zone zone = {.name = "UTC"};
    CHECK_INT(cron_parse(text, &cron, NULL), 0);
    CHECK_INT(zone_open(&zone, zone_name, NULL), 0);
    cron_to_calendar(&cron, &zone, NOW_S, out);
}

static void check_calendar(const char *text, const char *zone_name, const char *wanted)
{
    OWN_BUF struct buf out = {0};
    calendar(text, zone_name, &out);
    CHECK_TEXT(buf_string(&out), wanted);
}

static int line_count(const struct buf *out)
{
    int count = 0;
    for (size_t i = 0; i < out->length; i++) {
        count += out->data[i] == '\n';
    }
    return count;
}

/* GM-042, GM-043, and the examples of GM-041. */
TEST(the_usual_time_is_one_line_with_two_digits_and_the_zone)
{
    check_calendar("0 9 * * *", "Asia/Seoul", "*-*-* 09:00:00 Asia/Seoul\n");
    check_calendar("0 * * * *", "Asia/Seoul", "*-*-* *:00:00 Asia/Seoul\n");
    check_calendar("*/10 * * * *", "Asia/Seoul", "*-*-* *:00/10:00 Asia/Seoul\n");
    check_calendar("0 9 * * 1", "Asia/Seoul", "Mon *-*-* 09:00:00 Asia/Seoul\n");
    check_calendar("0 9 1 1,4,7,10 *", "Asia/Seoul", "*-01..10/3-01 09:00:00 Asia/Seoul\n");
    check_calendar("@daily", "UTC", "*-*-* 00:00:00 UTC\n");
}

/* Case TM01, Part C 1. In systemd 252 the minutes "00/7" lose the first minute of every day, and
 * the hours "00/6" stop for ever at a midnight that the spring jump leaves out (Havana). */
TEST(a_step_is_open_only_for_minutes_that_lead_to_the_next_hour)
{
    check_short("*/7 * * * *", "UTC", "*-*-* *:00..56/7:00 UTC");
    check_short("0 */5 * * *", "UTC", "*-*-* 00..20/5:00:00 UTC");
    check_short("0 */6 * * *", "UTC", "*-*-* 00..18/6:00:00 UTC");
    check_short("5/10 * * * *", "UTC", "*-*-* *:05..55/10:00 UTC");
    check_short("0 9 */2 * *", "UTC", "*-*-01..31/2 09:00:00 UTC");
    check_short("0 9 1 */3 *", "UTC", "*-01..10/3-01 09:00:00 UTC");
    check_short("*/30 9-17 * * *", "UTC", "*-*-* 09..17:00,30:00 UTC");
    check_short("1,2,3,7,8 9,17 * * *", "UTC", "*-*-* 09,17:01..03,07,08:00 UTC");
    check_short("* * * * *", "UTC", "*-*-* *:*:00 UTC");
}

/* Part C 1: "Sun..Thu" is refused by systemd, whose week starts on Monday. */
TEST(weekdays_are_written_from_monday)
{
    check_short("0 9 * * 1-5", "UTC", "Mon..Fri *-*-* 09:00:00 UTC");
    check_short("0 9 * * 0-4", "UTC", "Mon..Thu,Sun *-*-* 09:00:00 UTC");
    check_short("0 9 * * sat,sun", "UTC", "Sat,Sun *-*-* 09:00:00 UTC");
    check_short("0 9 * * fri-sun", "UTC", "Fri..Sun *-*-* 09:00:00 UTC");
    check_short("0 9 * * */2", "UTC", "Tue,Thu,Sat,Sun *-*-* 09:00:00 UTC");
    check_short("0 9 * * 0-7", "UTC", "*-*-* 09:00:00 UTC");
}

/* Case TM02, Part C 2. */
TEST(either_day_field_is_two_lines_and_both_are_one)
{
    check_calendar("0 9 13 * 5", "Asia/Seoul",
                   "Fri *-*-* 09:00:00 Asia/Seoul\n*-*-13 09:00:00 Asia/Seoul\n");
    check_short("0 9 13 * 5", "Asia/Seoul",
                "Fri *-*-* 09:00:00 Asia/Seoul; *-*-13 09:00:00 Asia/Seoul");
    check_short("0 9 */2 * 5", "UTC", "Fri *-*-01..31/2 09:00:00 UTC");
    /* One of the two is every day, or no day at all: one line says it. */
    check_short("0 9 1-31 * 5", "UTC", "*-*-* 09:00:00 UTC");
    check_short("0 9 13 * 0-6", "UTC", "*-*-* 09:00:00 UTC");
    check_short("0 9 30 2 1", "UTC", "Mon *-02-* 09:00:00 UTC");
}

/* Case TM11. */
TEST(a_time_in_the_gap_has_a_line_for_each_of_ten_years)
{
    OWN_BUF struct buf out = {0};
    calendar("30 2 * * *", "Europe/Berlin", &out);
    CHECK(text_starts(buf_string(&out), "*-*-* 02:30:00 Europe/Berlin\n"
                                        "2027-03-28 01:00:00 UTC\n2028-03-26 01:00:00 UTC\n"));
    CHECK(text_ends(buf_string(&out), "\n2036-03-30 01:00:00 UTC\n"));
    CHECK_INT(line_count(&out), 11);
    /* Its end is in the expression already, or on a day that is not. */
    check_calendar("30 2,3 * 7 *", "Europe/Berlin", "*-07-* 02,03:30:00 Europe/Berlin\n");
    check_calendar("0 2,3 * * *", "Europe/Berlin", "*-*-* 02,03:00:00 Europe/Berlin\n");
    check_calendar("0 9 * * *", "Europe/Berlin", "*-*-* 09:00:00 Europe/Berlin\n");
}

TEST(a_wild_time_has_lines_for_the_second_pass_of_the_fold)
{
    OWN_BUF struct buf out = {0};
    calendar("*/10 * * * *", "Europe/Berlin", &out);
    CHECK(text_starts(buf_string(&out), "*-*-* *:00/10:00 Europe/Berlin\n"
                                        "2027-10-31 01:00/10:00 UTC\n"));
    CHECK_INT(line_count(&out), 11);
    /* In St. John's the repeated hour lies across two hours of UTC. */
    buf_clear(&out);
    calendar("*/30 * * * *", "America/St_Johns", &out);
    CHECK(strstr(buf_string(&out), "\n2027-11-07 04:30:00 UTC\n2027-11-07 05:00:00 UTC\n") != NULL);
    /* A fixed time runs once. */
    check_calendar("30 1 * * *", "Europe/London",
                   "*-*-* 01:30:00 Europe/London\n"
                   "2027-03-28 01:00:00 UTC\n"
                   "2028-03-26 01:00:00 UTC\n"
                   "2029-03-25 01:00:00 UTC\n"
                   "2030-03-31 01:00:00 UTC\n"
                   "2031-03-30 01:00:00 UTC\n"
                   "2032-03-28 01:00:00 UTC\n"
                   "2033-03-27 01:00:00 UTC\n"
                   "2034-03-26 01:00:00 UTC\n"
                   "2035-03-25 01:00:00 UTC\n"
                   "2036-03-30 01:00:00 UTC\n");
}

/* Where the zone calls winter time daylight saving time, systemd may give up at the gap. */
TEST(in_dublin_the_first_run_behind_the_gap_has_a_line)
{
    OWN_BUF struct buf out = {0};
    calendar("0 9 * * *", "Europe/Dublin", &out);
    CHECK(text_starts(buf_string(&out), "*-*-* 09:00:00 Europe/Dublin\n"
                                        "2027-03-28 08:00:00 UTC\n2028-03-26 08:00:00 UTC\n"));
    CHECK_INT(line_count(&out), 11);
}

MAIN(RUN(the_usual_time_is_one_line_with_two_digits_and_the_zone),
     RUN(a_step_is_open_only_for_minutes_that_lead_to_the_next_hour),
     RUN(weekdays_are_written_from_monday), RUN(either_day_field_is_two_lines_and_both_are_one),
     RUN(a_time_in_the_gap_has_a_line_for_each_of_ten_years),
     RUN(a_wild_time_has_lines_for_the_second_pass_of_the_fold),
     RUN(in_dublin_the_first_run_behind_the_gap_has_a_line))
