/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_sum.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void archive_sum_init(struct archive_sum *sum, enum archive_cells cells, int64_t from_s,
                      int64_t to_s, size_t cell_count)
{
    *sum = (struct archive_sum){.cells = cells,
                                .from_s = from_s,
                                .to_s = to_s,
                                .cell_count = cell_count,
                                .first_s = INT64_MAX,
                                .last_s = INT64_MIN};
}

void archive_sum_clear(struct archive_sum *sum)
{
    for (size_t i = 0; i < sum->gpu_count; i++) {
        free(sum->gpu[i].bucket);
    }
    if (sum->slot != NULL) {
        memset(sum->slot, 0, sum->slot_count * sizeof *sum->slot);
    }
    sum->gpu_count = 0;
    sum->expected = 0;
    sum->first_s = INT64_MAX;
    sum->last_s = INT64_MIN;
}

void archive_sum_fini(struct archive_sum *sum)
{
    archive_sum_clear(sum);
    free(sum->gpu);
    free(sum->slot);
    sum->gpu = NULL;
    sum->slot = NULL;
    sum->gpu_capacity = 0;
    sum->slot_count = 0;
}

static uint32_t hash_uuid(struct span uuid)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < uuid.length; i++) {
        /* 0x20 makes letters of both cases equal; that it also joins some signs does no harm. */
        hash = (hash ^ ((unsigned char)uuid.data[i] | 0x20U)) * 16777619U;
    }
    return hash;
}

static bool is_uuid_of(const struct archive_gpu *gpu, struct span uuid)
{
    return gpu->uuid[uuid.length] == '\0' && strncasecmp(gpu->uuid, uuid.data, uuid.length) == 0;
}

static void rehash(struct archive_sum *sum)
{
    free(sum->slot);
    sum->slot_count = sum->slot_count == 0 ? 64 : sum->slot_count * 2;
    sum->slot = mem_new(sum->slot_count, sizeof *sum->slot);
    for (size_t i = 0; i < sum->gpu_count; i++) {
        size_t at = hash_uuid(span_of(sum->gpu[i].uuid)) & (sum->slot_count - 1);
        while (sum->slot[at] != 0) {
            at = (at + 1) & (sum->slot_count - 1);
        }
        sum->slot[at] = (uint32_t)i + 1;
    }
}

static size_t add_gpu(struct archive_sum *sum, struct span uuid)
{
    if (sum->gpu_count == ARCHIVE_GPUS_MAX) {
        return SIZE_MAX;
    }
    sum->gpu = mem_grow(sum->gpu, sum->gpu_count, &sum->gpu_capacity, sizeof *sum->gpu);
    struct archive_gpu *gpu = &sum->gpu[sum->gpu_count];
    *gpu = (struct archive_gpu){.index = -1,
                                .first_s = INT64_MAX,
                                .last_s = INT64_MIN,
                                .min_micro = INT64_MAX,
                                .max_micro = INT64_MIN};
    text_clean(gpu->uuid, sizeof gpu->uuid, uuid.data, uuid.length);
    if (sum->cell_count > 0) {
        gpu->bucket = mem_new(sum->cell_count, sizeof *gpu->bucket);
    }
    return sum->gpu_count++;
}

size_t archive_sum_find(struct archive_sum *sum, struct span uuid)
{
    size_t expected = sum->expected < sum->gpu_count ? sum->expected : 0;
    if (expected < sum->gpu_count && is_uuid_of(&sum->gpu[expected], uuid)) {
        sum->expected = expected + 1;
        return expected;
    }
    if (sum->gpu_count * 2 >= sum->slot_count) {
        rehash(sum);
    }
    size_t at = hash_uuid(uuid) & (sum->slot_count - 1);
    for (; sum->slot[at] != 0; at = (at + 1) & (sum->slot_count - 1)) {
        size_t found = sum->slot[at] - 1;
        if (is_uuid_of(&sum->gpu[found], uuid)) {
            sum->expected = found + 1;
            return found;
        }
    }
    size_t fresh = add_gpu(sum, uuid);
    if (fresh != SIZE_MAX) {
        sum->slot[at] = (uint32_t)sum->gpu_count;
        sum->expected = sum->gpu_count;
    }
    return fresh;
}

static size_t part_of_window(const struct archive_sum *sum, int64_t time_s)
{
    int64_t at = time_s < sum->from_s ? sum->from_s : time_s > sum->to_s ? sum->to_s : time_s;
    return (size_t)((uint64_t)(at - sum->from_s) * sum->cell_count /
                    (uint64_t)(sum->to_s - sum->from_s + 1));
}

static int64_t slot_of(int64_t time_s)
{
    return (time_s >= 0 ? time_s : time_s - (ARCHIVE_SLOT_S - 1)) / ARCHIVE_SLOT_S;
}

static size_t part_of_slot(const struct archive_sum *sum, int64_t slot)
{
    return part_of_window(sum, slot * ARCHIVE_SLOT_S + ARCHIVE_SLOT_S / 2);
}

/* The cell of a time in the window; cell_count when its slot is not among ours. */
static size_t cell_of(const struct archive_sum *sum, int64_t time_s)
{
    switch (sum->cells) {
    case CELL_PARTS:
        return sum->cell_count == 0 ? 0 : part_of_window(sum, time_s);
    case CELL_WINDOW:
        return sum->cell_count == 0 ? 0 : part_of_slot(sum, slot_of(time_s));
    case CELL_SLOTS:
        break;
    }
    int64_t cell = slot_of(time_s) - sum->first_slot;
    return cell < 0 || cell >= (int64_t)sum->cell_count ? sum->cell_count : (size_t)cell;
}

/* The words of its latest sample; among samples of one second the greater ones, so that the order
 * of reading does not matter. */
static bool is_later(const struct archive_gpu *gpu, int64_t time_s, int index, const char *name)
{
    if (time_s != gpu->last_s) {
        return time_s > gpu->last_s;
    }
    return index != gpu->index ? index > gpu->index : strcmp(name, gpu->name) > 0;
}

static void note_latest(struct archive_gpu *gpu, const struct archive_row *row)
{
    bool is_same = row->time_s == gpu->last_s && row->index == gpu->index;
    if (row->time_s < gpu->last_s || (row->time_s == gpu->last_s && row->index < gpu->index)) {
        return;
    }
    struct span name = row->field[ARCHIVE_GPU_NAME];
    char clean[GPU_NAME_SIZE];
    gpu->index = row->index;
    gpu->last_s = row->time_s;
    if (name.length < GPU_NAME_SIZE && gpu->name[name.length] == '\0' &&
        memcmp(gpu->name, name.data, name.length) == 0) {
        return;
    }
    text_clean(clean, sizeof clean, name.data, name.length);
    if (!is_same || strcmp(clean, gpu->name) > 0) {
        memcpy(gpu->name, clean, sizeof clean);
    }
}

static void add_value(struct archive_gpu *gpu, int64_t micro)
{
    gpu->sum_micro += micro;
    gpu->count++;
    gpu->min_micro = micro < gpu->min_micro ? micro : gpu->min_micro;
    gpu->max_micro = micro > gpu->max_micro ? micro : gpu->max_micro;
}

enum archive_added archive_sum_add(struct archive_sum *sum, const struct archive_row *row)
{
    if (row->time_s < sum->from_s || row->time_s > sum->to_s) {
        return ARCHIVE_OUTSIDE;
    }
    size_t cell = cell_of(sum, row->time_s);
    if (sum->cells == CELL_SLOTS && cell == sum->cell_count) {
        return ARCHIVE_OUTSIDE;
    }
    size_t at = archive_sum_find(sum, row->field[ARCHIVE_UUID]);
    if (at == SIZE_MAX) {
        return ARCHIVE_TOO_MANY;
    }
    struct archive_gpu *gpu = &sum->gpu[at];
    note_latest(gpu, row);
    gpu->first_s = row->time_s < gpu->first_s ? row->time_s : gpu->first_s;
    gpu->sample_count++;
    sum->first_s = row->time_s < sum->first_s ? row->time_s : sum->first_s;
    sum->last_s = row->time_s > sum->last_s ? row->time_s : sum->last_s;
    if (row->micro == ARCHIVE_NO_VALUE) {
        return ARCHIVE_ADDED;
    }
    add_value(gpu, row->micro);
    if (sum->cell_count > 0) {
        gpu->bucket[cell].sum_micro += row->micro;
        gpu->bucket[cell].count++;
    }
    return ARCHIVE_ADDED;
}

bool archive_sum_merge(struct archive_sum *sum, const struct archive_gpu *gpu, int64_t first_slot,
                       size_t slot_count)
{
    size_t at = archive_sum_find(sum, span_of(gpu->uuid));
    if (at == SIZE_MAX) {
        return false;
    }
    struct archive_gpu *to = &sum->gpu[at];
    if (is_later(to, gpu->last_s, gpu->index, gpu->name)) {
        to->index = gpu->index;
        to->last_s = gpu->last_s;
        memcpy(to->name, gpu->name, sizeof to->name);
    }
    to->first_s = gpu->first_s < to->first_s ? gpu->first_s : to->first_s;
    to->sample_count += gpu->sample_count;
    to->sum_micro += gpu->sum_micro;
    to->count += gpu->count;
    to->min_micro = gpu->min_micro < to->min_micro ? gpu->min_micro : to->min_micro;
    to->max_micro = gpu->max_micro > to->max_micro ? gpu->max_micro : to->max_micro;
    sum->first_s = gpu->first_s < sum->first_s ? gpu->first_s : sum->first_s;
    sum->last_s = gpu->last_s > sum->last_s ? gpu->last_s : sum->last_s;
    for (size_t i = 0; i < slot_count && sum->cell_count > 0; i++) {
        if (gpu->bucket[i].count > 0) {
            struct archive_bucket *cell = &to->bucket[part_of_slot(sum, first_slot + (int64_t)i)];
            cell->sum_micro += gpu->bucket[i].sum_micro;
            cell->count += gpu->bucket[i].count;
        }
    }
    return true;
}

static int compare_gpus(const void *a, const void *b)
{
    const struct archive_gpu *first = a;
    const struct archive_gpu *second = b;
    if (first->index != second->index) {
        return first->index < second->index ? -1 : 1;
    }
    return strcasecmp(first->uuid, second->uuid);
}

void archive_sum_take(struct archive_sum *sum, struct archive_gpu **out, size_t *out_count)
{
    for (size_t i = 0; i < sum->gpu_count; i++) {
        if (sum->gpu[i].count == 0) {
            sum->gpu[i].min_micro = 0;
            sum->gpu[i].max_micro = 0;
        }
    }
    if (sum->gpu_count > 1) {
        qsort(sum->gpu, sum->gpu_count, sizeof *sum->gpu, compare_gpus);
    }
    *out = sum->gpu;
    *out_count = sum->gpu_count;
    sum->gpu = NULL;
    sum->gpu_count = 0;
    sum->gpu_capacity = 0;
}
