/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* MIG instances and processes of one GPU. */
#include "source/nvml/device.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES_ASKED 128
#define PROCESSES_MOST 8192 /* a larger count is garbage */
#define SAMPLES_MOST 16384

static void read_instance(struct nvml_pass *pass, uint32_t number, nvml_device device)
{
    const struct nvml_library *library = pass->library;
    struct nvml_gpu *state = pass->state;
    if (state->instance == NULL) { /* most GPUs never have any */
        state->instance = mem_new(NVML_INSTANCES_MAX, sizeof *state->instance);
    }
    struct nvml_instance *instance = &state->instance[state->instance_count];
    char text[GPU_UUID_SIZE] = "";
    uint32_t id = 0;
    *instance = (struct nvml_instance){.device = device};
    instance->gpu = (struct gpu){.gpu_instance = -1, .compute_instance = -1};
    if (library->uuid == NULL || library->uuid(device, text, sizeof text - 1) != NVML_SUCCESS) {
        return;
    }
    text_clean(instance->gpu.uuid, GPU_UUID_SIZE, text, strnlen(text, sizeof text));
    memset(text, 0, sizeof text);
    if (library->name != NULL && library->name(device, text, sizeof text - 1) == NVML_SUCCESS) {
        text_clean(instance->gpu.name, GPU_NAME_SIZE, text, strnlen(text, sizeof text));
    }
    if (library->gpu_instance != NULL && library->gpu_instance(device, &id) == NVML_SUCCESS &&
        id < 256) {
        instance->gpu.gpu_instance = (int)id;
    }
    if (library->compute_instance != NULL &&
        library->compute_instance(device, &id) == NVML_SUCCESS && id < 256) {
        instance->gpu.compute_instance = (int)id;
    }
    (void)number;
    state->instance_count++;
}

void nvml_find_instances(struct nvml_pass *pass)
{
    struct nvml_gpu *state = pass->state;
    state->instance_count = 0;
    if (state->last.value[METRIC_MIG_MODE] != 1 || pass->library->mig_handle == NULL) {
        return;
    }
    for (uint32_t i = 0; i < NVML_INSTANCES_MAX; i++) {
        nvml_device device = NULL;
        /* Numbers may have holes after an instance was destroyed. */
        if (pass->library->mig_handle(state->device, i, &device) == NVML_SUCCESS) {
            read_instance(pass, i, device);
        }
    }
}

void nvml_add_instances(struct nvml_pass *pass, int parent)
{
    struct nvml_gpu *state = pass->state;
    for (int i = 0; i < state->instance_count; i++) {
        const struct nvml_instance *instance = &state->instance[i];
        struct gpu *gpu = snapshot_add_gpu(pass->snapshot);
        if (gpu == NULL) {
            return;
        }
        const struct gpu *whole = &pass->snapshot->gpu[parent];
        gpu->index = whole->index;
        gpu->parent = parent;
        gpu->gpu_instance = instance->gpu.gpu_instance;
        gpu->compute_instance = instance->gpu.compute_instance;
        memcpy(gpu->uuid, instance->gpu.uuid, sizeof gpu->uuid);
        memcpy(gpu->name, instance->gpu.name, sizeof gpu->name);
        (void)snprintf(gpu->source, sizeof gpu->source, "nvml");
        memcpy(gpu->read_ns, whole->read_ns, sizeof gpu->read_ns);
        nvml_read_memory(pass, instance->device, gpu);
    }
}

/* A list in the newer layout; the caller frees. NULL when the call gives none. */
static struct nvml_process *list_processes(const struct nvml_pass *pass,
                                           int32_t (*call)(nvml_device, uint32_t *, void *),
                                           size_t size, uint32_t *count, bool *is_known)
{
    uint32_t room = PROCESSES_ASKED;
    *count = 0;
    *is_known = false;
    /* The list may grow between two calls; three tries, then it is left for the next read. */
    for (int attempt = 0; call != NULL && attempt < 3; attempt++) {
        char *raw = mem_new(room, size);
        uint32_t got = room;
        int32_t result = call(pass->state->device, &got, raw);
        if (result == NVML_INSUFFICIENT_SIZE && got > room && got <= PROCESSES_MOST) {
            free(raw);
            room = got + 16;
            continue;
        }
        if (result != NVML_SUCCESS || got > room) {
            free(raw);
            return NULL;
        }
        struct nvml_process *list = mem_new(got, sizeof *list);
        for (uint32_t i = 0; i < got; i++) {
            list[i].gpu_instance = NVML_NOT_AVAILABLE_U32;
            list[i].compute_instance = NVML_NOT_AVAILABLE_U32;
            memcpy(&list[i], raw + i * size, size);
        }
        free(raw);
        *count = got;
        *is_known = true;
        return list;
    }
    return NULL;
}

/* Where a process belongs: its MIG instance if that is in the snapshot, else the whole GPU. */
static int place_of(const struct nvml_pass *pass, int position, const struct nvml_process *entry)
{
    const struct snapshot *snapshot = pass->snapshot;
    for (size_t i = (size_t)position + 1; i < snapshot->gpu_count; i++) {
        if (snapshot->gpu[i].parent == position &&
            snapshot->gpu[i].gpu_instance == (int)entry->gpu_instance &&
            (snapshot->gpu[i].compute_instance == (int)entry->compute_instance ||
             entry->compute_instance == NVML_NOT_AVAILABLE_U32)) {
            return (int)i;
        }
    }
    return position;
}

static struct process *find_process(struct snapshot *snapshot, size_t first, int gpu, uint32_t pid)
{
    for (size_t i = first; i < snapshot->process_count; i++) {
        if (snapshot->process[i].gpu == gpu && snapshot->process[i].pid == pid) {
            return &snapshot->process[i];
        }
    }
    return NULL;
}

static void name_process(const struct nvml_pass *pass, struct process *process)
{
    char text[256] = "";
    if (pass->library->process_name != NULL &&
        pass->library->process_name(process->pid, text, sizeof text - 1) == NVML_SUCCESS) {
        text_clean(process->name, sizeof process->name, text, strnlen(text, sizeof text));
    }
}

static void add_processes(struct nvml_pass *pass, int position, size_t first,
                          const struct nvml_process *list, uint32_t count, enum process_kind kind)
{
    for (uint32_t i = 0; i < count; i++) {
        int place = place_of(pass, position, &list[i]);
        struct process *process = find_process(pass->snapshot, first, place, list[i].pid);
        if (process == NULL) {
            process = snapshot_add_process(pass->snapshot);
            if (process == NULL) {
                return;
            }
            process->gpu = place;
            process->pid = list[i].pid;
            name_process(pass, process);
        }
        process->kinds |= kind;
        double memory = nvml_u64(list[i].used_bytes, 1);
        if (isnan(process->memory_bytes)) {
            process->memory_bytes = snapshot_check(pass->snapshot, memory, 1e15);
        }
    }
}

static double percent_of(struct snapshot *snapshot, uint32_t value)
{
    return snapshot_check(snapshot, nvml_u32(value, 0.01), 1);
}

/* The newest sample of each process since the last look. "Not found" means that nothing ran. */
static void read_activity(struct nvml_pass *pass, int position, size_t first)
{
    struct nvml_gpu *state = pass->state;
    struct snapshot *snapshot = pass->snapshot;
    uint32_t count = 0;
    if (pass->library->process_utilization == NULL || first == snapshot->process_count) {
        return;
    }
    int32_t result =
        pass->library->process_utilization(state->device, NULL, &count, state->process_time_us);
    bool has_samples = result == NVML_INSUFFICIENT_SIZE && count > 0 && count <= SAMPLES_MOST;
    if (!has_samples && result != NVML_NOT_FOUND && result != NVML_SUCCESS) {
        return;
    }
    for (size_t i = first; i < snapshot->process_count; i++) {
        snapshot->process[i].sm_ratio = 0;
        snapshot->process[i].memory_ratio = 0;
        snapshot->process[i].encoder_ratio = 0;
        snapshot->process[i].decoder_ratio = 0;
    }
    if (!has_samples) {
        return;
    }
    uint32_t room = count + 16;
    struct nvml_process_utilization *sample = mem_new(room, sizeof *sample);
    count = room;
    result =
        pass->library->process_utilization(state->device, sample, &count, state->process_time_us);
    for (uint32_t i = 0; result == NVML_SUCCESS && i < count && i < room; i++) {
        struct process *process = find_process(snapshot, first, position, sample[i].pid);
        state->process_time_us =
            sample[i].time_us > state->process_time_us ? sample[i].time_us : state->process_time_us;
        if (process != NULL) {
            process->sm_ratio = percent_of(snapshot, sample[i].sm);
            process->memory_ratio = percent_of(snapshot, sample[i].memory);
            process->encoder_ratio = percent_of(snapshot, sample[i].encoder);
            process->decoder_ratio = percent_of(snapshot, sample[i].decoder);
        }
    }
    free(sample);
}

void nvml_read_processes(struct nvml_pass *pass, int position)
{
    const struct nvml_library *library = pass->library;
    const struct {
        enum process_kind kind;
        enum metric_id metric;
        int32_t (*call)(nvml_device, uint32_t *, void *);
        int32_t (*call_v1)(nvml_device, uint32_t *, void *);
    } lists[] = {
        {PROCESS_COMPUTE, METRIC_COMPUTE_PROCESSES, library->compute_processes,
         library->compute_processes_v1},
        {PROCESS_GRAPHICS, METRIC_GRAPHICS_PROCESSES, library->graphics_processes,
         library->graphics_processes_v1},
        {PROCESS_MPS, METRIC_MPS_PROCESSES, library->mps_processes, library->mps_processes_v1},
    };
    size_t first = pass->snapshot->process_count;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && pass->trouble == 0; i++) {
        uint32_t count = 0;
        bool is_known = false;
        bool is_new = lists[i].call != NULL;
        struct nvml_process *list =
            list_processes(pass, is_new ? lists[i].call : lists[i].call_v1,
                           is_new ? sizeof(struct nvml_process) : sizeof(struct nvml_process_v1),
                           &count, &is_known);
        if (is_known) {
            add_processes(pass, position, first, list, count, lists[i].kind);
            snapshot_set(pass->snapshot, &pass->snapshot->gpu[position], lists[i].metric, count);
        }
        free(list);
    }
    read_activity(pass, position, first);
}
