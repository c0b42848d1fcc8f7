/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* NVML as a source: the set of GPUs, who is there, who is lost, and when the driver has to be
 * opened anew. What one GPU says is in device_read.c. */
#include "source/nvml/device.h"
#include "source/nvml/library.h"
#include "source/source.h"
#include "source/unified.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GPUS_MAX 256
#define EVENTS_A_READ 64

struct nvml {
    struct source source;
    struct source_options options;
    struct nvml_library library;
    struct nvml_gpu **gpu; /* by first sight; a GPU that was seen stays */
    size_t count, capacity;
    nvml_event_set events;
    bool has_events;
    int64_t listed_ns; /* wall time of the last look at the set of GPUs */
    uint64_t dropped;
    char driver_version[80], library_version[80], cuda_version[16];
};

static void read_versions(struct nvml *nvml)
{
    const struct nvml_library *library = &nvml->library;
    char text[80] = "";
    int32_t cuda = 0;
    if (library->driver_version != NULL &&
        library->driver_version(text, sizeof text - 1) == NVML_SUCCESS) {
        text_clean(nvml->driver_version, sizeof nvml->driver_version, text, strlen(text));
    }
    if (library->library_version != NULL &&
        library->library_version(text, sizeof text - 1) == NVML_SUCCESS) {
        text_clean(nvml->library_version, sizeof nvml->library_version, text, strlen(text));
    }
    if (library->cuda_version != NULL && library->cuda_version(&cuda) == NVML_SUCCESS && cuda > 0 &&
        cuda < 1000000) {
        (void)snprintf(nvml->cuda_version, sizeof nvml->cuda_version, "%d.%d", cuda / 1000,
                       cuda % 1000 / 10);
    }
}

static struct nvml_gpu *add_gpu(struct nvml *nvml)
{
    if (nvml->count == GPUS_MAX) {
        return NULL;
    }
    nvml->gpu = mem_grow(nvml->gpu, nvml->count, &nvml->capacity, sizeof(struct nvml_gpu *));
    struct nvml_gpu *gpu = mem_new(1, sizeof *gpu);
    struct snapshot *unknown = snapshot_new(0);
    gpu->last = *snapshot_add_gpu(unknown);
    snapshot_unref(unknown);
    (void)snprintf(gpu->last.source, sizeof gpu->last.source, "nvml");
    nvml->gpu[nvml->count++] = gpu;
    return gpu;
}

/* The GPU that was known by this UUID; or one that never told its UUID, at this index. */
static struct nvml_gpu *find_gpu(struct nvml *nvml, const char *uuid, int index)
{
    for (size_t i = 0; i < nvml->count; i++) {
        struct gpu *known = &nvml->gpu[i]->last;
        bool is_same = uuid[0] != '\0' && strcasecmp(known->uuid, uuid) == 0;
        if (is_same || (known->uuid[0] == '\0' && known->index == index)) {
            return nvml->gpu[i];
        }
    }
    return NULL;
}

static struct nvml_gpu *find_index(struct nvml *nvml, int index)
{
    for (size_t i = 0; i < nvml->count; i++) {
        if (nvml->gpu[i]->last.index == index && !nvml->gpu[i]->has_device) {
            return nvml->gpu[i];
        }
    }
    return NULL;
}

/* Looks at one index. A GPU that cannot be opened is kept as lost. */
static void list_one(struct nvml *nvml, uint32_t index)
{
    nvml_device device = NULL;
    int32_t result = nvml->library.device(index, &device);
    struct nvml_gpu probe = {.device = device};
    struct snapshot *scratch = snapshot_new(0);
    struct nvml_pass pass = {.library = &nvml->library, .state = &probe, .snapshot = scratch};
    if (result == NVML_SUCCESS) {
        nvml_read_identity(&pass, &probe.last);
    }
    snapshot_unref(scratch);
    struct nvml_gpu *gpu = result == NVML_SUCCESS ? find_gpu(nvml, probe.last.uuid, (int)index)
                                                  : find_index(nvml, (int)index);
    gpu = gpu != NULL ? gpu : add_gpu(nvml);
    if (gpu == NULL) {
        return;
    }
    if (gpu->has_device && gpu->device == device) {
        return;
    }
    gpu->last.index = (int)index;
    gpu->has_device = result == NVML_SUCCESS;
    gpu->device = device;
    gpu->is_registered = false;
    gpu->slow_ns = 0;
    memset(gpu->unsupported_ns, 0, sizeof gpu->unsupported_ns);
    if (probe.last.uuid[0] != '\0') {
        memcpy(gpu->last.uuid, probe.last.uuid, sizeof gpu->last.uuid);
        memcpy(gpu->last.name, probe.last.name, sizeof gpu->last.name);
    }
    gpu->last.state = gpu->has_device ? GPU_STATE_OK : GPU_STATE_LOST;
}

/* The set of GPUs as the driver sees it now. */
static int list_gpus(struct nvml *nvml, int64_t now_ns, struct err *err)
{
    uint32_t count = 0;
    int32_t result = nvml->library.count(&count);
    if (result != NVML_SUCCESS) {
        return err_set(err, result == NVML_LIB_RM_VERSION_MISMATCH ? -ESTALE : -EIO,
                       "nvmlDeviceGetCount says %d (%s)", result, nvml_result_name(result));
    }
    count = count < GPUS_MAX ? count : GPUS_MAX;
    for (size_t i = 0; i < nvml->count; i++) {
        nvml->gpu[i]->has_device =
            nvml->gpu[i]->has_device && nvml->gpu[i]->last.index < (int)count;
    }
    for (uint32_t i = 0; i < count; i++) {
        list_one(nvml, i);
    }
    nvml->listed_ns = now_ns;
    return 0;
}

static void forget_devices(struct nvml *nvml)
{
    for (size_t i = 0; i < nvml->count; i++) {
        nvml->gpu[i]->has_device = false;
        nvml->gpu[i]->is_registered = false;
        nvml->gpu[i]->instance_count = 0;
    }
    if (nvml->has_events && nvml->library.event_set_free != NULL) {
        (void)nvml->library.event_set_free(nvml->events);
    }
    nvml->has_events = false;
    nvml_library_close(&nvml->library);
}

/* Opens the driver (again) if it is closed. */
static int ensure_open(struct nvml *nvml, int64_t now_ns, struct err *err)
{
    if (nvml->library.handle != NULL) {
        return 0;
    }
    int code = nvml_library_open(&nvml->library, err);
    if (code != 0) {
        return code;
    }
    read_versions(nvml);
    if (nvml->options.depth == SOURCE_FULL && nvml->library.event_set_create != NULL &&
        nvml->library.event_wait != NULL && nvml->library.event_register != NULL) {
        nvml->has_events = nvml->library.event_set_create(&nvml->events) == NVML_SUCCESS;
    }
    return list_gpus(nvml, now_ns, err);
}

static int nvml_open(struct source **out, const struct source_options *options, struct err *err)
{
    struct nvml *nvml = mem_new(1, sizeof *nvml);
    nvml->source.ops = &source_nvml;
    nvml->options = *options;
    int code = ensure_open(nvml, 0, err);
    if (code != 0) {
        source_nvml.close(&nvml->source);
        return code == -EIO || code == -ESTALE ? -ENODEV : code;
    }
    *out = &nvml->source;
    return 0;
}

static void nvml_close(struct source *source)
{
    struct nvml *nvml = (struct nvml *)source;
    if (nvml == NULL) {
        return;
    }
    forget_devices(nvml);
    for (size_t i = 0; i < nvml->count; i++) {
        free(nvml->gpu[i]->instance);
        free(nvml->gpu[i]);
    }
    free(nvml->gpu);
    free(nvml);
}

static void clear_pace(struct gpu *gpu, enum metric_pace pace)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (metrics[i].pace == pace && i != METRIC_XID_LAST) {
            gpu->value[i] = NAN;
        }
    }
}

/* Every value but those that do not change is unknown now. */
static void mark_trouble(struct nvml_gpu *state, int32_t trouble)
{
    clear_pace(&state->last, PACE_FAST);
    clear_pace(&state->last, PACE_SLOW);
    state->last.fan_count = 0;
    state->last.link_count = 0;
    state->instance_count = 0;
    state->is_once_read = false;
    state->slow_ns = 0;
    state->last.state = trouble == NVML_RESET_REQUIRED ? GPU_STATE_NEEDS_RESET : GPU_STATE_LOST;
    /* A handle of a lost GPU does not come back to life; the next look may give a new one. */
    state->has_device = state->has_device && trouble == NVML_RESET_REQUIRED;
}

static void register_events(struct nvml *nvml, struct nvml_gpu *state)
{
    uint64_t types = NVML_EVENT_XID;
    state->is_registered = true;
    if (nvml->library.event_types != NULL &&
        (nvml->library.event_types(state->device, &types) != NVML_SUCCESS ||
         (types & NVML_EVENT_XID) == 0)) {
        return;
    }
    (void)nvml->library.event_register(state->device, NVML_EVENT_XID, nvml->events);
}

static void read_values(struct nvml *nvml, struct nvml_pass *pass)
{
    struct nvml_gpu *state = pass->state;
    struct gpu *last = &state->last;
    clear_pace(last, PACE_FAST);
    if (nvml->options.depth == SOURCE_UTILIZATION) {
        nvml_read_utilization(pass, last);
        last->read_ns[PACE_FAST] = pass->now_ns;
        return;
    }
    bool is_first = !state->is_once_read;
    if (is_first) {
        clear_pace(last, PACE_ONCE);
        nvml_read_once(pass, last);
        last->read_ns[PACE_ONCE] = pass->now_ns;
        state->is_once_read = pass->trouble == 0;
    }
    nvml_read_fast(pass, last);
    last->read_ns[PACE_FAST] = pass->now_ns;
    if (state->slow_ns == 0 || pass->now_ns - state->slow_ns >= NVML_SLOW_NS ||
        pass->now_ns < state->slow_ns) {
        clear_pace(last, PACE_SLOW);
        nvml_read_slow(pass, last);
        nvml_read_links(pass, last, is_first);
        nvml_find_instances(pass);
        state->slow_ns = pass->now_ns;
        last->read_ns[PACE_SLOW] = pass->now_ns;
    }
    if (nvml->has_events && !state->is_registered) {
        register_events(nvml, state);
    }
}

/* Adds one GPU to the snapshot. Returns the result that concerns the whole driver, 0 = none. */
static int32_t read_gpu(struct nvml *nvml, struct nvml_gpu *state, struct snapshot *snapshot)
{
    struct nvml_pass pass = {.library = &nvml->library,
                             .state = state,
                             .snapshot = snapshot,
                             .now_ns = snapshot->time_ns};
    if (state->has_device) {
        state->last.state = GPU_STATE_OK;
        read_values(nvml, &pass);
    }
    if (pass.trouble != 0 || !state->has_device) {
        mark_trouble(state, pass.trouble);
    }
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    if (gpu == NULL) {
        return 0;
    }
    int position = (int)snapshot->gpu_count - 1;
    *gpu = state->last;
    if (nvml->options.depth == SOURCE_FULL && gpu->state == GPU_STATE_OK) {
        unified_fill(snapshot, gpu, nvml->options.tap);
        nvml_add_instances(&pass, position);
        nvml_read_processes(&pass, position);
        const struct gpu *now = &snapshot->gpu[position];
        for (int i = METRIC_COMPUTE_PROCESSES; i <= METRIC_MPS_PROCESSES; i++) {
            state->last.value[i] = now->value[i];
        }
    }
    bool is_driver = pass.trouble == NVML_LIB_RM_VERSION_MISMATCH ||
                     pass.trouble == NVML_UNINITIALIZED || pass.trouble == NVML_DRIVER_NOT_LOADED;
    return is_driver ? pass.trouble : 0;
}

static void read_events(struct nvml *nvml, struct snapshot *snapshot)
{
    for (int i = 0; nvml->has_events && i < EVENTS_A_READ; i++) {
        struct nvml_event event = {0};
        if (nvml->library.event_wait(nvml->events, &event, 0) != NVML_SUCCESS) {
            return;
        }
        for (size_t j = 0; j < snapshot->gpu_count && event.type == NVML_EVENT_XID; j++) {
            struct gpu *gpu = &snapshot->gpu[j];
            struct nvml_gpu *state = gpu->parent < 0 ? find_gpu(nvml, gpu->uuid, -2) : NULL;
            struct event *added = state != NULL && state->device == event.device
                                      ? snapshot_add_event(snapshot)
                                      : NULL;
            if (added != NULL) {
                *added = (struct event){EVENT_XID, snapshot->time_ns, (int)j, event.data};
                snapshot_set(snapshot, gpu, METRIC_XID_LAST, (double)event.data);
                state->last.value[METRIC_XID_LAST] = gpu->value[METRIC_XID_LAST];
            }
        }
    }
}

static bool has_lost(const struct nvml *nvml)
{
    for (size_t i = 0; i < nvml->count; i++) {
        if (!nvml->gpu[i]->has_device) {
            return true;
        }
    }
    return false;
}

static int nvml_read(struct source *source, int64_t now_ns, struct snapshot **out, struct err *err)
{
    struct nvml *nvml = (struct nvml *)source;
    bool was_open = nvml->library.handle != NULL;
    int code = ensure_open(nvml, now_ns, err);
    bool is_due = now_ns - nvml->listed_ns >= NVML_SLOW_NS || now_ns < nvml->listed_ns;
    nvml->listed_ns = nvml->listed_ns == 0 ? now_ns : nvml->listed_ns;
    if (code == 0 && was_open && ((is_due && nvml->listed_ns != now_ns) || has_lost(nvml))) {
        code = list_gpus(nvml, now_ns, err);
    }
    if (code != 0) {
        /* The driver went away or was replaced: everything is opened anew by the next read. */
        forget_devices(nvml);
        if (nvml->count == 0) {
            return code;
        }
    }
    struct snapshot *snapshot = snapshot_new(now_ns);
    int32_t trouble = 0;
    snapshot->dropped = nvml->dropped;
    memcpy(snapshot->driver_version, nvml->driver_version, sizeof snapshot->driver_version);
    memcpy(snapshot->library_version, nvml->library_version, sizeof snapshot->library_version);
    memcpy(snapshot->cuda_version, nvml->cuda_version, sizeof snapshot->cuda_version);
    for (size_t i = 0; i < nvml->count; i++) {
        int32_t one = read_gpu(nvml, nvml->gpu[i], snapshot);
        trouble = trouble == 0 ? one : trouble;
    }
    read_events(nvml, snapshot);
    snapshot->gpu_expected = nvml->count;
    nvml->dropped = snapshot->dropped;
    if (trouble != 0) {
        forget_devices(nvml);
    }
    *out = snapshot;
    return 0;
}

const struct source_ops source_nvml = {"NVML", nvml_open, nvml_read, nvml_close};
