/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "model/snapshot.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct snapshot *snapshot_new(int64_t time_ns)
{
    struct snapshot *snapshot = mem_new(1, sizeof *snapshot);
    snapshot->time_ns = time_ns;
    snapshot->references = 1;
    return snapshot;
}

struct snapshot *snapshot_ref(struct snapshot *snapshot)
{
    int before = __atomic_fetch_add(&snapshot->references, 1, __ATOMIC_RELAXED);
    assert(before > 0);
    return snapshot;
}

void snapshot_unref(struct snapshot *snapshot)
{
    if (snapshot == NULL) {
        return;
    }
    int before = __atomic_fetch_sub(&snapshot->references, 1, __ATOMIC_ACQ_REL);
    assert(before > 0);
    if (before > 1) {
        return;
    }
    free(snapshot->event);
    free(snapshot->process);
    free(snapshot->gpu);
    free(snapshot);
}

static void *copy_array(const void *array, size_t count, size_t size)
{
    void *copy = mem_new(count, size);
    if (count > 0) {
        memcpy(copy, array, count * size);
    }
    return copy;
}

struct snapshot *snapshot_copy(const struct snapshot *snapshot)
{
    struct snapshot *copy = copy_array(snapshot, 1, sizeof *snapshot);
    copy->references = 1;
    copy->gpu = copy_array(snapshot->gpu, snapshot->gpu_count, sizeof *copy->gpu);
    copy->gpu_capacity = copy->gpu_count;
    copy->process = copy_array(snapshot->process, snapshot->process_count, sizeof *copy->process);
    copy->process_capacity = copy->process_count;
    copy->event = copy_array(snapshot->event, snapshot->event_count, sizeof *copy->event);
    copy->event_capacity = copy->event_count;
    return copy;
}

struct gpu *snapshot_add_gpu(struct snapshot *snapshot)
{
    if (snapshot->gpu_count == SNAPSHOT_GPUS_MAX) {
        return NULL;
    }
    snapshot->gpu = mem_grow(snapshot->gpu, snapshot->gpu_count, &snapshot->gpu_capacity,
                             sizeof *snapshot->gpu);
    struct gpu *gpu = &snapshot->gpu[snapshot->gpu_count++];
    memset(gpu, 0, sizeof *gpu);
    gpu->index = -1;
    gpu->parent = -1;
    gpu->gpu_instance = -1;
    gpu->compute_instance = -1;
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        gpu->value[i] = NAN;
    }
    for (size_t i = 0; i < GPU_FANS_MAX; i++) {
        gpu->fan_ratio[i] = NAN;
    }
    for (size_t i = 0; i < GPU_LINKS_MAX; i++) {
        for (size_t j = 0; j < LINK_METRIC_COUNT; j++) {
            gpu->link[i][j] = NAN;
        }
    }
    return gpu;
}

struct process *snapshot_add_process(struct snapshot *snapshot)
{
    if (snapshot->process_count == SNAPSHOT_PROCESSES_MAX) {
        return NULL;
    }
    snapshot->process = mem_grow(snapshot->process, snapshot->process_count,
                                 &snapshot->process_capacity, sizeof *snapshot->process);
    struct process *process = &snapshot->process[snapshot->process_count++];
    *process = (struct process){.gpu = -1,
                                .memory_bytes = NAN,
                                .sm_ratio = NAN,
                                .memory_ratio = NAN,
                                .encoder_ratio = NAN,
                                .decoder_ratio = NAN};
    return process;
}

#define SNAPSHOT_EVENTS_MAX 4096

struct event *snapshot_add_event(struct snapshot *snapshot)
{
    if (snapshot->event_count == SNAPSHOT_EVENTS_MAX) {
        return NULL;
    }
    snapshot->event = mem_grow(snapshot->event, snapshot->event_count, &snapshot->event_capacity,
                               sizeof *snapshot->event);
    struct event *event = &snapshot->event[snapshot->event_count++];
    *event = (struct event){.gpu = -1};
    return event;
}

double snapshot_check(struct snapshot *snapshot, double value, double highest)
{
    if (isnan(value)) {
        return NAN;
    }
    if (value < 0 || value > highest || !isfinite(value)) {
        snapshot->dropped++;
        return NAN;
    }
    return value;
}

void snapshot_set(struct snapshot *snapshot, struct gpu *gpu, enum metric_id id, double value)
{
    const struct metric *metric = &metrics[id];
    if (metric->unit == UNIT_CELSIUS && value < 0 && value >= -100) {
        gpu->value[id] = value;
        return;
    }
    gpu->value[id] = snapshot_check(snapshot, value, metric->highest);
}

int snapshot_find(const struct snapshot *snapshot, const char *uuid)
{
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        if (strcasecmp(snapshot->gpu[i].uuid, uuid) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const char *gpu_state_name(enum gpu_state state)
{
    static const char *const names[] = {"ok", "needs reset", "lost", "not answering"};
    return names[state];
}
