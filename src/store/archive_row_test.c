/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The fast way to read a row must give what the general way gives, for every line there is. */
#include "store/archive_row.h"

#include "tests/check.h"

#include <errno.h>

struct seen {
    int rows;
    int64_t time_s, micro;
    int32_t index;
    char uuid[128], name[128];
};

static void take(void *arg, const struct archive_row *row)
{
    struct seen *seen = arg;
    seen->rows++;
    seen->time_s = row->time_s;
    seen->micro = row->micro;
    seen->index = row->index;
    (void)snprintf(seen->uuid, sizeof seen->uuid, "%.*s", (int)row->field[ARCHIVE_UUID].length,
                   row->field[ARCHIVE_UUID].data);
    (void)snprintf(seen->name, sizeof seen->name, "%.*s", (int)row->field[ARCHIVE_GPU_NAME].length,
                   row->field[ARCHIVE_GPU_NAME].data);
}

static int64_t parse(const char *line, bool is_fast_off, struct seen *seen)
{
    char text[1024];
    struct archive_rows rows;
    size_t used = 0;
    int length = snprintf(text, sizeof text, ARCHIVE_HEADER "\n%s\n", line);
    *seen = (struct seen){0};
    archive_rows_init(&rows, take, seen);
    rows.is_fast_off = is_fast_off;
    CHECK_INT(archive_rows_parse(&rows, text, (size_t)length, true, &used), 0);
    return rows.skipped;
}

TEST(both_ways_to_read_a_row_agree)
{
    static const struct {
        const char *line;
        int64_t micro; /* -2: no row */
    } cases[] = {
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,35", 35000000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,35.0\r", 35000000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,35.123456", 35123456},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,35.1234567", 35123457},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,.5", 500000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,5.", 5000000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,1e1", 10000000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,100", 100000000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,100.000001", ARCHIVE_NO_VALUE},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,99999999999999999999", ARCHIVE_NO_VALUE},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,-3", ARCHIVE_NO_VALUE},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,", ARCHIVE_NO_VALUE},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,[Not Supported]", ARCHIVE_NO_VALUE},
        {"2026-03-22T16:21:00+09:00, 0, GPU-a, A100, 35 ", 35000000},
        {"2026-03-22T16:21:00Z,0,GPU-a,A100,35", 35000000},
        {"2026-03-22T16:21:00.250+09:00,0,GPU-a,A100,35", 35000000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,\"A \"\"1\"\", x\",35", 35000000},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,,35", 35000000},
        {"2026-03-22T16:21:00,0,GPU-a,A100,35", -2},
        {"2026-02-30T16:21:00+09:00,0,GPU-a,A100,35", -2},
        {"2026-03-22T24:21:00+09:00,0,GPU-a,A100,35", -2},
        {"2026-03-22T16:21:00+09:00,-1,GPU-a,A100,35", -2},
        {"2026-03-22T16:21:00+09:00,x,GPU-a,A100,35", -2},
        {"2026-03-22T16:21:00+09:00,0,,A100,35", -2},
        {"2026-03-22T16:21:00+09:00,0,GPU a,A100,35", -2},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100, 80GB,35", -2},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100", -2},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,\"A100,35", -2},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A\r100,35", -2},
        {"2026-03-22T16:21:00+09:00,0,GPU-a,A100,35x", -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen fast;
        struct seen general;
        bool is_row = cases[i].micro != -2;
        CHECK_INT(parse(cases[i].line, false, &fast), is_row ? 0 : 1);
        CHECK_INT(parse(cases[i].line, true, &general), is_row ? 0 : 1);
        CHECK_INT(fast.rows, is_row ? 1 : 0);
        CHECK_INT(general.rows, fast.rows);
        CHECK_INT(fast.micro, is_row ? cases[i].micro : 0);
        CHECK_INT(general.micro, fast.micro);
        CHECK_INT(general.time_s, fast.time_s);
        CHECK_INT(general.index, fast.index);
        CHECK_TEXT(general.uuid, fast.uuid);
        CHECK_TEXT(general.name, fast.name);
    }
}

TEST(a_torn_quote_costs_its_own_line_only)
{
    struct seen seen;
    CHECK_INT(parse("2026-03-22T16:21:00+09:00,0,GPU-a,\"A10\n"
                    "2026-03-22T16:22:00+09:00,0,GPU-a,A100,40",
                    false, &seen),
              1);
    CHECK_INT(seen.rows, 1);
    CHECK_INT(seen.micro, 40000000);
}

TEST(a_file_cut_in_its_header_is_torn_and_others_are_foreign)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"", 0},
        {"timestamp,gpu_in", 0},
        {ARCHIVE_HEADER, 0},
        {"milk", -EBADMSG},
        {"milk\n", -EBADMSG},
        {"\n" ARCHIVE_HEADER "\n", -EBADMSG},
        {"timestamp,gpu_index,gpu_uuid,gpu_name\n", -EBADMSG},
        {ARCHIVE_HEADER "\r2026", -EBADMSG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        struct seen seen = {0};
        struct archive_rows rows;
        size_t used = 0;
        int length = snprintf(text, sizeof text, "%s", cases[i].text);
        archive_rows_init(&rows, take, &seen);
        CHECK_INT(archive_rows_parse(&rows, text, (size_t)length, true, &used), cases[i].code);
        CHECK_INT(rows.skipped, cases[i].code == 0 ? 1 : 0);
    }
}

MAIN(RUN(both_ways_to_read_a_row_agree), RUN(a_torn_quote_costs_its_own_line_only),
     RUN(a_file_cut_in_its_header_is_torn_and_others_are_foreign))
