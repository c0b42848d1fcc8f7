/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* When a day comes from the cache, and when it goes there. */
#include "base/clock.h"
#include "store/archive_read.h"

#include <fcntl.h>

/* A file that was changed this shortly before it was read could change again within the same tick
 * of the kernel's clock (10 ms at most), and its stamp would not show it. */
#define FRESH_NS (50 * NS_PER_MS)

uint64_t archive_stamp(uint32_t key, const struct stat *status)
{
    uint64_t word = archive_mix(key, status->st_ino);
    word = archive_mix(word, (uint64_t)status->st_size);
    word = archive_mix(word, (uint64_t)status->st_mtim.tv_sec);
    word = archive_mix(word, (uint64_t)status->st_mtim.tv_nsec);
    word = archive_mix(word, (uint64_t)status->st_ctim.tv_sec);
    return archive_mix(word, (uint64_t)status->st_ctim.tv_nsec);
}

static uint64_t stamp_at(int dir_fd, const char *name, uint32_t key)
{
    struct stat status;
    return fstatat(dir_fd, name, &status, 0) == 0 ? archive_stamp(key, &status) : 0;
}

static uint64_t stamp_of_merged(int dir_fd, const struct archive_list_day *day)
{
    char name[ARCHIVE_NAME_SIZE];
    archive_name_format_day(day->day, name);
    return day->has_merged ? stamp_at(dir_fd, name, UINT32_MAX) : 0;
}

static uint64_t stamp_of_samples(int dir_fd, const struct archive_list_day *day)
{
    uint64_t stamp = 0;
    for (size_t i = 0; i < day->count; i++) {
        char name[ARCHIVE_NAME_SIZE];
        archive_name_format(day->day, day->key[i], name);
        stamp += stamp_at(dir_fd, name, day->key[i]);
    }
    return stamp;
}

bool archive_reading_from_cache(struct archive_reading *reading, const struct archive_list_day *day,
                                bool is_newest)
{
    struct archive_day kept;
    int dir_fd = reading->file.dir_fd;
    if (!archive_days_find(&reading->days, day->day, &kept) ||
        kept.entries_hash != day->entries_hash ||
        kept.entry_count != day->count + (day->has_merged ? 1 : 0) ||
        kept.merged_stamp != stamp_of_merged(dir_fd, day)) {
        return false;
    }
    bool is_empty = kept.first_s > kept.last_s;
    bool is_inside =
        kept.first_s >= reading->request->from_s && kept.last_s <= reading->request->to_s;
    if (!is_empty && !is_inside) {
        return false;
    }
    int64_t now_s = reading->start_ns / NS_PER_S;
    int64_t age_s = now_s - kept.verified_s;
    bool is_old = age_s < 0 || age_s >= ARCHIVE_VERIFY_S;
    bool is_looked_at = day->count > 0 && (is_newest || is_old);
    if ((is_looked_at && kept.samples_stamp != stamp_of_samples(dir_fd, day)) ||
        !archive_days_add_to(&reading->days, day->day, &reading->total)) {
        return false;
    }
    if (is_looked_at && is_old) {
        archive_days_set_verified(&reading->days, day->day, now_s);
    }
    reading->result->file_count += kept.file_count;
    reading->result->skipped_lines += kept.skipped_lines;
    reading->done += kept.entry_count;
    return true;
}

void archive_reading_begin_day(struct archive_reading *reading, const struct archive_list_day *day)
{
    archive_sum_clear(&reading->day);
    /* The slots of the day and of the day on either side: every zone's idea of it. */
    reading->day.first_slot = ((int64_t)day->day * 86400 - 126000) / ARCHIVE_SLOT_S;
    reading->is_by_day = true;
    reading->is_day_whole = true;
    reading->newest_stamp_ns = INT64_MIN;
    reading->samples_stamp = 0;
    reading->merged_stamp = 0;
    reading->files_before = reading->result->file_count;
    reading->skipped_before = reading->result->skipped_lines;
}

void archive_reading_end_day(struct archive_reading *reading, const struct archive_list_day *day,
                             int32_t newest_day)
{
    struct archive_sum *sum = &reading->day;
    reading->is_by_day = false;
    for (size_t i = 0; i < sum->gpu_count; i++) {
        (void)archive_sum_merge(&reading->total, &sum->gpu[i], sum->first_slot, sum->cell_count);
    }
    bool is_settled = reading->newest_stamp_ns < reading->start_ns - FRESH_NS;
    if (!reading->is_day_whole || !is_settled || day->day >= newest_day) {
        return;
    }
    const struct archive_day kept = {
        .day = day->day,
        .entry_count = (uint32_t)day->count + (day->has_merged ? 1 : 0),
        .entries_hash = day->entries_hash,
        .samples_stamp = reading->samples_stamp,
        .merged_stamp = reading->merged_stamp,
        .verified_s = reading->start_ns / NS_PER_S,
        .file_count = reading->result->file_count - reading->files_before,
        .skipped_lines = reading->result->skipped_lines - reading->skipped_before,
        .first_s = sum->first_s,
        .last_s = sum->last_s};
    archive_days_put(&reading->days, &kept, sum);
}
