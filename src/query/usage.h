/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Figures of a window, from what the archive found in it. Percentages are 0 to 100 and may carry
 * any decimals; NaN says that there was no valid sample. Pure. */
#ifndef QUERY_USAGE_H
#define QUERY_USAGE_H

#include "query/window.h"
#include "store/archive.h"

/* Mean of the samples that have a value (GM-060, GM-061). */
double usage_average(const struct archive_gpu *gpu);
double usage_least(const struct archive_gpu *gpu);
double usage_most(const struct archive_gpu *gpu);

/* Mean of one part of the window; i < the request's bucket_count. */
double usage_part(const struct archive_gpu *gpu, size_t i);

/* The same over all GPUs, each sample counted once. */
double usage_average_of_all(const struct archive_result *result);
double usage_part_of_all(const struct archive_result *result, size_t i);

/* Samples that one GPU should have in the window; at least 0. */
int64_t usage_expected(const struct window *window, int64_t sample_interval_s);

/* The share of them that are there, 0 to 1; NaN when none is expected. */
double usage_coverage(const struct archive_gpu *gpu, int64_t expected);

#endif
