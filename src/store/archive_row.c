/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_row.h"

#include "base/clock.h"
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define TIMESTAMP_LENGTH 25 /* 2026-03-22T16:21:00+09:00 */

static const char *const column_names[ARCHIVE_COLUMN_COUNT] = {"timestamp", "gpu_index", "gpu_uuid",
                                                               "gpu_name", "util_gpu"};

void archive_rows_init(struct archive_rows *rows, archive_row_fn *sink, void *sink_arg)
{
    *rows = (struct archive_rows){.sink = sink, .sink_arg = sink_arg};
}

/* What tools write where a figure is missing. */
static bool is_no_value(struct span text)
{
    static const char *const words[] = {"N/A", "n/a", "nan", "NaN", "None", "null", "inf", "-inf"};
    if (text.length == 0 || text.data[0] == '[') {
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (span_equals(text, words[i])) {
            return true;
        }
    }
    return false;
}

/* Percent to micro-percent. Values no GPU can have are no values. False: not a figure at all. */
static bool parse_util(struct span text, int64_t *out)
{
    double value = 0;
    if (is_no_value(text)) {
        *out = ARCHIVE_NO_VALUE;
        return true;
    }
    if (!text_to_double(text, &value)) {
        return false;
    }
    *out = value < 0 || value > 100 ? ARCHIVE_NO_VALUE : llround(value * 1e6);
    return true;
}

/* clock_parse_iso, and a fraction of a second (which is cut off). */
static bool parse_timestamp(struct span text, int64_t *out_s)
{
    char copy[40];
    int offset_s = 0;
    if (text.length < 20 || text.length >= sizeof copy) {
        return false;
    }
    size_t length = 19;
    size_t at = 19;
    memcpy(copy, text.data, length);
    if (text.data[at] == '.') {
        for (at++; at < text.length && text.data[at] >= '0' && text.data[at] <= '9'; at++) {
        }
    }
    memcpy(copy + length, text.data + at, text.length - at);
    length += text.length - at;
    return clock_parse_iso(copy, (int64_t)length, out_s, &offset_s);
}

bool archive_is_uuid(struct span text)
{
    if (text.length == 0 || text.length >= GPU_UUID_SIZE) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] <= ' ' || text.data[i] > '~') {
            return false;
        }
    }
    return true;
}

/* The fields of `row` to its figures. */
static bool understand(struct archive_row *row)
{
    int64_t index = 0;
    if (!parse_timestamp(row->field[ARCHIVE_TIMESTAMP], &row->time_s) ||
        !text_to_int64(row->field[ARCHIVE_INDEX], &index) || index < 0 || index > INT32_MAX ||
        !archive_is_uuid(row->field[ARCHIVE_UUID]) || row->field[ARCHIVE_GPU_NAME].length > 1024 ||
        !parse_util(row->field[ARCHIVE_UTIL], &row->micro)) {
        return false;
    }
    row->index = (int32_t)index;
    return true;
}

static bool parse_general(struct archive_rows *rows, char *line, char *end, struct archive_row *out)
{
    struct csv_row row;
    char *rest = line;
    if (memchr(line, '\0', (size_t)(end - line)) != NULL || !csv_read(&rest, end, &row) ||
        row.is_malformed || row.is_ended || row.count != rows->width) {
        return false;
    }
    for (size_t i = 0; i < ARCHIVE_COLUMN_COUNT; i++) {
        out->field[i] = span_trim(row.field[rows->column[i]]);
    }
    return understand(out);
}

static unsigned digit(char c)
{
    return (unsigned)(unsigned char)c - (unsigned)'0';
}

/* Two digits below `limit`; anything else gives `limit` or more. */
static unsigned two(const char *text)
{
    unsigned high = digit(text[0]);
    unsigned low = digit(text[1]);
    return high > 9 || low > 9 ? 100 : high * 10 + low;
}

/* The usual timestamp: date and offset are those of the row before, nearly always. */
static bool parse_usual_time(struct archive_rows *rows, const char *text, int64_t *out_s)
{
    unsigned hour = two(text + 11);
    unsigned minute = two(text + 14);
    unsigned second = two(text + 17);
    if (text[10] != 'T' || text[13] != ':' || text[16] != ':' || hour > 23 || minute > 59 ||
        second > 59) {
        return false;
    }
    if (!rows->has_midnight || memcmp(text, rows->date, 10) != 0 ||
        memcmp(text + 19, rows->offset, 6) != 0) {
        char midnight[TIMESTAMP_LENGTH];
        int offset_s = 0;
        memcpy(midnight, text, sizeof midnight);
        for (size_t i = 11; i < 19; i += i % 3 == 0 ? 2 : 1) {
            midnight[i] = '0'; /* at 11 12 14 15 17 18 */
        }
        rows->has_midnight =
            clock_parse_iso(midnight, TIMESTAMP_LENGTH, &rows->midnight_s, &offset_s);
        if (!rows->has_midnight) {
            return false;
        }
        memcpy(rows->date, text, 10);
        memcpy(rows->offset, text + 19, 6);
    }
    *out_s = rows->midnight_s + hour * 3600 + minute * 60 + second;
    return true;
}

/* "35", "35.0", "7.25", up to six decimals; "" is no value. False: look again, generally. */
static bool parse_usual_util(const char *at, const char *end, int64_t *out)
{
    int64_t value = 0;
    int64_t scale = 1000000;
    const char *start = at;
    if (at == end) {
        *out = ARCHIVE_NO_VALUE;
        return true;
    }
    for (; at < end && digit(*at) <= 9 && at - start < 9; at++) {
        value = value * 10 + digit(*at);
    }
    if (at == start) {
        return false;
    }
    value *= 1000000;
    if (at < end && *at == '.') {
        for (at++; at < end && digit(*at) <= 9 && scale > 1; at++) {
            scale /= 10;
            value += scale * digit(*at);
        }
    }
    *out = value > ARCHIVE_MICRO_MAX ? ARCHIVE_NO_VALUE : value;
    return at == end;
}

static bool is_tidy(struct span field)
{
    const char *last = field.data + field.length - 1;
    return field.length > 0 && *field.data > ' ' && *field.data != '"' && *last > ' ';
}

/* The row as we and the predecessor write it, with no quotes; false: look again, generally. A
 * year of one-minute samples of eight GPUs is four million rows, and this is ten times faster. */
static bool parse_usual(struct archive_rows *rows, char *line, char *end, struct archive_row *out)
{
    if (end - line < TIMESTAMP_LENGTH + 6 || line[TIMESTAMP_LENGTH] != ',' ||
        !parse_usual_time(rows, line, &out->time_s)) {
        return false;
    }
    char *at = line + TIMESTAMP_LENGTH + 1;
    char *start = at;
    int32_t index = 0;
    for (; at < end && digit(*at) <= 9 && at - start < 8; at++) {
        index = index * 10 + (int32_t)digit(*at);
    }
    if (at == start || at >= end || *at != ',') {
        return false;
    }
    out->index = index;
    out->field[ARCHIVE_TIMESTAMP] = (struct span){line, TIMESTAMP_LENGTH};
    out->field[ARCHIVE_INDEX] = (struct span){start, (size_t)(at - start)};
    for (int column = ARCHIVE_UUID; column <= ARCHIVE_GPU_NAME; column++) {
        start = at + 1;
        at = memchr(start, ',', (size_t)(end - start));
        if (at == NULL) {
            return false;
        }
        out->field[column] = (struct span){start, (size_t)(at - start)};
        if (!is_tidy(out->field[column])) {
            return false;
        }
    }
    out->field[ARCHIVE_UTIL] = (struct span){at + 1, (size_t)(end - at - 1)};
    return archive_is_uuid(out->field[ARCHIVE_UUID]) &&
           out->field[ARCHIVE_GPU_NAME].length <= 1024 &&
           memchr(out->field[ARCHIVE_GPU_NAME].data, '\r', out->field[ARCHIVE_GPU_NAME].length) ==
               NULL &&
           memchr(out->field[ARCHIVE_GPU_NAME].data, '\0', out->field[ARCHIVE_GPU_NAME].length) ==
               NULL &&
           parse_usual_util(at + 1, end, &out->micro);
}

static int read_header(struct archive_rows *rows, char *line, char *end)
{
    static const char mark[] = "\xef\xbb\xbf";
    struct csv_row row;
    if (end - line >= 3 && memcmp(line, mark, 3) == 0) {
        line += 3;
    }
    rows->is_plain = span_equals((struct span){line, (size_t)(end - line)}, ARCHIVE_HEADER);
    char *rest = line;
    if (!csv_read(&rest, end, &row) || row.is_malformed || row.is_ended) {
        return -EBADMSG;
    }
    for (size_t i = 0; i < ARCHIVE_COLUMN_COUNT; i++) {
        size_t at = 0;
        while (at < row.count && !span_equals(span_trim(row.field[at]), column_names[i])) {
            at++;
        }
        if (at == row.count) {
            return -EBADMSG;
        }
        rows->column[i] = at;
    }
    rows->width = row.count;
    rows->is_only_usual = row.count == ARCHIVE_COLUMN_COUNT;
    rows->has_header = true;
    return 0;
}

/* A file that was cut inside its header is ours and torn; anything else without a line end is not
 * ours. */
static int end_of_file(struct archive_rows *rows, const char *data, size_t length)
{
    if (!rows->has_header) {
        static const char mark[] = "\xef\xbb\xbf";
        if (length >= 3 && memcmp(data, mark, 3) == 0) {
            data += 3;
            length -= 3;
        }
        if (length > strlen(ARCHIVE_HEADER) || memcmp(data, ARCHIVE_HEADER, length) != 0) {
            return -EBADMSG;
        }
        rows->skipped++;
        return 0;
    }
    rows->skipped += length > 0 ? 1 : 0;
    return 0;
}

static void read_line(struct archive_rows *rows, char *line, char *end)
{
    struct archive_row row;
    if (line == end) {
        return;
    }
    bool is_usual = rows->is_plain && !rows->is_fast_off && parse_usual(rows, line, end, &row);
    if (is_usual || parse_general(rows, line, end, &row)) {
        rows->sink(rows->sink_arg, &row);
        return;
    }
    rows->skipped++;
}

int archive_rows_parse(struct archive_rows *rows, char *data, size_t length, bool is_end,
                       size_t *used)
{
    char *at = data;
    char *end = data + length;
    for (;;) {
        char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (stop == NULL) {
            break;
        }
        char *line_end = stop > at && stop[-1] == '\r' ? stop - 1 : stop;
        if (rows->has_header) {
            read_line(rows, at, line_end);
        } else if (read_header(rows, at, line_end) != 0) {
            return -EBADMSG;
        }
        at = stop + 1;
    }
    *used = (size_t)(at - data);
    if (is_end) {
        *used = length;
        return end_of_file(rows, at, (size_t)(end - at));
    }
    return 0;
}
