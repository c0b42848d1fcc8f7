/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/recording.h"

#include "base/jsonout.h"
#include "base/text.h"
#include "build_config.h"

#include <math.h>
#include <string.h>

static void key_number(struct jsonout *json, const char *key, double value)
{
    if (!isnan(value)) {
        jsonout_key(json, key);
        jsonout_number(json, value, -1);
    }
}

static void key_text(struct jsonout *json, const char *key, const char *text)
{
    if (text[0] != '\0') {
        jsonout_key(json, key);
        jsonout_string(json, text);
    }
}

static void key_int(struct jsonout *json, const char *key, int64_t value)
{
    jsonout_key(json, key);
    jsonout_int(json, value);
}

static void key_flag(struct jsonout *json, const char *key, bool value)
{
    if (value) {
        jsonout_key(json, key);
        jsonout_bool(json, true);
    }
}

static void write_numbers(struct jsonout *json, const char *key, const double *values, int count)
{
    jsonout_key(json, key);
    jsonout_begin_array(json);
    for (int i = 0; i < count; i++) {
        jsonout_number(json, values[i], -1);
    }
    jsonout_end_array(json);
}

static void write_links(struct jsonout *json, const struct gpu *gpu)
{
    jsonout_key(json, "links");
    jsonout_begin_array(json);
    for (int i = 0; i < gpu->link_count; i++) {
        jsonout_begin_object(json);
        for (size_t j = 0; j < LINK_METRIC_COUNT; j++) {
            key_number(json, link_metrics[j].key, gpu->link[i][j]);
        }
        jsonout_end_object(json);
    }
    jsonout_end_array(json);
}

static void write_gpu(struct jsonout *json, const struct gpu *gpu)
{
    jsonout_begin_object(json);
    key_int(json, "index", gpu->index);
    key_int(json, "parent", gpu->parent);
    key_int(json, "gpu_instance", gpu->gpu_instance);
    key_int(json, "compute_instance", gpu->compute_instance);
    key_text(json, "uuid", gpu->uuid);
    key_text(json, "name", gpu->name);
    jsonout_key(json, "state");
    jsonout_string(json, gpu_state_name(gpu->state));
    key_flag(json, "is_unified", gpu->is_unified);
    key_flag(json, "is_used_with_reserved", gpu->is_used_with_reserved);
    key_text(json, "note", gpu->note);
    key_text(json, "source", gpu->source);
    jsonout_key(json, "read_ns");
    jsonout_begin_array(json);
    for (size_t i = 0; i < PACE_COUNT; i++) {
        jsonout_int(json, gpu->read_ns[i]);
    }
    jsonout_end_array(json);
    jsonout_key(json, "values");
    jsonout_begin_object(json);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        key_number(json, metrics[i].key, gpu->value[i]);
    }
    jsonout_end_object(json);
    jsonout_key(json, "texts");
    jsonout_begin_object(json);
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        key_text(json, gpu_texts[i].key, gpu->text[i]);
    }
    jsonout_end_object(json);
    write_numbers(json, "fans", gpu->fan_ratio, gpu->fan_count);
    write_numbers(json, "memory_clocks", gpu->memory_clock_hz, gpu->memory_clock_count);
    write_links(json, gpu);
    jsonout_end_object(json);
}

static void write_process(struct jsonout *json, const struct process *process)
{
    jsonout_begin_object(json);
    key_int(json, "gpu", process->gpu);
    key_int(json, "kinds", process->kinds);
    key_int(json, "pid", process->pid);
    key_text(json, "name", process->name);
    key_number(json, "memory_bytes", process->memory_bytes);
    key_number(json, "sm_ratio", process->sm_ratio);
    key_number(json, "memory_ratio", process->memory_ratio);
    key_number(json, "encoder_ratio", process->encoder_ratio);
    key_number(json, "decoder_ratio", process->decoder_ratio);
    jsonout_end_object(json);
}

void recording_format_header(struct buf *out)
{
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    jsonout_key(&json, "kind");
    jsonout_string(&json, "recording");
    key_int(&json, "version", RECORDING_VERSION);
    key_text(&json, "program", "gpumanager " GPUMANAGER_VERSION);
    jsonout_end_object(&json);
    buf_char(out, '\n');
}

void recording_format_snapshot(const struct snapshot *snapshot, struct buf *out)
{
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    jsonout_key(&json, "kind");
    jsonout_string(&json, "snapshot");
    key_int(&json, "time_ns", snapshot->time_ns);
    key_text(&json, "driver_version", snapshot->driver_version);
    key_text(&json, "library_version", snapshot->library_version);
    key_text(&json, "cuda_version", snapshot->cuda_version);
    key_int(&json, "gpu_expected", (int64_t)snapshot->gpu_expected);
    key_int(&json, "dropped", (int64_t)snapshot->dropped);
    jsonout_key(&json, "gpus");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        write_gpu(&json, &snapshot->gpu[i]);
    }
    jsonout_end_array(&json);
    jsonout_key(&json, "processes");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < snapshot->process_count; i++) {
        write_process(&json, &snapshot->process[i]);
    }
    jsonout_end_array(&json);
    jsonout_key(&json, "events");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < snapshot->event_count; i++) {
        const struct event *event = &snapshot->event[i];
        jsonout_begin_object(&json);
        key_text(&json, "kind", "xid");
        key_int(&json, "time_ns", event->time_ns);
        key_int(&json, "gpu", event->gpu);
        key_int(&json, "code", (int64_t)event->code);
        jsonout_end_object(&json);
    }
    jsonout_end_array(&json);
    jsonout_end_object(&json);
    buf_char(out, '\n');
}

static bool is_utf8(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t step = text_utf8_length(text + at, length - at);
        if (step == 0) {
            return false;
        }
        at += step;
    }
    return true;
}

void recording_format_text(int64_t time_ns, const char *origin, const char *text, size_t length,
                           struct buf *out)
{
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    jsonout_key(&json, "kind");
    jsonout_string(&json, "text");
    key_int(&json, "time_ns", time_ns);
    key_text(&json, "origin", origin);
    if (is_utf8(text, length)) {
        jsonout_key(&json, "text");
        jsonout_string_bytes(&json, text, length);
    } else {
        /* Bytes that JSON cannot hold, two digits each. */
        struct buf hex = {0};
        for (size_t i = 0; i < length; i++) {
            buf_format(&hex, "%02x", (unsigned char)text[i]);
        }
        key_text(&json, "hex", buf_string(&hex));
        buf_fini(&hex);
    }
    jsonout_end_object(&json);
    buf_char(out, '\n');
}
