/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "model/frame.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void put(struct buf *out, uint64_t number, size_t bytes)
{
    unsigned char little[8];
    for (size_t i = 0; i < bytes; i++) {
        little[i] = (unsigned char)(number >> (8 * i));
    }
    buf_add(out, little, bytes);
}

static void put_double(struct buf *out, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    put(out, bits, 8);
}

static void put_text(struct buf *out, const char *text)
{
    size_t length = strlen(text);
    length = length < UINT16_MAX ? length : UINT16_MAX;
    put(out, length, 2);
    buf_add(out, text, length);
}

/* Numbers written before they are known. */
static void set(struct buf *out, size_t at, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        out->data[at + i] = (char)(unsigned char)(number >> (8 * i));
    }
}

static size_t start_frame(struct buf *out, enum frame_kind kind)
{
    size_t at = out->length;
    put(out, 0, 4);
    put(out, kind, 1);
    put(out, FRAME_VERSION, 1);
    put(out, 0, 2);
    return at;
}

static void end_frame(struct buf *out, size_t at)
{
    size_t length = out->length - at - FRAME_HEAD_BYTES;
    assert(length <= FRAME_BYTES_MAX - FRAME_HEAD_BYTES);
    set(out, at, length, 4);
}

/* A record says its length, so that an older reader can pass over what a newer writer adds. */
static size_t start_record(struct buf *out)
{
    put(out, 0, 4);
    return out->length;
}

static void end_record(struct buf *out, size_t at)
{
    set(out, at - 4, out->length - at, 4);
}

static void put_entry(struct buf *out, size_t number, const char *unit, const char *key)
{
    put(out, number, 2);
    put_text(out, unit);
    put_text(out, key);
}

void frame_format_greeting(const char *source, struct buf *out)
{
    size_t at = start_frame(out, FRAME_GREETING);
    put_text(out, source);
    put(out, METRIC_COUNT, 2);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        put_entry(out, i, metric_unit_name(metrics[i].unit), metrics[i].key);
    }
    put(out, GPU_TEXT_COUNT, 2);
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        put_entry(out, i, "", gpu_texts[i].key);
    }
    put(out, LINK_METRIC_COUNT, 2);
    for (size_t i = 0; i < LINK_METRIC_COUNT; i++) {
        put_entry(out, i, metric_unit_name(link_metrics[i].unit), link_metrics[i].key);
    }
    end_frame(out, at);
}

/* How many of the values are known, then number and value of each. */
static void put_values(struct buf *out, const double *value, size_t count)
{
    size_t at = out->length;
    size_t known = 0;
    put(out, 0, 2);
    for (size_t i = 0; i < count; i++) {
        if (!isnan(value[i])) {
            put(out, i, 2);
            put_double(out, value[i]);
            known++;
        }
    }
    set(out, at, known, 2);
}

static void put_words(struct buf *out, const struct gpu *gpu)
{
    size_t at = out->length;
    size_t known = 0;
    put(out, 0, 2);
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        if (gpu->text[i][0] != '\0') {
            put(out, i, 2);
            put_text(out, gpu->text[i]);
            known++;
        }
    }
    set(out, at, known, 2);
}

static void put_list(struct buf *out, const double *value, int count)
{
    put(out, (uint64_t)count, 1);
    for (int i = 0; i < count; i++) {
        put_double(out, value[i]);
    }
}

static void put_gpu(struct buf *out, const struct gpu *gpu)
{
    size_t at = start_record(out);
    put(out, (uint64_t)(int64_t)gpu->index, 4);
    put(out, (uint64_t)(int64_t)gpu->parent, 4);
    put(out, (uint64_t)(int64_t)gpu->gpu_instance, 4);
    put(out, (uint64_t)(int64_t)gpu->compute_instance, 4);
    put(out, gpu->state, 1);
    put(out, (gpu->is_unified ? 1U : 0U) | (gpu->is_used_with_reserved ? 2U : 0U), 1);
    for (size_t i = 0; i < PACE_COUNT; i++) {
        put(out, (uint64_t)gpu->read_ns[i], 8);
    }
    put_text(out, gpu->uuid);
    put_text(out, gpu->name);
    put_text(out, gpu->note);
    put_text(out, gpu->source);
    put_values(out, gpu->value, METRIC_COUNT);
    put_words(out, gpu);
    put_list(out, gpu->fan_ratio, gpu->fan_count);
    put_list(out, gpu->memory_clock_hz, gpu->memory_clock_count);
    put(out, (uint64_t)gpu->link_count, 1);
    for (int i = 0; i < gpu->link_count; i++) {
        put_values(out, gpu->link[i], LINK_METRIC_COUNT);
    }
    end_record(out, at);
}

static void put_process(struct buf *out, const struct process *process)
{
    const double value[] = {process->memory_bytes, process->sm_ratio, process->memory_ratio,
                            process->encoder_ratio, process->decoder_ratio};
    size_t at = start_record(out);
    put(out, (uint64_t)(int64_t)process->gpu, 4);
    put(out, process->pid, 4);
    put(out, process->kinds, 1);
    unsigned known = 0;
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        known |= isnan(value[i]) ? 0 : 1U << i;
    }
    put(out, known, 1);
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        if (!isnan(value[i])) {
            put_double(out, value[i]);
        }
    }
    put_text(out, process->name);
    end_record(out, at);
}

static void put_event(struct buf *out, const struct event *event)
{
    size_t at = start_record(out);
    put(out, event->kind, 1);
    put(out, (uint64_t)event->time_ns, 8);
    put(out, (uint64_t)(int64_t)event->gpu, 4);
    put(out, event->code, 8);
    end_record(out, at);
}

void frame_format_snapshot(const struct snapshot *snapshot, struct buf *out)
{
    size_t at = start_frame(out, FRAME_SNAPSHOT);
    put(out, (uint64_t)snapshot->time_ns, 8);
    put(out, snapshot->gpu_expected, 4);
    put(out, snapshot->dropped, 8);
    put_text(out, snapshot->driver_version);
    put_text(out, snapshot->library_version);
    put_text(out, snapshot->cuda_version);
    put(out, snapshot->gpu_count, 4);
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        put_gpu(out, &snapshot->gpu[i]);
    }
    put(out, snapshot->process_count, 4);
    for (size_t i = 0; i < snapshot->process_count; i++) {
        put_process(out, &snapshot->process[i]);
    }
    put(out, snapshot->event_count, 4);
    for (size_t i = 0; i < snapshot->event_count; i++) {
        put_event(out, &snapshot->event[i]);
    }
    end_frame(out, at);
}

void frame_format_trouble(int64_t time_ns, int code, const char *sentence, struct buf *out)
{
    size_t at = start_frame(out, FRAME_TROUBLE);
    put(out, (uint64_t)time_ns, 8);
    put(out, (uint64_t)(int64_t)code, 4);
    put_text(out, sentence);
    end_frame(out, at);
}

void frame_format_request(struct buf *out)
{
    end_frame(out, start_frame(out, FRAME_REQUEST));
}
