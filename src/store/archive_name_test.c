/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_name.h"

#include "tests/check.h"

/* GM-004 */
TEST(names_are_read_as_they_are_written)
{
    static const char *const names[] = {"2026-03-22T16-21-00.csv", "2024-02-29T23-59-59.csv",
                                        "1969-12-31T00-00-00-2.csv",
                                        "2026-10-25T02-30-00-32767.csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char out[ARCHIVE_NAME_SIZE];
        struct archive_name name = archive_name_parse(names[i]);
        CHECK_INT(name.kind, ARCHIVE_NAME_SAMPLE);
        archive_name_format(name.day, name.key, out);
        CHECK_TEXT(out, names[i]);
    }
    char out[ARCHIVE_NAME_SIZE];
    struct archive_name day = archive_name_parse("2026-03-22.csv");
    CHECK_INT(day.kind, ARCHIVE_NAME_DAY);
    archive_name_format_day(day.day, out);
    CHECK_TEXT(out, "2026-03-22.csv");
    CHECK_INT(archive_name_naive_s(day.day, archive_name_parse("2026-03-22T16-21-00.csv").key),
              1774196460);
}

TEST(what_says_no_time_is_foreign_and_what_is_no_csv_is_nothing)
{
    static const char *const foreign[] = {"notes.csv",
                                          "2026-02-29T00-00-00.csv",
                                          "2026-13-01.csv",
                                          "2026-03-22T24-00-00.csv",
                                          "2026-03-22T1-2-3.csv",
                                          "2026-03-22T16-21-00-1.csv",
                                          "2026-03-22T16-21-00-02.csv",
                                          "2026-03-22T16-21-00-99999.csv",
                                          "2026-03-22T16-21-00 (copy).csv",
                                          "0000-01-01.csv"};
    static const char *const nothing[] = {
        "notes.txt", ".csv", "csv", ".hidden.csv", "2026-03-22.csv.gz", ".tmp-0123456789abcdef"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        CHECK_INT(archive_name_parse(foreign[i]).kind, ARCHIVE_NAME_FOREIGN);
    }
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        CHECK_INT(archive_name_parse(nothing[i]).kind, ARCHIVE_NAME_OTHER);
    }
}

MAIN(RUN(names_are_read_as_they_are_written),
     RUN(what_says_no_time_is_foreign_and_what_is_no_csv_is_nothing))
