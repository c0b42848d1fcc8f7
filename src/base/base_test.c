/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/csv.h"
#include "base/err.h"
#include "base/file.h"
#include "base/jsonout.h"
#include "base/own.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/zone.h"

#include "tests/check.h"

#include <errno.h>
#include <sys/stat.h>

TEST(an_error_says_what_was_tried_and_why)
{
    struct err err = {0};
    CHECK_INT(err_errno(&err, -ENOENT, "cannot open %s", "x"), -ENOENT);
    CHECK_TEXT(err.text, "cannot open x: No such file or directory");
    err_prefix(&err, "line %d: ", 3);
    CHECK_TEXT(err.text, "line 3: cannot open x: No such file or directory");
    CHECK_INT(err_set(NULL, -EINVAL, "nobody listens"), -EINVAL);
}

TEST(a_buffer_grows_and_stays_a_string)
{
    struct buf buf = {0};
    CHECK_TEXT(buf_string(&buf), "");
    for (int i = 0; i < 1000; i++) {
        buf_format(&buf, "%d,", i);
    }
    CHECK_INT(buf.length, strlen(buf.data));
    CHECK(text_ends(buf_string(&buf), "998,999,"));
    buf_fini(&buf);
}

TEST(numbers_are_whole_texts)
{
    int64_t number = 7;
    CHECK(text_to_int64(span_of("-9223372036854775808"), &number) && number == INT64_MIN);
    CHECK(text_to_int64(span_of("9223372036854775807"), &number) && number == INT64_MAX);
    const char *bad[] = {"", "-", "+1", "1 ", "9223372036854775808", "1e3", "0x1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!text_to_int64(span_of(bad[i]), &number));
    }
    double value = 0;
    CHECK(text_to_double(span_of("35.50"), &value) && value == 35.5);
    CHECK(text_to_double(span_of("1e+2"), &value) && value == 100);
    const char *no[] = {"nan", "inf", "1e400", "0x10", "", "1,5", "12 W"};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        CHECK(!text_to_double(span_of(no[i]), &value));
    }
}

TEST(foreign_text_is_made_harmless)
{
    char out[16];
    const char foreign[] = "a\x1b[1m\xff\xc3\xa9\n";
    text_clean(out, sizeof out, foreign, sizeof foreign - 1);
    CHECK_TEXT(out, "a?[1m?\xc3\xa9?");
    text_copy(out, 3, "x\xc3\xa9");
    CHECK_TEXT(out, "x");
}

TEST(the_nearest_word_is_found)
{
    const char *const words[] = {"interval", "report_time", "name", NULL};
    CHECK_TEXT(text_nearest("intervl", words), "interval");
    CHECK(text_nearest("zebra", words) == NULL);
}

TEST(json_is_valid_whatever_the_text)
{
    OWN_BUF struct buf buf = {0};
    struct jsonout json = {.out = &buf, .is_ascii = true, .indent = -1};
    jsonout_begin_object(&json);
    jsonout_key(&json, "text");
    jsonout_string(&json, "a\"\\\n\x01\xff\xf0\x9f\x98\x80");
    jsonout_key(&json, "list");
    jsonout_begin_array(&json);
    jsonout_number(&json, 0.0 / 0.0, 2);
    jsonout_number(&json, 0.1, -1);
    jsonout_int(&json, -5);
    jsonout_bool(&json, true);
    jsonout_end_array(&json);
    jsonout_end_object(&json);
    CHECK_TEXT(buf_string(&buf), "{\"text\": \"a\\\"\\\\\\n\\u0001\\ufffd\\ud83d\\ude00\", "
                                 "\"list\": [null, 0.1, -5, true]}");
}

TEST(csv_rows_are_read_as_python_reads_them)
{
    char text[] = "a,\"b,\"\"c\"\"\",\r\nlast";
    char *rest = text;
    char *end = text + sizeof text - 1;
    struct csv_row row;
    REQUIRE(csv_read(&rest, end, &row));
    CHECK_INT(row.count, 3);
    CHECK(span_equals(row.field[1], "b,\"c\""));
    CHECK(row.is_ended && !row.is_malformed);
    REQUIRE(csv_read(&rest, end, &row));
    CHECK(span_equals(row.field[0], "last") && !row.is_ended);
    CHECK(!csv_read(&rest, end, &row));
    char odd[] = "\"open\n";
    rest = odd;
    REQUIRE(csv_read(&rest, odd + sizeof odd - 1, &row));
    CHECK(row.is_malformed);
}

TEST(times_with_an_offset_are_instants)
{
    int64_t at = 0;
    int offset = 0;
    REQUIRE(clock_parse_iso("2026-03-22T16:30:00+09:00", 25, &at, &offset));
    CHECK_INT(at, 1774164600);
    CHECK_INT(offset, 32400);
    const char *bad[] = {"2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-03-22T16:30:00",
                         "2026-03-22T25:30:00Z", "2026-03-22T16:30:00+0900"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!clock_parse_iso(bad[i], (int64_t)strlen(bad[i]), &at, &offset));
    }
}

/* Case TM17. */
TEST(wrong_zone_names_are_never_utc)
{
    struct zone zone;
    const char *good[] = {"Asia/Seoul", "UTC", "Etc/GMT-9", "Europe/Berlin"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK_INT(zone_open(&zone, good[i], NULL), 0);
    }
    const char *bad[] = {
        "Asia/seoul",     "KST",       "UTC+9",    "Asia/Seoul ", "../../etc/passwd",
        "/etc/localtime", "Nope/Zone", "zone.tab", "Asia",        "Asia//Seoul"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(zone_open(&zone, bad[i], NULL), -EINVAL);
    }
}

static struct zone opened(const char *name)
{
    struct zone zone = {.name = "UTC"};
    CHECK_INT(zone_open(&zone, name, NULL), 0);
    return zone;
}

TEST(the_repeated_autumn_hour_has_two_instants)
{
    struct zone berlin = opened("Europe/Berlin");
    struct civil fold = {.year = 2026, .month = 10, .day = 25, .hour = 2, .minute = 30};
    int64_t instants[2] = {0};
    CHECK_INT(zone_instants(&berlin, &fold, instants), 2);
    CHECK_INT(instants[0], 1792888200); /* 2026-10-25T00:30:00Z */
    CHECK_INT(instants[1], 1792891800);
    char text[32];
    zone_format_iso(&berlin, instants[1], text);
    CHECK_TEXT(text, "2026-10-25T02:30:00+01:00");
}

TEST(a_time_in_the_spring_gap_becomes_the_first_valid_instant)
{
    struct zone york = opened("America/New_York");
    struct civil gap = {.year = 2026, .month = 3, .day = 8, .hour = 2, .minute = 30};
    int64_t instants[2];
    CHECK_INT(zone_instants(&york, &gap, instants), 0);
    CHECK_INT(zone_instant(&york, &gap), 1772953200); /* 2026-03-08T07:00:00Z */
    struct zone cairo = opened("Africa/Cairo");
    struct civil midnight = {.year = 2026, .month = 4, .day = 24};
    CHECK_INT(zone_instant(&cairo, &midnight), 1776981600); /* 2026-04-23T22:00:00Z */
}

TEST(dates_move_by_days)
{
    struct civil date = {.year = 2026, .month = 2, .day = 28};
    civil_add_days(&date, 1);
    CHECK_INT(date.month, 3);
    CHECK_INT(date.day, 1);
    CHECK_INT(date.weekday, 0);
    civil_add_days(&date, -366);
    CHECK_INT(date.year, 2025);
    CHECK_INT(date.day, 28);
}

TEST(a_child_that_hangs_is_killed_with_all_it_started)
{
    const char *argv[] = {"sh", "-c", "echo begun; sleep 300 & wait", NULL};
    struct spawn spawn = {.argv = argv, .deadline_ns = 300 * NS_PER_MS};
    OWN_SPAWN_RESULT struct spawn_result result;
    int64_t start = clock_mono_ns();
    CHECK_INT(spawn_run(&spawn, &result, NULL), -ETIMEDOUT);
    CHECK(clock_mono_ns() - start < 5 * NS_PER_S);
    CHECK_TEXT(buf_string(&result.out), "begun\n");
    CHECK(result.is_timed_out);
}

TEST(a_child_gets_its_input_and_gives_its_status)
{
    const char *argv[] = {"sh", "-c", "cat; echo oops >&2; exit 14", NULL};
    struct spawn spawn = {.argv = argv, .input = "hello"};
    OWN_SPAWN_RESULT struct spawn_result result;
    CHECK_INT(spawn_run(&spawn, &result, NULL), 0);
    CHECK_TEXT(buf_string(&result.out), "hello");
    CHECK_TEXT(buf_string(&result.error), "oops\n");
    CHECK_INT(result.exit_status, 14);
    const char *missing[] = {"no-such-program-anywhere", NULL};
    struct err err = {0};
    OWN_SPAWN_RESULT struct spawn_result none;
    CHECK_INT(spawn_run(&(struct spawn){.argv = missing}, &none, &err), -ENOENT);
    CHECK_TEXT(err.text, "no-such-program-anywhere not found");
}

TEST(files_are_written_whole_and_read_under_a_limit)
{
    char folder[] = "/tmp/gpumanager-base-XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL);
    char path[64];
    (void)snprintf(path, sizeof path, "%s/a", folder);
    CHECK_INT(file_write(path, "one", 3, 0600, FILE_NEW_ONLY, NULL), 0);
    struct err err = {0};
    CHECK_INT(file_write(path, "two", 3, 0600, FILE_NEW_ONLY, &err), -EEXIST);
    CHECK_INT(file_write(path, "three", 5, 0640, FILE_REPLACE, NULL), 0);
    struct stat status;
    CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0640);
    OWN_BUF struct buf buf = {0};
    CHECK_INT(file_read(path, 5, &buf, NULL), 0);
    CHECK_TEXT(buf_string(&buf), "three");
    CHECK_INT(file_read(path, 4, &buf, &err), -EFBIG);
    (void)unlink(path);
    CHECK_INT(file_read(path, 4, &buf, &err), -ENOENT);
    CHECK_INT(rmdir(folder), 0); /* no temporary file is left */
}

MAIN(RUN(an_error_says_what_was_tried_and_why), RUN(a_buffer_grows_and_stays_a_string),
     RUN(numbers_are_whole_texts), RUN(foreign_text_is_made_harmless),
     RUN(the_nearest_word_is_found), RUN(json_is_valid_whatever_the_text),
     RUN(csv_rows_are_read_as_python_reads_them), RUN(times_with_an_offset_are_instants),
     RUN(wrong_zone_names_are_never_utc), RUN(the_repeated_autumn_hour_has_two_instants),
     RUN(a_time_in_the_spring_gap_becomes_the_first_valid_instant), RUN(dates_move_by_days),
     RUN(a_child_that_hangs_is_killed_with_all_it_started),
     RUN(a_child_gets_its_input_and_gives_its_status),
     RUN(files_are_written_whole_and_read_under_a_limit))
