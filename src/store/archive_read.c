/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_read.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SLACK_S 2     /* the predecessor looks at the clock twice for one sample */
#define ZONE_SLACK_S 93600 /* 26 h: no two zones are further apart */
#define MARGIN_PROBES 3
#define PROGRESS_EVERY 1024
#define READ_ATTEMPTS 4

struct archive_span archive_span_of(const struct zone *zone, int64_t from_s, int64_t to_s)
{
    /* A change of the clocks near an end makes two offsets possible there. */
    int lowest = INT32_MAX;
    int highest = INT32_MIN;
    for (int step = -1; step <= 1; step++) {
        struct civil at;
        zone_civil(zone, from_s + step * ZONE_SLACK_S, &at);
        lowest = at.offset_s < lowest ? at.offset_s : lowest;
        zone_civil(zone, to_s + step * ZONE_SLACK_S, &at);
        highest = at.offset_s > highest ? at.offset_s : highest;
    }
    struct archive_span span = {.from_s = from_s + lowest - NAME_SLACK_S,
                                .to_s = to_s + highest + NAME_SLACK_S};
    span.wide_from_s = span.from_s - ZONE_SLACK_S;
    span.wide_to_s = span.to_s + ZONE_SLACK_S;
    return span;
}

static int32_t day_of(int64_t naive_s)
{
    int64_t day = (naive_s >= 0 ? naive_s : naive_s - 86399) / 86400;
    return (int32_t)(day < INT32_MIN / 2   ? INT32_MIN / 2
                     : day > INT32_MAX / 2 ? INT32_MAX / 2
                                           : day);
}

static void add_to(struct archive_reading *reading, const struct archive_row *row)
{
    enum archive_added added = ARCHIVE_OUTSIDE;
    if (reading->is_by_day) {
        added = archive_sum_add(&reading->day, row);
        reading->is_day_whole = reading->is_day_whole && added == ARCHIVE_ADDED;
    }
    if (added == ARCHIVE_OUTSIDE) {
        added = archive_sum_add(&reading->total, row);
    }
    reading->rows_in_window += added == ARCHIVE_ADDED ? 1 : 0;
    reading->rows.skipped += added == ARCHIVE_TOO_MANY ? 1 : 0;
}

static void take_row(void *arg, const struct archive_row *row)
{
    struct archive_reading *reading = arg;
    if (reading->is_zone_checked) {
        int64_t apart = row->time_s - reading->zone_time_s;
        reading->is_zone_foreign |= apart < -NAME_SLACK_S || apart > NAME_SLACK_S;
    }
    if (reading->is_merged) {
        archive_seen_add(&reading->seen, row);
    } else if (archive_seen_has(&reading->seen, row)) {
        return; /* a crash came between the merge and the removal of this file */
    }
    add_to(reading, row);
}

static void note_unreadable(struct archive_result *result, const char *name)
{
    if (result->unreadable_count < ARCHIVE_NAMED_MAX) {
        if (result->unreadable == NULL) {
            result->unreadable = mem_new(ARCHIVE_NAMED_MAX, sizeof *result->unreadable);
        }
        char *clean = mem_new(strlen(name) + 1, 1);
        text_clean(clean, strlen(name) + 1, name, strlen(name));
        result->unreadable[result->unreadable_count] = clean;
    }
    result->unreadable_count++;
}

static void note_stamp(struct archive_reading *reading, const struct stat *status)
{
    int64_t changed_ns = (int64_t)status->st_ctim.tv_sec * NS_PER_S + status->st_ctim.tv_nsec;
    if (changed_ns > reading->newest_stamp_ns) {
        reading->newest_stamp_ns = changed_ns;
    }
}

static void note_progress(struct archive_reading *reading)
{
    const struct archive_request *request = reading->request;
    reading->done++;
    if (request->progress != NULL && reading->done % PROGRESS_EVERY == 0) {
        request->progress(request->progress_arg, reading->done, reading->all);
    }
}

void archive_reading_file(struct archive_reading *reading, const char *name, int64_t limit_bytes)
{
    struct archive_result *result = reading->result;
    archive_rows_init(&reading->rows, take_row, reading);
    reading->rows_in_window = 0;
    reading->status = (struct stat){0};
    int code =
        archive_file_rows(&reading->file, name, limit_bytes, &reading->rows, &reading->status);
    note_progress(reading);
    note_stamp(reading, &reading->status);
    if (code == -ENOENT) {
        reading->is_stale = true;
        reading->is_day_whole = false;
        return;
    }
    result->opened_count++;
    result->skipped_lines += reading->rows.skipped;
    result->file_count += reading->rows_in_window > 0 ? 1 : 0;
    if (code != 0) {
        note_unreadable(result, name);
        reading->is_day_whole = false;
    }
}

static void read_sample(struct archive_reading *reading, int32_t day, uint32_t key)
{
    char name[ARCHIVE_NAME_SIZE];
    archive_name_format(day, key, name);
    archive_reading_file(reading, name, ARCHIVE_SAMPLE_LIMIT);
    reading->samples_stamp += archive_stamp(key, &reading->status);
}

/* A file outside the span of today's zone: it is read, and its rows tell whether names were made
 * in another zone. */
static bool is_of_other_zone(struct archive_reading *reading, int32_t day, uint32_t key)
{
    struct civil local = {.year = 1970, .month = 1, .day = 1};
    int64_t naive_s = archive_name_naive_s(day, key);
    int64_t second = naive_s - (int64_t)day * 86400;
    int64_t instants[2] = {0};
    civil_add_days(&local, day);
    local.hour = (int)(second / 3600);
    local.minute = (int)(second / 60 % 60);
    local.second = (int)(second % 60);
    int count = zone_instants(reading->request->zone, &local, instants);
    reading->is_zone_checked = count == 1;
    reading->zone_time_s = instants[0];
    reading->is_zone_foreign = count == 0;
    read_sample(reading, day, key);
    reading->is_zone_checked = false;
    return reading->is_zone_foreign;
}

struct margin {
    struct archive_name *name;
    size_t count, capacity;
};

/* Files whose names lie just outside the window. The zone of the names may have changed, and then
 * their rows may lie inside. Three are looked at; when one of them disagrees with today's zone,
 * all are read. A report of one hour over a year of files so opens sixty and not three thousand. */
static void read_margin(struct archive_reading *reading, const struct margin *margin)
{
    const size_t probe[] = {0, margin->count / 2, margin->count - 1};
    bool is_probed = margin->count > MARGIN_PROBES;
    bool is_all = !is_probed;
    for (size_t i = 0; i < MARGIN_PROBES && is_probed; i++) {
        const struct archive_name *name = &margin->name[probe[i]];
        is_all = is_of_other_zone(reading, name->day, name->key) || is_all;
    }
    for (size_t at = 0; at < margin->count && is_all; at++) {
        if (!is_probed || (at != probe[0] && at != probe[1] && at != probe[2])) {
            read_sample(reading, margin->name[at].day, margin->name[at].key);
        }
    }
}

static void add_margin(struct margin *margin, int32_t day, uint32_t key)
{
    margin->name = mem_grow(margin->name, margin->count, &margin->capacity, sizeof *margin->name);
    margin->name[margin->count++] =
        (struct archive_name){.kind = ARCHIVE_NAME_SAMPLE, .day = day, .key = key};
}

static void read_merged(struct archive_reading *reading, const struct archive_list_day *day)
{
    archive_seen_clear(&reading->seen);
    if (!day->has_merged) {
        return;
    }
    char name[ARCHIVE_NAME_SIZE];
    archive_name_format_day(day->day, name);
    reading->is_merged = day->count > 0;
    archive_reading_file(reading, name, ARCHIVE_DAY_LIMIT);
    reading->merged_stamp = archive_stamp(UINT32_MAX, &reading->status);
    reading->is_merged = false;
}

static void read_day(struct archive_reading *reading, struct archive_list_day *day,
                     const struct archive_span *span, struct margin margins[2])
{
    read_merged(reading, day);
    archive_list_sort_day(day);
    for (size_t i = 0; i < day->count; i++) {
        int64_t naive_s = archive_name_naive_s(day->day, day->key[i]);
        if (naive_s >= span->from_s && naive_s <= span->to_s) {
            read_sample(reading, day->day, day->key[i]);
        } else if (naive_s >= span->wide_from_s && naive_s <= span->wide_to_s) {
            add_margin(&margins[naive_s < span->from_s ? 0 : 1], day->day, day->key[i]);
        }
    }
}

/* The newest days together have at most ARCHIVE_VERIFY_FILES files: the first of them. */
static size_t first_verified(const struct archive_list *list)
{
    size_t files = 0;
    size_t at = list->day_count;
    while (at > 0 && files + list->day[at - 1].count <= ARCHIVE_VERIFY_FILES) {
        files += list->day[--at].count;
    }
    return at;
}

static bool is_whole(const struct archive_list_day *day, const struct archive_span *span)
{
    int64_t midnight_s = archive_name_naive_s(day->day, 0);
    return midnight_s >= span->from_s && midnight_s + 86399 <= span->to_s;
}

static void read_days(struct archive_reading *reading, struct archive_list *list,
                      const struct archive_span *span, struct margin margins[2])
{
    size_t verified = first_verified(list);
    for (size_t i = 0; i < list->day_count; i++) {
        struct archive_list_day *day = &list->day[i];
        bool is_kept = reading->has_cache && is_whole(day, span);
        if (is_kept && archive_reading_from_cache(reading, day, i >= verified)) {
            continue;
        }
        if (is_kept) {
            archive_reading_begin_day(reading, day);
        }
        read_day(reading, day, span, margins);
        if (is_kept) {
            archive_reading_end_day(reading, day, list->newest_day);
        }
    }
}

static void read_listed(struct archive_reading *reading, struct archive_list *list,
                        const struct archive_span *span)
{
    struct margin margins[2] = {0};
    for (size_t i = 0; i < list->day_count; i++) {
        reading->all += (int64_t)list->day[i].count + (list->day[i].has_merged ? 1 : 0);
    }
    read_days(reading, list, span, margins);
    archive_seen_clear(&reading->seen);
    read_margin(reading, &margins[0]);
    read_margin(reading, &margins[1]);
    free(margins[0].name);
    free(margins[1].name);
    for (size_t i = 0; i < list->foreign_count; i++) {
        archive_reading_file(reading, list->foreign[i], ARCHIVE_DAY_LIMIT);
    }
    reading->result->unreadable_count += list->foreign_left_out;
}

/* One pass over the folder. -EAGAIN: files went away meanwhile. */
static int read_once(const struct archive_request *request, int dir_fd,
                     struct archive_result *result, struct err *err)
{
    struct archive_span span = archive_span_of(request->zone, request->from_s, request->to_s);
    bool is_long = request->to_s - request->from_s >= ARCHIVE_LONG_S;
    struct archive_list list;
    struct archive_reading reading = {.request = request,
                                      .result = result,
                                      .has_cache = is_long && !request->is_cache_off,
                                      .start_ns = clock_file_ns()};
    int code =
        archive_list_read(dir_fd, day_of(span.wide_from_s), day_of(span.wide_to_s), &list, err);
    if (code != 0) {
        err_prefix(err, "%s: ", request->csv_dir);
        return code;
    }
    archive_file_init(&reading.file, dir_fd);
    archive_days_init(&reading.days, dir_fd);
    archive_sum_init(&reading.total, is_long ? CELL_WINDOW : CELL_PARTS, request->from_s,
                     request->to_s, request->bucket_count);
    archive_sum_init(&reading.day, CELL_SLOTS, request->from_s, request->to_s,
                     ARCHIVE_DAY_SLOTS_MAX);
    read_listed(&reading, &list, &span);
    archive_sum_take(&reading.total, &result->gpu, &result->gpu_count);
    archive_sum_fini(&reading.total);
    archive_sum_fini(&reading.day);
    archive_days_close(&reading.days);
    archive_seen_fini(&reading.seen);
    archive_file_fini(&reading.file);
    archive_list_fini(&list);
    return reading.is_stale ? -EAGAIN : 0;
}

int archive_read(const struct archive_request *request, struct archive_result *out, struct err *err)
{
    struct archive_result result = {0};
    OWN_FD int dir_fd = open(request->csv_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 && errno != ENOENT) {
        return err_errno(err, -errno, "cannot read the CSV folder %s", request->csv_dir);
    }
    OWN_FD int lock_fd = archive_lock_shared(dir_fd);
    (void)lock_fd; /* held until the end */
    int code = dir_fd < 0 || request->to_s < request->from_s ? 0 : -EAGAIN;
    for (int attempt = 0; attempt < READ_ATTEMPTS && code == -EAGAIN; attempt++) {
        archive_result_fini(&result);
        (void)lseek(dir_fd, 0, SEEK_SET);
        code = read_once(request, dir_fd, &result, err);
    }
    if (code != 0 && code != -EAGAIN) {
        return code;
    }
    /* Still -EAGAIN: somebody removes files all the time. What was there was counted. */
    *out = result;
    return 0;
}

void archive_result_fini(struct archive_result *result)
{
    for (size_t i = 0; i < result->gpu_count; i++) {
        free(result->gpu[i].bucket);
    }
    for (int64_t i = 0; i < result->unreadable_count && i < ARCHIVE_NAMED_MAX; i++) {
        if (result->unreadable != NULL) {
            free(result->unreadable[i]);
        }
    }
    free(result->unreadable);
    free(result->gpu);
    *result = (struct archive_result){0};
}
