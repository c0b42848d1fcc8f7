/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/live_view.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)
#define FRESH_LEAST_NS (3 * NS_PER_S)
#define SILENT_PACES 6 /* so many paces without an answer are no hiccup */

/* What was true of a GPU in the view before. */
struct remembered {
    char uuid[GPU_UUID_SIZE];
    const char *word;
    enum health_use use;
    int64_t word_since_ns, use_since_ns, idle_since_ns;
    bool is_fresh;
};

struct live_memory {
    struct remembered *gpu;
    size_t count, capacity;
};

struct live_memory *live_memory_new(void)
{
    return mem_new(1, sizeof(struct live_memory));
}

void live_memory_free(struct live_memory *memory)
{
    if (memory != NULL) {
        free(memory->gpu);
        free(memory);
    }
}

static struct remembered *recall(struct live_memory *memory, const char *uuid)
{
    for (size_t i = 0; i < memory->count; i++) {
        if (strcmp(memory->gpu[i].uuid, uuid) == 0) {
            return &memory->gpu[i];
        }
    }
    memory->gpu = mem_grow(memory->gpu, memory->count, &memory->capacity, sizeof *memory->gpu);
    struct remembered *one = &memory->gpu[memory->count++];
    *one = (struct remembered){.word = ""};
    text_copy(one->uuid, sizeof one->uuid, uuid);
    return one;
}

static void forget_gone(struct live_memory *memory)
{
    size_t kept = 0;
    for (size_t i = 0; i < memory->count; i++) {
        if (memory->gpu[i].is_fresh) {
            memory->gpu[kept] = memory->gpu[i];
            memory->gpu[kept++].is_fresh = false;
        }
    }
    memory->count = kept;
}

/* Processes on the GPU or on one of its instances. */
static size_t count_holders(const struct snapshot *snapshot, size_t at)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot->process_count; i++) {
        int on = snapshot->process[i].gpu;
        count += (size_t)on == at || snapshot->gpu[on].parent == (int)at;
    }
    return count;
}

static int64_t age_of(const struct gpu *gpu, enum metric_pace pace, int64_t now_ns, int64_t pace_ns)
{
    int64_t age_ns = gpu->read_ns[pace] != 0 ? now_ns - gpu->read_ns[pace] : 0;
    int64_t fresh_ns = 2 * pace_ns > FRESH_LEAST_NS ? 2 * pace_ns : FRESH_LEAST_NS;
    return age_ns > fresh_ns ? age_ns / NS_PER_S : 0;
}

static void conclude(struct live_memory *memory, struct live_view *view, size_t at)
{
    const struct gpu *gpu = &view->snapshot->gpu[at];
    struct live_gpu *out = &view->gpu[at];
    struct remembered *before = recall(memory, gpu->uuid);
    before->is_fresh = true;
    for (int pace = 0; pace < 2; pace++) {
        out->age_s[pace] = age_of(gpu, (enum metric_pace)pace, view->now_ns, view->pace_ns[pace]);
    }
    int64_t limit_ns = SILENT_PACES * view->pace_ns[PACE_FAST];
    int64_t silent_ns = out->age_s[PACE_FAST] * NS_PER_S;
    health_judge(gpu, silent_ns > limit_ns ? silent_ns : 0, &out->health);
    if (strcmp(before->word, out->health.word) != 0) {
        before->word = out->health.word;
        before->word_since_ns = view->now_ns;
    }
    bool is_idle = gpu->value[METRIC_UTILIZATION] <= USE_BUSY_RATIO;
    if (!is_idle) {
        before->idle_since_ns = 0;
    } else if (before->idle_since_ns == 0) {
        before->idle_since_ns = view->now_ns;
    }
    out->use =
        health_use_of(gpu, count_holders(view->snapshot, at), before->idle_since_ns, view->now_ns);
    if (before->use_since_ns == 0 || before->use != out->use) {
        before->use = out->use;
        before->use_since_ns = out->use == USE_HELD_IDLE ? before->idle_since_ns : view->now_ns;
    }
    out->health_since_ns = before->word_since_ns;
    out->use_since_ns = before->use_since_ns;
}

struct live_view *live_view_new(struct live_memory *memory, const struct live_input *input)
{
    struct live_view *view = mem_new(1, sizeof *view);
    struct snapshot *snapshot = snapshot_ref(input->snapshot);
    *view = (struct live_view){.snapshot = snapshot,
                               .has_host = input->host != NULL,
                               .now_ns = input->now_ns,
                               .pace_ns = {input->pace_ns[0], input->pace_ns[1]}};
    if (input->host != NULL) {
        view->host = *input->host;
    }
    if (snapshot->process_count > 0) {
        view->detail = mem_new(snapshot->process_count, sizeof *view->detail);
        for (size_t i = 0; i < snapshot->process_count; i++) {
            view->detail[i] = input->details != NULL
                                  ? input->details[i]
                                  : (struct process_detail){.cpu_ratio = NAN, .memory_bytes = NAN};
        }
    }
    view->trouble_count =
        input->trouble_count < LIVE_TROUBLES_MAX ? input->trouble_count : LIVE_TROUBLES_MAX;
    if (view->trouble_count > 0) {
        memcpy(view->trouble, input->troubles, view->trouble_count * sizeof view->trouble[0]);
    }
    view->gpu = mem_new(snapshot->gpu_count + 1, sizeof *view->gpu);
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        conclude(memory, view, i);
    }
    forget_gone(memory);
    return view;
}

void live_view_free(struct live_view *view)
{
    if (view != NULL) {
        snapshot_unref(view->snapshot);
        free(view->detail);
        free(view->gpu);
        free(view);
    }
}
