/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/units.h"

#include "base/clock.h"
#include "base/text.h"
#include "schedule/timer_facts.h"

#include "tests/check.h"

#include <errno.h>

#include "schedule/units_testing.h"

#define NOW_S INT64_C(1774231200) /* Mon 2026-03-23 11:00:00 KST */
#define NOW_HOOK "@1774231200"
#define S INT64_C(1000000)
#define TIMER "gpumanager-report-default.timer"

/* As format_timestamp_relative() of systemd 252 words them. */
TEST(the_time_left_is_worded_as_systemctl_does)
{
    static const struct {
        int64_t left_us;
        const char *text;
    } rows[] = {
        {0, "now"},
        {S - 1, "999ms left"},
        {-999, "999us ago"},
        {2 * S - 1, "1s left"},
        {1 * S, "1s left"},
        {59 * S, "59s left"},
        {60 * S, "1min 0s left"},
        {(4 * 60 + 3) * S, "4min 3s left"},
        {(5 * 60 + 3) * S, "5min left"},
        {5400 * S, "1h 30min left"},
        {(22 * 3600 + 59) * S, "22h left"},
        {24 * 3600 * S, "24h left"},
        {27 * 3600 * S, "1 day 3h left"},
        {(2 * 86400 + 3600) * S, "2 days left"},
        {9 * 86400 * S, "1 week 2 days left"},
        {15 * 86400 * S, "2 weeks 1 day left"},
        {(2629800 + 3 * 86400) * S, "1 month 3 days left"},
        {(31557600 + 2 * 2629800) * S, "1 year 2 months left"},
        {-5 * S, "5s ago"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        OWN_BUF struct buf text = {0};
        timer_left(rows[i].left_us, &text);
        CHECK_TEXT(buf_string(&text), rows[i].text);
    }
}

TEST(spans_are_read_as_systemd_prints_them)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"0", -1},
        {"infinity", -1},
        {"", -1},
        {"5", -1},
        {"s", -1},
        {"1d  2h", -1},
        {"1.2.3s", -1},
        {"999999999999999999y", -1},
        {"12us", 12},
        {"500.012ms", 500012},
        {"4.567890s", 4567890},
        {"1d 2h 3min 4s", INT64_C(93784000000)},
        {"2y 1month 1w", INT64_C(66349800000000)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t us = -1;
        CHECK(timer_parse_span(span_of(rows[i].text), &us) == (rows[i].us >= 0));
        CHECK_INT(us, rows[i].us);
    }
}

TEST(stamps_are_read_in_utc_and_in_our_zone)
{
    static const struct {
        const char *zone, *text;
        int64_t s;
    } rows[] = {
        {"Asia/Seoul", "@1774310400", 1774310400},
        {"Asia/Seoul", "Tue 2026-03-24 00:00:00 UTC", 1774310400},
        {"Asia/Seoul", "Tue 2026-03-24 09:00:07 KST", 1774310407},
        {"Asia/Seoul", "Tue 2026-03-24 09:00:00 CET", -1},
        {"Europe/Paris", "Sun 2026-10-25 02:30:00 CEST", 1792888200},
        {"Europe/Paris", "Sun 2026-10-25 02:30:00 CET", 1792891800},
        {"UTC", "n/a", -1},
        {"UTC", "", -1},
        {"UTC", "@", -1},
        {"UTC", "Tue 2026-13-24 00:00:00 UTC", -1},
        {"UTC", "Tue 2026-03-24 00:00:00", -1},
        {"UTC", "Tue 2026-03 00:00:00 UTC", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct zone zone;
        REQUIRE(CHECK_INT(zone_open(&zone, rows[i].zone, NULL), 0));
        int64_t us = -1;
        CHECK(timer_parse_stamp(span_of(rows[i].text), &zone, &us) == (rows[i].s >= 0));
        CHECK_INT(us, rows[i].s >= 0 ? rows[i].s * 1000000 : -1);
    }
}

TEST(the_earlier_elapse_of_both_clocks_is_next)
{
    struct timer_facts facts = {0};
    CHECK_INT(timer_next(&facts, NOW_S * S, 5 * S), 0);
    facts.next_mono_us = 35 * S;
    CHECK_INT(timer_next(&facts, NOW_S * S, 5 * S), (NOW_S + 30) * S);
    facts.next_real_us = (NOW_S + 40) * S;
    CHECK_INT(timer_next(&facts, NOW_S * S, 5 * S), (NOW_S + 30) * S);
    facts.next_real_us = (NOW_S + 20) * S;
    CHECK_INT(timer_next(&facts, NOW_S * S, 5 * S), (NOW_S + 20) * S);
    facts.next_mono_us = 0;
    CHECK_INT(timer_next(&facts, NOW_S * S, 5 * S), (NOW_S + 20) * S);
}

/* --- systemctl show --- */

static bool open_with(struct machine *machine, const char *show)
{
    if (!machine_open(machine)) {
        return false;
    }
    OWN_FREE char *search = mem_format("%s/bin:/usr/bin:/bin", machine->folder);
    (void)setenv("PATH", search, 1); /* env is there */
    machine_write(machine, "show", show);
    machine_write(machine, "root/etc/systemd/system/" TIMER, "");
    return true;
}

static void ask(const char *timer, struct units_timer_state *out)
{
    struct zone zone;
    CHECK_INT(zone_open(&zone, "Asia/Seoul", NULL), 0);
    (void)setenv("GPUMANAGER_NOW", NOW_HOOK, 1);
    units_timer_state(timer, &zone, out);
}

#define OWN_STATE __attribute__((cleanup(units_timer_state_fini)))

/* GM-092. */
TEST(systemctl_tells_the_next_run)
{
    OWN_MACHINE struct machine machine;
    if (!open_with(&machine, "LoadState=loaded\nUnitFileState=enabled\n"
                             "NextElapseUSecRealtime=Tue 2026-03-24 00:00:00 UTC\n"
                             "NextElapseUSecMonotonic=infinity\n"
                             "LastTriggerUSec=Mon 2026-03-23 00:00:01 UTC\n")) {
        return;
    }
    OWN_STATE struct units_timer_state state;
    ask(TIMER, &state);
    CHECK(state.is_installed && state.is_enabled);
    CHECK_TEXT(state.next_trigger, "Tue 2026-03-24 09:00:00 KST; 22h left");
    CHECK_INT(state.next_s, 1774310400);
    CHECK_INT(state.last_s, 1774224001);
}

TEST(a_monotonic_timer_has_a_time_of_the_wall_clock)
{
    OWN_BUF struct buf show = {0};
    int64_t next_us = (clock_mono_ns() / NS_PER_S + 7200) * INT64_C(1000000);
    buf_format(&show,
               "LoadState=loaded\nUnitFileState=disabled\nNextElapseUSecRealtime=\n"
               "NextElapseUSecMonotonic=%lldus\nLastTriggerUSec=n/a\n",
               (long long)next_us);
    OWN_MACHINE struct machine machine;
    if (!open_with(&machine, show.data)) {
        return;
    }
    OWN_STATE struct units_timer_state state;
    ask(TIMER, &state);
    CHECK(!state.is_enabled);
    CHECK(state.next_s > NOW_S + 7100 && state.next_s <= NOW_S + 7200);
    CHECK_INT(state.last_s, 0);
}

/* Case TM19: such a timer is seen. */
TEST(a_timer_that_waits_for_nothing_has_no_next_run)
{
    OWN_MACHINE struct machine machine;
    if (!open_with(&machine, "LoadState=loaded\nUnitFileState=disabled\n"
                             "NextElapseUSecRealtime=n/a\nNextElapseUSecMonotonic=infinity\n")) {
        return;
    }
    OWN_STATE struct units_timer_state state;
    ask(TIMER, &state);
    CHECK_TEXT(state.next_trigger, "n/a");
    CHECK_INT(state.next_s, 0);
}

/* GM-091. */
TEST(a_unit_that_systemd_does_not_know_is_not_found)
{
    OWN_MACHINE struct machine machine;
    if (!open_with(&machine, "LoadState=not-found\nUnitFileState=\n")) {
        return;
    }
    OWN_STATE struct units_timer_state state;
    ask("gpumanager-report-x.timer", &state);
    CHECK(!state.is_installed && !state.is_enabled);
    CHECK_TEXT(state.next_trigger, "not found");
}

TEST(without_an_answer_the_next_run_is_unknown)
{
    OWN_MACHINE struct machine machine;
    if (!open_with(&machine, "")) {
        return;
    }
    OWN_STATE struct units_timer_state silent;
    ask(TIMER, &silent);
    CHECK(silent.is_installed && silent.next_trigger == NULL);
    machine_write(&machine, "fail-show", "");
    OWN_STATE struct units_timer_state failed;
    ask(TIMER, &failed);
    CHECK(failed.is_installed && failed.next_trigger == NULL);
    machine_set(&machine, "PATH", "empty");
    OWN_STATE struct units_timer_state state;
    ask(TIMER, &state);
    CHECK(state.is_installed && !state.is_enabled && state.next_trigger == NULL);
}

MAIN(RUN(the_time_left_is_worded_as_systemctl_does), RUN(spans_are_read_as_systemd_prints_them),
     RUN(stamps_are_read_in_utc_and_in_our_zone), RUN(the_earlier_elapse_of_both_clocks_is_next),
     RUN(systemctl_tells_the_next_run), RUN(a_monotonic_timer_has_a_time_of_the_wall_clock),
     RUN(a_timer_that_waits_for_nothing_has_no_next_run),
     RUN(a_unit_that_systemd_does_not_know_is_not_found),
     RUN(without_an_answer_the_next_run_is_unknown))
