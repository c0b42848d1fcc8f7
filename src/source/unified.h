/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Memory of GPUs that have none of their own (GB10, Jetson): the driver has no figure, the system's
 * is the truth. */
#ifndef SOURCE_UNIFIED_H
#define SOURCE_UNIFIED_H

#include "source/source.h"

/* Where the driver gave no memory figure to a GPU known to share the system's memory, takes total
 * and available from /proc/meminfo and marks the GPU as unified. Others are left unknown. `tap`
 * may be NULL. */
void unified_fill(struct snapshot *snapshot, struct gpu *gpu, const struct source_tap *tap);

/* The same from text in the format of /proc/meminfo; false when it holds no total. */
bool unified_parse(const char *text, size_t length, double *total_bytes, double *available_bytes);

#endif
