/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The XML form of nvidia-smi, for drivers whose CSV query gives nothing. Elements were renamed from
 * version to version (power_readings, gpu_power_readings), so values are looked for by their own
 * names wherever they stand inside a GPU. */
#include "source/nvidia_smi_parse.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The text between <name> and </name>, first occurrence with a number if `out` is given. */
static bool find_element(struct span gpu, const char *name, struct span *out)
{
    char open[64];
    char close[64];
    int open_length = snprintf(open, sizeof open, "<%s>", name);
    (void)snprintf(close, sizeof close, "</%s>", name);
    const char *at = memmem(gpu.data, gpu.length, open, (size_t)open_length);
    if (at == NULL) {
        return false;
    }
    at += open_length;
    size_t left = gpu.length - (size_t)(at - gpu.data);
    const char *end = memmem(at, left, close, strlen(close));
    if (end == NULL) {
        return false;
    }
    *out = span_trim((struct span){at, (size_t)(end - at)});
    return true;
}

static double find_number(struct span gpu, const char *name, double scale)
{
    struct span text;
    double number = NAN;
    if (find_element(gpu, name, &text) && smi_number(text.data, text.length, &number)) {
        return number * scale;
    }
    return NAN;
}

static void find_word(struct span gpu, const char *name, char *out, size_t size)
{
    struct span text;
    if (find_element(gpu, name, &text)) {
        text_clean(out, size, text.data, text.length);
    }
}

static double find_power(struct span gpu)
{
    static const char *const names[] = {"power_draw", "average_power_draw", "instant_power_draw"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double watts = find_number(gpu, names[i], 1);
        if (!isnan(watts)) {
            return watts;
        }
    }
    return NAN;
}

static void add_gpu(struct span text, int index, struct snapshot *snapshot)
{
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    if (gpu == NULL) {
        return;
    }
    gpu->index = index;
    (void)snprintf(gpu->source, sizeof gpu->source, "nvidia-smi");
    for (size_t i = 0; i < PACE_COUNT; i++) {
        gpu->read_ns[i] = snapshot->time_ns;
    }
    find_word(text, "uuid", gpu->uuid, sizeof gpu->uuid);
    find_word(text, "product_name", gpu->name, sizeof gpu->name);
    struct span memory = {0};
    double used =
        find_element(text, "fb_memory_usage", &memory) ? find_number(memory, "used", 1048576) : NAN;
    double total = memory.data != NULL ? find_number(memory, "total", 1048576) : NAN;
    double free_bytes = memory.data != NULL ? find_number(memory, "free", 1048576) : NAN;
    snapshot_set(snapshot, gpu, METRIC_UTILIZATION, find_number(text, "gpu_util", 0.01));
    snapshot_set(snapshot, gpu, METRIC_MEMORY_UTILIZATION, find_number(text, "memory_util", 0.01));
    snapshot_set(snapshot, gpu, METRIC_TEMPERATURE, find_number(text, "gpu_temp", 1));
    snapshot_set(snapshot, gpu, METRIC_MEMORY_USED, used);
    snapshot_set(snapshot, gpu, METRIC_MEMORY_TOTAL, total);
    snapshot_set(snapshot, gpu, METRIC_MEMORY_FREE, free_bytes);
    snapshot_set(snapshot, gpu, METRIC_POWER_DRAW, find_power(text));
    snapshot_set(snapshot, gpu, METRIC_POWER_LIMIT, find_number(text, "current_power_limit", 1));
}

size_t smi_parse_xml(const char *text, size_t length, struct snapshot *snapshot)
{
    static const char open[] = "<gpu id=";
    static const char close[] = "</gpu>";
    size_t count = 0;
    struct span rest = {text, length};
    for (;;) {
        const char *at = memmem(rest.data, rest.length, open, strlen(open));
        if (at == NULL) {
            break;
        }
        size_t left = rest.length - (size_t)(at - rest.data);
        const char *end = memmem(at, left, close, strlen(close));
        if (end == NULL) {
            break;
        }
        add_gpu((struct span){at, (size_t)(end - at)}, (int)count, snapshot);
        count++;
        end += strlen(close);
        rest = (struct span){end, rest.length - (size_t)(end - rest.data)};
    }
    struct span all = {text, length};
    find_word(all, "driver_version", snapshot->driver_version, sizeof snapshot->driver_version);
    snapshot->gpu_expected = snapshot->gpu_count;
    return count;
}
