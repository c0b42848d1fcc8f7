/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A month of the day cache made of any bytes, with a checksum that fits: it is refused, or what it
 * says could be true. */
#include "base/mem.h"
#include "store/archive_day.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIRST_DAY 20513 /* 2026-03-01 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct archive_days days;
    struct archive_sum sum;
    size_t length = size + ARCHIVE_MONTH_HEAD;
    unsigned char *bytes = mem_new(length, 1);
    uint64_t check = archive_days_checksum(data, size);
    memcpy(bytes, "gpmdays\0\1\0\0\0\x1f\0\0\0", 16);
    for (size_t i = 0; i < 8; i++) {
        bytes[16 + i] = (unsigned char)(check >> (8 * i));
    }
    memcpy(bytes + ARCHIVE_MONTH_HEAD, data, size);
    archive_days_init(&days, -1);
    archive_days_load(&days, FIRST_DAY, bytes, length);
    archive_sum_init(&sum, CELL_WINDOW, 1700000000, 1800000000, 40);
    for (int32_t day = FIRST_DAY; day < FIRST_DAY + 31; day++) {
        struct archive_day kept;
        if (archive_days_find(&days, day, &kept)) {
            (void)archive_days_add_to(&days, day, &sum);
        }
    }
    for (size_t i = 0; i < sum.gpu_count; i++) {
        const struct archive_gpu *gpu = &sum.gpu[i];
        assert(gpu->count >= 0 && gpu->count <= gpu->sample_count);
        assert(gpu->sum_micro >= 0 && gpu->sum_micro <= gpu->count * ARCHIVE_MICRO_MAX);
        assert(gpu->index >= 0);
    }
    archive_sum_fini(&sum);
    archive_days_close(&days);
    free(bytes);
    return 0;
}
