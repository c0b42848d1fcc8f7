/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Rows added up per UUID, in integers, so that neither the order of files nor a day that comes from
 * the cache changes the last digit. Cells are the parts of time a chart shows:
 *
 *   CELL_PARTS   equal parts of the window, by the exact time of a row (short windows)
 *   CELL_SLOTS   quarters of an hour UTC from first_slot on: the form in which a day is kept
 *   CELL_WINDOW  equal parts of the window, by the middle of the row's quarter of an hour: what a
 *                day of slots can still be dealt out to (windows of two days and more)
 *
 * The caller owns the struct; archive_sum_init before use. */
#ifndef STORE_ARCHIVE_SUM_H
#define STORE_ARCHIVE_SUM_H

#include "store/archive.h"
#include "store/archive_row.h"

#define ARCHIVE_GPUS_MAX 8192 /* UUIDs of one answer; rows of further ones are skipped */
#define ARCHIVE_SLOT_S 900

enum archive_cells { CELL_PARTS, CELL_SLOTS, CELL_WINDOW };

struct archive_sum {
    enum archive_cells cells;
    int64_t from_s, to_s; /* rows outside are not counted, both inclusive */
    int64_t first_slot;   /* CELL_SLOTS only: slot number of cell 0 */
    size_t cell_count;
    struct archive_gpu *gpu;
    size_t gpu_count;
    int64_t first_s, last_s; /* of all rows counted; first > last when there are none */
    /* private */
    size_t gpu_capacity, slot_count;
    uint32_t *slot;  /* hash of uuid → position + 1 */
    size_t expected; /* rows of a file come in the same order: where the next one probably is */
};

void archive_sum_init(struct archive_sum *sum, enum archive_cells cells, int64_t from_s,
                      int64_t to_s, size_t cell_count);
void archive_sum_fini(struct archive_sum *sum);
void archive_sum_clear(struct archive_sum *sum); /* no rows, the memory is kept */

enum archive_added {
    ARCHIVE_ADDED,
    ARCHIVE_OUTSIDE,  /* of the window, or of the slots */
    ARCHIVE_TOO_MANY, /* one UUID more than ARCHIVE_GPUS_MAX */
};
enum archive_added archive_sum_add(struct archive_sum *sum, const struct archive_row *row);

/* Adds what another sum (CELL_SLOTS) holds of one GPU. The caller has seen to it that its rows lie
 * in the window. False: one UUID too many. */
bool archive_sum_merge(struct archive_sum *sum, const struct archive_gpu *gpu, int64_t first_slot,
                       size_t slot_count);

/* Position of a uuid (case-insensitive); a new one is added. SIZE_MAX: one too many. */
size_t archive_sum_find(struct archive_sum *sum, struct span uuid);

/* The GPUs become the caller's, sorted by index, then uuid. */
void archive_sum_take(struct archive_sum *sum, struct archive_gpu **out, size_t *out_count);

#endif
