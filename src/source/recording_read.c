/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/recording.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void recording_line_fini(struct recording_line *line)
{
    snapshot_unref(line->snapshot);
    free(line->origin);
    buf_fini(&line->text);
    *line = (struct recording_line){0};
}

static double get_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t get_int(const json_t *object, const char *key, int64_t least, int64_t most,
                       int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    int64_t number = json_is_integer(value) ? json_integer_value(value) : fallback;
    return number >= least && number <= most ? number : fallback;
}

static void get_text(const json_t *object, const char *key, char *out, size_t size)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value)) {
        text_clean(out, size, json_string_value(value), json_string_length(value));
    }
}

static enum gpu_state get_state(const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "state"));
    for (int i = GPU_STATE_OK; text != NULL && i <= GPU_STATE_SILENT; i++) {
        if (strcmp(text, gpu_state_name((enum gpu_state)i)) == 0) {
            return (enum gpu_state)i;
        }
    }
    return GPU_STATE_OK;
}

/* An array of numbers into a fixed place; returns how many. */
static int read_numbers(const json_t *array, double *out, int most)
{
    int count = 0;
    size_t index = 0;
    json_t *value = NULL;
    json_array_foreach(array, index, value)
    {
        if (count == most) {
            break;
        }
        out[count++] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return count;
}

static void read_links(const json_t *array, struct gpu *gpu)
{
    size_t index = 0;
    json_t *value = NULL;
    json_array_foreach(array, index, value)
    {
        if (gpu->link_count == GPU_LINKS_MAX) {
            break;
        }
        double *link = gpu->link[gpu->link_count++];
        for (size_t i = 0; i < LINK_METRIC_COUNT; i++) {
            link[i] = get_number(value, link_metrics[i].key);
        }
    }
}

static void read_gpu(const json_t *object, struct snapshot *snapshot)
{
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    if (gpu == NULL) {
        return;
    }
    /* A parent comes before its instances, so it is one of those already read. */
    int before = (int)snapshot->gpu_count - 2;
    gpu->index = (int)get_int(object, "index", -1, 65535, -1);
    gpu->parent = (int)get_int(object, "parent", -1, before, -1);
    gpu->gpu_instance = (int)get_int(object, "gpu_instance", -1, 65535, -1);
    gpu->compute_instance = (int)get_int(object, "compute_instance", -1, 65535, -1);
    get_text(object, "uuid", gpu->uuid, sizeof gpu->uuid);
    get_text(object, "name", gpu->name, sizeof gpu->name);
    get_text(object, "note", gpu->note, sizeof gpu->note);
    get_text(object, "source", gpu->source, sizeof gpu->source);
    gpu->state = get_state(object);
    gpu->is_unified = json_is_true(json_object_get(object, "is_unified"));
    gpu->is_used_with_reserved = json_is_true(json_object_get(object, "is_used_with_reserved"));
    const json_t *read_ns = json_object_get(object, "read_ns");
    for (size_t i = 0; i < PACE_COUNT; i++) {
        gpu->read_ns[i] = json_integer_value(json_array_get(read_ns, i));
    }
    const json_t *values = json_object_get(object, "values");
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        snapshot_set(snapshot, gpu, (enum metric_id)i, get_number(values, metrics[i].key));
    }
    const json_t *texts = json_object_get(object, "texts");
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        get_text(texts, gpu_texts[i].key, gpu->text[i], GPU_WORD_SIZE);
    }
    gpu->fan_count = read_numbers(json_object_get(object, "fans"), gpu->fan_ratio, GPU_FANS_MAX);
    gpu->memory_clock_count = read_numbers(json_object_get(object, "memory_clocks"),
                                           gpu->memory_clock_hz, GPU_CLOCKS_MAX);
    read_links(json_object_get(object, "links"), gpu);
}

static void read_process(const json_t *object, struct snapshot *snapshot)
{
    int64_t gpu = get_int(object, "gpu", 0, (int64_t)snapshot->gpu_count - 1, -1);
    struct process *process = gpu >= 0 ? snapshot_add_process(snapshot) : NULL;
    if (process == NULL) {
        return;
    }
    process->gpu = (int)gpu;
    process->kinds = (unsigned)get_int(object, "kinds", 0, 7, 0);
    process->pid = (uint32_t)get_int(object, "pid", 0, UINT32_MAX, 0);
    get_text(object, "name", process->name, sizeof process->name);
    process->memory_bytes = get_number(object, "memory_bytes");
    process->sm_ratio = get_number(object, "sm_ratio");
    process->memory_ratio = get_number(object, "memory_ratio");
    process->encoder_ratio = get_number(object, "encoder_ratio");
    process->decoder_ratio = get_number(object, "decoder_ratio");
}

static void read_event(const json_t *object, struct snapshot *snapshot)
{
    int64_t gpu = get_int(object, "gpu", 0, (int64_t)snapshot->gpu_count - 1, -1);
    struct event *event = gpu >= 0 ? snapshot_add_event(snapshot) : NULL;
    if (event != NULL) {
        event->gpu = (int)gpu;
        event->time_ns = get_int(object, "time_ns", 0, INT64_MAX, 0);
        event->code = (uint64_t)get_int(object, "code", 0, INT64_MAX, 0);
    }
}

static void for_each(const json_t *object, const char *key, struct snapshot *snapshot,
                     void (*read)(const json_t *, struct snapshot *))
{
    size_t index = 0;
    json_t *value = NULL;
    json_array_foreach(json_object_get(object, key), index, value)
    {
        read(value, snapshot);
    }
}

static struct snapshot *read_snapshot(const json_t *root)
{
    struct snapshot *snapshot = snapshot_new(get_int(root, "time_ns", 0, INT64_MAX, 0));
    get_text(root, "driver_version", snapshot->driver_version, sizeof snapshot->driver_version);
    get_text(root, "library_version", snapshot->library_version, sizeof snapshot->library_version);
    get_text(root, "cuda_version", snapshot->cuda_version, sizeof snapshot->cuda_version);
    for_each(root, "gpus", snapshot, read_gpu);
    for_each(root, "processes", snapshot, read_process);
    for_each(root, "events", snapshot, read_event);
    snapshot->gpu_expected =
        (size_t)get_int(root, "gpu_expected", 0, SNAPSHOT_GPUS_MAX, (int64_t)snapshot->gpu_count);
    snapshot->dropped += (uint64_t)get_int(root, "dropped", 0, INT64_MAX / 2, 0);
    return snapshot;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_text(const json_t *root, struct recording_line *out)
{
    const json_t *text = json_object_get(root, "text");
    const char *hex = json_string_value(json_object_get(root, "hex"));
    const char *origin = json_string_value(json_object_get(root, "origin"));
    out->origin = mem_copy_text(origin != NULL ? origin : "");
    if (json_is_string(text)) {
        buf_add(&out->text, json_string_value(text), json_string_length(text));
        return;
    }
    for (; hex != NULL && hex[0] != '\0' && hex[1] != '\0'; hex += 2) {
        int high = hex_digit(hex[0]);
        int low = hex_digit(hex[1]);
        if (high < 0 || low < 0) {
            return;
        }
        buf_char(&out->text, (char)(high * 16 + low));
    }
}

static void read_line(const json_t *root, const char *kind, struct recording_line *out)
{
    out->time_ns = get_int(root, "time_ns", 0, INT64_MAX, 0);
    if (strcmp(kind, "snapshot") == 0) {
        out->kind = RECORDING_SNAPSHOT;
        out->snapshot = read_snapshot(root);
    } else if (strcmp(kind, "text") == 0) {
        out->kind = RECORDING_TEXT;
        read_text(root, out);
    } else if (strcmp(kind, "recording") == 0) {
        out->kind = RECORDING_HEADER;
        out->version = (int)get_int(root, "version", 0, 1000000, 0);
    } else {
        out->kind = RECORDING_OTHER;
    }
}

int recording_parse_line(const char *text, size_t length, struct recording_line *out,
                         struct err *err)
{
    *out = (struct recording_line){0};
    json_error_t why;
    json_t *root = json_loadb(text, length, JSON_ALLOW_NUL, &why);
    if (root == NULL) {
        return err_set(err, -EINVAL, "not JSON at column %d: %s", why.column, why.text);
    }
    const char *kind = json_string_value(json_object_get(root, "kind"));
    if (kind != NULL) {
        read_line(root, kind, out);
    }
    int code = kind != NULL ? 0 : err_set(err, -EINVAL, "not a line of a recording (no kind)");
    json_decref(root);
    return code;
}

/* One line into `out` without its end. False at the end of the file; `*is_whole` tells whether it
 * had an end and was short enough. */
static bool get_line(FILE *file, struct buf *out, bool *is_whole)
{
    int c = 0;
    size_t length = 0;
    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        if (++length <= RECORDING_LINE_MAX) {
            buf_char(out, (char)c);
        }
    }
    *is_whole = c == '\n' && length <= RECORDING_LINE_MAX;
    return c != EOF || length > 0;
}

int recording_next(FILE *file, int64_t *number, int64_t *bad, struct recording_line *out)
{
    for (;;) {
        OWN_BUF struct buf line = {0};
        bool is_whole = false;
        if (!get_line(file, &line, &is_whole)) {
            return 0;
        }
        ++*number;
        if (is_whole && recording_parse_line(buf_string(&line), line.length, out, NULL) == 0) {
            return 1;
        }
        ++*bad;
    }
}
