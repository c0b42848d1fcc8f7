/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "sampler/merge.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SILENT_NS (300 * NS_PER_S)

void merge_memory_fini(struct merge_memory *memory)
{
    free(memory->silent);
    *memory = (struct merge_memory){0};
}

static struct merge_silent *find_silent(const struct merge_memory *memory, const char *uuid)
{
    for (size_t i = 0; i < memory->count; i++) {
        if (strcasecmp(memory->silent[i].uuid, uuid) == 0) {
            return &memory->silent[i];
        }
    }
    return NULL;
}

/* Nothing is known of it but who it is. */
static bool is_gone(const struct gpu *gpu)
{
    return gpu->state == GPU_STATE_LOST || gpu->state == GPU_STATE_SILENT;
}

static bool is_incomplete(const struct gpu *gpu)
{
    bool is_cut = gpu->value[METRIC_MIG_MODE] == 1;
    return gpu->parent < 0 && !is_cut && (is_gone(gpu) || isnan(gpu->value[METRIC_UTILIZATION]));
}

bool merge_is_needed(const struct merge_memory *memory, const struct snapshot *nvml)
{
    for (size_t i = 0; i < nvml->gpu_count; i++) {
        const struct gpu *gpu = &nvml->gpu[i];
        if (!is_incomplete(gpu)) {
            continue;
        }
        const struct merge_silent *silent = find_silent(memory, gpu->uuid);
        if (silent == NULL || nvml->time_ns >= silent->until_ns) {
            return true;
        }
    }
    return false;
}

static void remember_silent(struct merge_memory *memory, const struct gpu *gpu, int64_t now_ns)
{
    struct merge_silent *silent = find_silent(memory, gpu->uuid);
    if (silent == NULL) {
        memory->silent =
            mem_grow(memory->silent, memory->count, &memory->capacity, sizeof *memory->silent);
        silent = &memory->silent[memory->count++];
        (void)snprintf(silent->uuid, sizeof silent->uuid, "%s", gpu->uuid);
    }
    silent->until_ns = now_ns + SILENT_NS;
}

static void complete(struct gpu *gpu, const struct gpu *from)
{
    bool was_lost = is_gone(gpu);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (was_lost || isnan(gpu->value[i])) {
            gpu->value[i] = from->value[i];
        }
    }
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        if (gpu->text[i][0] == '\0') {
            memcpy(gpu->text[i], from->text[i], sizeof gpu->text[i]);
        }
    }
    if (gpu->uuid[0] == '\0') {
        memcpy(gpu->uuid, from->uuid, sizeof gpu->uuid);
    }
    if (gpu->name[0] == '\0') {
        memcpy(gpu->name, from->name, sizeof gpu->name);
    }
    if (gpu->note[0] == '\0') {
        memcpy(gpu->note, from->note, sizeof gpu->note);
    }
    if (was_lost) {
        memcpy(gpu->read_ns, from->read_ns, sizeof gpu->read_ns);
    }
    gpu->state = was_lost || from->state != GPU_STATE_OK ? from->state : gpu->state;
    (void)snprintf(gpu->source, sizeof gpu->source, "nvml+smi");
}

/* The same GPU in the other snapshot: by UUID, or by index when NVML could not even say that. */
static const struct gpu *counterpart(const struct snapshot *nvml, const struct gpu *gpu,
                                     const struct snapshot *smi)
{
    if (gpu->uuid[0] != '\0') {
        int at = snapshot_find(smi, gpu->uuid);
        return at >= 0 ? &smi->gpu[at] : NULL;
    }
    for (size_t i = 0; smi->gpu != NULL && i < smi->gpu_count; i++) {
        const struct gpu *other = &smi->gpu[i];
        bool is_known = other->uuid[0] != '\0' && snapshot_find(nvml, other->uuid) >= 0;
        if (other->index == gpu->index && !is_known) {
            return other;
        }
    }
    return NULL;
}

void merge_from(struct merge_memory *memory, struct snapshot *nvml, const struct snapshot *smi)
{
    for (size_t i = 0; i < nvml->gpu_count; i++) {
        struct gpu *gpu = &nvml->gpu[i];
        if (!is_incomplete(gpu)) {
            continue;
        }
        const struct gpu *from = smi != NULL ? counterpart(nvml, gpu, smi) : NULL;
        if (from != NULL) {
            complete(gpu, from);
        }
        if (is_incomplete(gpu)) {
            remember_silent(memory, gpu, nvml->time_ns);
        }
    }
    nvml->dropped += smi != NULL ? smi->dropped : 0;
}
