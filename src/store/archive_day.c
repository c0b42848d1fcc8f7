/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_day.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/archive_list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A month file, all numbers little-endian:
 *
 *   magic "gpmdays\0" | u32 version | u32 record count | u64 checksum of what follows
 *   record: u32 length of the rest | struct archive_day | i64 first slot | u32 slots | u32 GPUs
 *     GPU:  u8 length, uuid | u8 length, name | i32 index | i64 × 7 | slots × (u64 sum, u32 count)
 */
#define MONTH_MAGIC "gpmdays"
#define MONTH_VERSION 1
#define MONTH_LIMIT ((size_t)64 << 20)
#define RECORD_LIMIT ((size_t)32 << 20)
#define SAMPLES_MAX INT64_C(100000000) /* of one GPU in a day; a thousand a second */

#define OWN_FOLDER ".gpumanager"

static void put_number(struct buf *out, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    buf_add(out, bytes, size);
}

static void put_text(struct buf *out, const char *text)
{
    size_t length = strlen(text);
    put_number(out, length, 1);
    buf_add(out, text, length);
}

/* Bytes that may end anywhere: after the first number that is not there, all are 0. */
struct cursor {
    const unsigned char *at, *end;
    bool is_short;
};

static uint64_t get_number(struct cursor *cursor, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < size) {
        cursor->is_short = true;
        cursor->at = cursor->end;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        value |= (uint64_t)cursor->at[i] << (8 * i);
    }
    cursor->at += size;
    return value;
}

static int64_t get_signed(struct cursor *cursor)
{
    return (int64_t)get_number(cursor, 8);
}

static struct span get_text(struct cursor *cursor)
{
    size_t length = (size_t)get_number(cursor, 1);
    if ((size_t)(cursor->end - cursor->at) < length) {
        cursor->is_short = true;
        length = 0;
    }
    struct span text = {(const char *)cursor->at, length};
    cursor->at += length;
    return text;
}

static void put_day(struct buf *out, const struct archive_day *day)
{
    put_number(out, (uint32_t)day->day, 4);
    put_number(out, day->entry_count, 4);
    put_number(out, day->entries_hash, 8);
    put_number(out, day->samples_stamp, 8);
    put_number(out, day->merged_stamp, 8);
    put_number(out, (uint64_t)day->verified_s, 8);
    put_number(out, (uint64_t)day->file_count, 8);
    put_number(out, (uint64_t)day->skipped_lines, 8);
    put_number(out, (uint64_t)day->first_s, 8);
    put_number(out, (uint64_t)day->last_s, 8);
}

#define VERIFIED_OFFSET 32

static bool get_day(struct cursor *cursor, struct archive_day *out)
{
    out->day = (int32_t)(uint32_t)get_number(cursor, 4);
    out->entry_count = (uint32_t)get_number(cursor, 4);
    out->entries_hash = get_number(cursor, 8);
    out->samples_stamp = get_number(cursor, 8);
    out->merged_stamp = get_number(cursor, 8);
    out->verified_s = get_signed(cursor);
    out->file_count = get_signed(cursor);
    out->skipped_lines = get_signed(cursor);
    out->first_s = get_signed(cursor);
    out->last_s = get_signed(cursor);
    return !cursor->is_short && out->file_count >= 0 && out->file_count <= out->entry_count &&
           out->skipped_lines >= 0 && out->skipped_lines <= SAMPLES_MAX;
}

static void put_gpu(struct buf *out, const struct archive_gpu *gpu, size_t slot, size_t slots)
{
    put_text(out, gpu->uuid);
    put_text(out, gpu->name);
    put_number(out, (uint32_t)gpu->index, 4);
    const int64_t numbers[] = {gpu->first_s,      gpu->last_s,    gpu->sum_micro, gpu->count,
                               gpu->sample_count, gpu->min_micro, gpu->max_micro};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        put_number(out, (uint64_t)numbers[i], 8);
    }
    for (size_t i = slot; i < slot + slots; i++) {
        put_number(out, (uint64_t)gpu->bucket[i].sum_micro, 8);
        put_number(out, (uint64_t)gpu->bucket[i].count, 4);
    }
}

static bool has_sense(const struct archive_gpu *gpu, const struct archive_day *day)
{
    bool is_counted = gpu->count >= 0 && gpu->count <= gpu->sample_count &&
                      gpu->sample_count >= 1 && gpu->sample_count <= SAMPLES_MAX;
    bool is_timed = gpu->first_s <= gpu->last_s && gpu->first_s >= day->first_s &&
                    gpu->last_s <= day->last_s && gpu->index >= 0;
    if (!is_counted || !is_timed) {
        return false;
    }
    if (gpu->count == 0) {
        return gpu->sum_micro == 0;
    }
    return gpu->min_micro >= 0 && gpu->min_micro <= gpu->max_micro &&
           gpu->max_micro <= ARCHIVE_MICRO_MAX && gpu->sum_micro >= gpu->min_micro * gpu->count &&
           gpu->sum_micro <= gpu->max_micro * gpu->count;
}

/* One GPU with its slots; its slots must add up to its sums. */
static bool get_gpu(struct cursor *cursor, const struct archive_day *day, struct archive_gpu *gpu,
                    size_t slots)
{
    struct span uuid = get_text(cursor);
    struct span name = get_text(cursor);
    if (!archive_is_uuid(uuid) || name.length >= sizeof gpu->name) {
        return false;
    }
    text_clean(gpu->uuid, sizeof gpu->uuid, uuid.data, uuid.length);
    text_clean(gpu->name, sizeof gpu->name, name.data, name.length);
    gpu->index = (int32_t)(uint32_t)get_number(cursor, 4);
    gpu->first_s = get_signed(cursor);
    gpu->last_s = get_signed(cursor);
    gpu->sum_micro = get_signed(cursor);
    gpu->count = get_signed(cursor);
    gpu->sample_count = get_signed(cursor);
    gpu->min_micro = get_signed(cursor);
    gpu->max_micro = get_signed(cursor);
    int64_t sum = 0;
    int64_t count = 0;
    for (size_t i = 0; i < slots; i++) {
        struct archive_bucket *slot = &gpu->bucket[i];
        slot->sum_micro = get_signed(cursor);
        slot->count = (int64_t)get_number(cursor, 4);
        if (slot->sum_micro < 0 || slot->count > SAMPLES_MAX ||
            slot->sum_micro > slot->count * ARCHIVE_MICRO_MAX) {
            return false;
        }
        sum += slot->sum_micro;
        count += slot->count;
    }
    return !cursor->is_short && sum == gpu->sum_micro && count == gpu->count && has_sense(gpu, day);
}

/* Goes through a record; with `to` its GPUs are added there. */
static bool walk_record(const struct buf *record, struct archive_sum *to)
{
    struct cursor cursor = {(const unsigned char *)record->data,
                            (const unsigned char *)record->data + record->length, false};
    struct archive_day day;
    if (!get_day(&cursor, &day)) {
        return false;
    }
    int64_t first_slot = get_signed(&cursor);
    size_t slots = (size_t)get_number(&cursor, 4);
    size_t gpus = (size_t)get_number(&cursor, 4);
    bool is_near = first_slot > -INT64_C(1000000000000) && first_slot < INT64_C(1000000000000);
    if (slots > ARCHIVE_DAY_SLOTS_MAX || gpus > ARCHIVE_GPUS_MAX || !is_near) {
        return false;
    }
    struct archive_bucket slot[ARCHIVE_DAY_SLOTS_MAX];
    for (size_t i = 0; i < gpus; i++) {
        struct archive_gpu gpu = {.bucket = slot};
        if (!get_gpu(&cursor, &day, &gpu, slots)) {
            return false;
        }
        if (to != NULL && !archive_sum_merge(to, &gpu, first_slot, slots)) {
            return false;
        }
    }
    return !cursor.is_short && cursor.at == cursor.end;
}

uint64_t archive_days_checksum(const void *bytes, size_t length)
{
    const char *data = bytes;
    uint64_t word = length;
    for (size_t i = 0; i < length; i += 8) {
        uint64_t piece = 0;
        memcpy(&piece, data + i, length - i < 8 ? length - i : 8);
        word = archive_mix(word, piece);
    }
    return word;
}

static int64_t month_of(int32_t day, size_t *out_day_of_month)
{
    struct civil date = {.year = 1970, .month = 1, .day = 1};
    civil_add_days(&date, day);
    *out_day_of_month = (size_t)(date.day - 1) % ARCHIVE_MONTH_DAYS;
    return (int64_t)date.year * 12 + date.month - 1;
}

static void month_name(int64_t month, char out[32])
{
    (void)snprintf(out, 32, "%04lld-%02lld", (long long)(month / 12), (long long)(month % 12 + 1));
}

int archive_open_own(int csv_dir_fd, const char *inner)
{
    const char *const names[] = {OWN_FOLDER, inner};
    OWN_FD int fd = -1;
    for (size_t i = 0; i < 2 && names[i] != NULL; i++) {
        int parent = fd >= 0 ? fd : csv_dir_fd;
        int made = mkdirat(parent, names[i], 0755) == 0 ? 0 : errno;
        bool is_made = made == 0;
        int next = openat(parent, names[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0) {
            return errno == ENOENT ? -made : -errno; /* why it could not be made says more */
        }
        struct stat owner;
        if (is_made && geteuid() == 0 && fstat(csv_dir_fd, &owner) == 0) {
            /* Or the service's own reports could not keep their days where root looked first. */
            (void)!fchown(next, owner.st_uid, owner.st_gid);
        }
        if (fd >= 0) {
            (void)close(fd);
        }
        fd = next;
    }
    return MOVE_FD(fd);
}

static void forget_month(struct archive_days *days)
{
    for (size_t i = 0; i < ARCHIVE_MONTH_DAYS; i++) {
        buf_fini(&days->record[i]);
    }
    days->month = -1;
    days->is_changed = false;
}

static void write_month(struct archive_days *days)
{
    OWN_FD int fd = archive_open_own(days->dir_fd, "days");
    OWN_BUF struct buf body = {0};
    OWN_BUF struct buf text = {0};
    uint32_t count = 0;
    char name[32];
    for (size_t i = 0; i < ARCHIVE_MONTH_DAYS; i++) {
        const struct buf *record = &days->record[i];
        if (record->length > 0 &&
            body.length + record->length + 4 < MONTH_LIMIT - ARCHIVE_MONTH_HEAD) {
            put_number(&body, record->length, 4);
            buf_add(&body, record->data, record->length);
            count++;
        }
    }
    buf_add(&text, MONTH_MAGIC, 8);
    put_number(&text, MONTH_VERSION, 4);
    put_number(&text, count, 4);
    put_number(&text, archive_days_checksum(buf_string(&body), body.length), 8);
    buf_add(&text, buf_string(&body), body.length);
    month_name(days->month, name);
    if (fd >= 0) {
        /* Nothing is lost when it fails: the next report adds the days up again. */
        (void)file_write_at(fd, name, &text, 0644, FILE_REPLACE, NULL);
    }
}

/* The records of a month file; where it is not sound nothing is taken. */
static void split_month(struct archive_days *days, const unsigned char *bytes, size_t total)
{
    if (total < ARCHIVE_MONTH_HEAD || memcmp(bytes, MONTH_MAGIC, 8) != 0) {
        return;
    }
    struct cursor cursor = {bytes + 8, bytes + total, false};
    uint64_t version = get_number(&cursor, 4);
    uint64_t count = get_number(&cursor, 4);
    uint64_t sum = get_number(&cursor, 8);
    if (version != MONTH_VERSION || count > ARCHIVE_MONTH_DAYS ||
        sum != archive_days_checksum(bytes + ARCHIVE_MONTH_HEAD, total - ARCHIVE_MONTH_HEAD)) {
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        size_t length = (size_t)get_number(&cursor, 4);
        struct cursor inner = cursor;
        struct archive_day day;
        size_t place = 0;
        if (length > RECORD_LIMIT || (size_t)(cursor.end - cursor.at) < length) {
            return;
        }
        if (get_day(&inner, &day) && day.day > -4000000 && day.day < 4000000 &&
            month_of(day.day, &place) == days->month && days->record[place].length == 0) {
            buf_add(&days->record[place], cursor.at, length);
        }
        cursor.at += length;
    }
}

static void load_month(struct archive_days *days, int64_t month)
{
    OWN_BUF struct buf text = {0};
    char name[32];
    if (days->month == month) {
        return;
    }
    if (days->is_changed) {
        write_month(days);
    }
    forget_month(days);
    days->month = month;
    OWN_FD int own = openat(days->dir_fd, OWN_FOLDER "/days", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    month_name(month, name);
    if (own >= 0 && file_read_at(own, name, MONTH_LIMIT, &text, NULL) == 0) {
        split_month(days, (const unsigned char *)buf_string(&text), text.length);
    }
}

void archive_days_load(struct archive_days *days, int32_t day, const void *bytes, size_t length)
{
    size_t place = 0;
    forget_month(days);
    days->month = month_of(day, &place);
    split_month(days, bytes, length);
}

void archive_days_init(struct archive_days *days, int dir_fd)
{
    *days = (struct archive_days){.dir_fd = dir_fd, .month = -1};
}

static struct buf *record_of(struct archive_days *days, int32_t day)
{
    size_t place = 0;
    load_month(days, month_of(day, &place));
    return &days->record[place];
}

bool archive_days_find(struct archive_days *days, int32_t day, struct archive_day *out)
{
    const struct buf *record = record_of(days, day);
    if (record->length == 0) {
        return false;
    }
    struct cursor cursor = {(const unsigned char *)record->data,
                            (const unsigned char *)record->data + record->length, false};
    return get_day(&cursor, out) && out->day == day;
}

bool archive_days_add_to(struct archive_days *days, int32_t day, struct archive_sum *to)
{
    const struct buf *record = record_of(days, day);
    return record->length > 0 && walk_record(record, NULL) && walk_record(record, to);
}

void archive_days_put(struct archive_days *days, const struct archive_day *day,
                      const struct archive_sum *sum)
{
    struct buf *record = record_of(days, day->day);
    size_t first = sum->cell_count;
    size_t last = 0;
    for (size_t i = 0; i < sum->gpu_count; i++) {
        for (size_t slot = 0; slot < sum->cell_count; slot++) {
            if (sum->gpu[i].bucket[slot].count > 0) {
                first = slot < first ? slot : first;
                last = slot > last ? slot : last;
            }
        }
    }
    size_t slots = first <= last ? last - first + 1 : 0;
    buf_clear(record);
    put_day(record, day);
    put_number(record, (uint64_t)(sum->first_slot + (int64_t)first), 8);
    put_number(record, slots, 4);
    put_number(record, sum->gpu_count, 4);
    for (size_t i = 0; i < sum->gpu_count && record->length < RECORD_LIMIT; i++) {
        put_gpu(record, &sum->gpu[i], first, slots);
    }
    if (record->length >= RECORD_LIMIT) {
        buf_clear(record);
    }
    days->is_changed = true;
}

void archive_days_set_verified(struct archive_days *days, int32_t day, int64_t verified_s)
{
    struct buf *record = record_of(days, day);
    for (size_t i = 0; i < 8 && record->length > VERIFIED_OFFSET + 8; i++) {
        record->data[VERIFIED_OFFSET + i] = (char)(unsigned char)((uint64_t)verified_s >> (8 * i));
    }
    days->is_changed = true;
}

void archive_days_close(struct archive_days *days)
{
    if (days->is_changed) {
        write_month(days);
    }
    forget_month(days);
}
