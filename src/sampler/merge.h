/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What NVML leaves unknown, taken from nvidia-smi by UUID. nvidia-smi costs a hundred times what
 * NVML does, so a GPU for which it knew nothing either is not asked about again for a while. */
#ifndef SAMPLER_MERGE_H
#define SAMPLER_MERGE_H

#include "model/snapshot.h"

#include <stdbool.h>

struct merge_silent {
    char uuid[GPU_UUID_SIZE];
    int64_t until_ns; /* wall time of the snapshots */
};

/* GPUs of which neither source knows the utilization. */
struct merge_memory {
    struct merge_silent *silent;
    size_t count, capacity;
};

void merge_memory_fini(struct merge_memory *memory);

/* True when a whole GPU is lost or without utilization, cut into no MIG instances (those have none
 * by design), and nvidia-smi may know more. */
bool merge_is_needed(const struct merge_memory *memory, const struct snapshot *nvml);

/* Completes `nvml`; `smi` may be NULL (it failed). */
void merge_from(struct merge_memory *memory, struct snapshot *nvml, const struct snapshot *smi);

#endif
