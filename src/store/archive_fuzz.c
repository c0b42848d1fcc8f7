/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A CSV file of any bytes: both ways to read a row must agree, whole or in pieces. */
#include "store/archive_sum.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(void *arg, const struct archive_row *row)
{
    (void)archive_sum_add(arg, row);
}

/* All of the bytes, `piece` at a time; the parser's answer. */
static int read_all(const uint8_t *data, size_t size, size_t piece, bool is_fast_off,
                    struct archive_sum *sum, int64_t *skipped)
{
    struct archive_rows rows;
    char *copy = mem_new(size + 1, 1);
    size_t at = 0;
    size_t end = 0;
    int code = 0;
    memcpy(copy, data, size);
    archive_rows_init(&rows, add, sum);
    rows.is_fast_off = is_fast_off;
    do {
        size_t used = 0;
        end = size - end < piece ? size : end + piece;
        code = archive_rows_parse(&rows, copy + at, end - at, end == size, &used);
        at += used;
    } while (code == 0 && end < size);
    *skipped = rows.skipped;
    free(copy);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct archive_sum sum[3];
    int64_t skipped[3];
    int code[3];
    for (size_t i = 0; i < 3; i++) {
        archive_sum_init(&sum[i], CELL_WINDOW, 1700000000, 1800000000, 40);
        code[i] = read_all(data, size, i == 2 ? 7 : size + 1, i == 1, &sum[i], &skipped[i]);
        assert(code[i] == code[0]);
        assert(code[0] != 0 || skipped[i] == skipped[0]);
        assert(sum[i].gpu_count == sum[0].gpu_count);
        for (size_t j = 0; j < sum[i].gpu_count; j++) {
            assert(sum[i].gpu[j].sum_micro == sum[0].gpu[j].sum_micro);
            assert(sum[i].gpu[j].sample_count == sum[0].gpu[j].sample_count);
            assert(strcmp(sum[i].gpu[j].name, sum[0].gpu[j].name) == 0);
            assert(sum[i].gpu[j].count == 0 || sum[i].gpu[j].max_micro <= ARCHIVE_MICRO_MAX);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        archive_sum_fini(&sum[i]);
    }
    return 0;
}
