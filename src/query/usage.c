/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "query/usage.h"

#include <math.h>

static double mean(int64_t sum_micro, int64_t count)
{
    /* The sum of whole percentages is exact, so the one rounding is that of the division. */
    return count > 0 ? (double)sum_micro / 1e6 / (double)count : NAN;
}

double usage_average(const struct archive_gpu *gpu)
{
    return mean(gpu->sum_micro, gpu->count);
}

double usage_least(const struct archive_gpu *gpu)
{
    return gpu->count > 0 ? (double)gpu->min_micro / 1e6 : NAN;
}

double usage_most(const struct archive_gpu *gpu)
{
    return gpu->count > 0 ? (double)gpu->max_micro / 1e6 : NAN;
}

double usage_part(const struct archive_gpu *gpu, size_t i)
{
    return mean(gpu->bucket[i].sum_micro, gpu->bucket[i].count);
}

double usage_average_of_all(const struct archive_result *result)
{
    int64_t sum = 0;
    int64_t count = 0;
    for (size_t i = 0; i < result->gpu_count; i++) {
        sum += result->gpu[i].sum_micro;
        count += result->gpu[i].count;
    }
    return mean(sum, count);
}

double usage_part_of_all(const struct archive_result *result, size_t i)
{
    int64_t sum = 0;
    int64_t count = 0;
    for (size_t gpu = 0; gpu < result->gpu_count; gpu++) {
        sum += result->gpu[gpu].bucket[i].sum_micro;
        count += result->gpu[gpu].bucket[i].count;
    }
    return mean(sum, count);
}

int64_t usage_expected(const struct window *window, int64_t sample_interval_s)
{
    int64_t length = window->to_s - window->from_s;
    return length > 0 && sample_interval_s > 0 ? length / sample_interval_s : 0;
}

double usage_coverage(const struct archive_gpu *gpu, int64_t expected)
{
    if (expected <= 0) {
        return NAN;
    }
    /* Both ends of a window count, so there can be one more than expected. */
    double share = (double)gpu->sample_count / (double)expected;
    return share < 1 ? share : 1;
}
