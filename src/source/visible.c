/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Which GPUs a container may see: NVIDIA_VISIBLE_DEVICES, honoured here as well, because outside a
 * container nobody else does. */
#include "source/source.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A word names a GPU by index, by UUID, or by the beginning of its UUID ("GPU-1a2b"). */
static bool word_names(struct span word, const struct gpu *gpu)
{
    int64_t index = 0;
    if (gpu->parent < 0 && text_to_int64(word, &index)) {
        return index == gpu->index;
    }
    bool is_uuid_like = word.length > 4 && (strncasecmp(word.data, "GPU-", 4) == 0 ||
                                            strncasecmp(word.data, "MIG-", 4) == 0);
    return is_uuid_like && strncasecmp(gpu->uuid, word.data, word.length) == 0;
}

/* "0:1" names a MIG instance by the index of its parent and its own number there. */
static bool word_names_instance(struct span word, const struct snapshot *snapshot,
                                const struct gpu *gpu)
{
    struct span rest = word;
    struct span parent_text;
    int64_t parent_index = 0;
    int64_t wanted = 0;
    if (gpu->parent < 0 || !span_cut(&rest, ':', &parent_text) || rest.data == NULL ||
        !text_to_int64(parent_text, &parent_index) || !text_to_int64(rest, &wanted) ||
        snapshot->gpu[gpu->parent].index != parent_index) {
        return false;
    }
    int64_t number = 0;
    for (const struct gpu *at = snapshot->gpu; at != gpu; at++) {
        number += at->parent == gpu->parent ? 1 : 0;
    }
    return number == wanted;
}

bool source_is_visible(const char *visible, const struct snapshot *snapshot, const struct gpu *gpu)
{
    if (visible == NULL || strcasecmp(visible, "all") == 0) {
        return true;
    }
    struct span rest = span_of(visible);
    struct span part;
    while (span_cut(&rest, ',', &part)) {
        part = span_trim(part);
        if (word_names(part, gpu) || word_names_instance(part, snapshot, gpu)) {
            return true;
        }
    }
    return gpu->parent >= 0 && source_is_visible(visible, snapshot, &snapshot->gpu[gpu->parent]);
}

/* A parent stays while one of its instances is visible, so that instances keep their parent. */
static bool is_kept(const char *visible, const struct snapshot *snapshot, size_t position)
{
    if (source_is_visible(visible, snapshot, &snapshot->gpu[position])) {
        return true;
    }
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        if (snapshot->gpu[i].parent == (int)position &&
            source_is_visible(visible, snapshot, &snapshot->gpu[i])) {
            return true;
        }
    }
    return false;
}

/* Moves what is kept to the front; moved[i] becomes its new position, or -1. */
static void keep_gpus(struct snapshot *snapshot, const char *visible, int *moved)
{
    size_t kept = 0;
    size_t whole = 0;
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        moved[i] = is_kept(visible, snapshot, i) ? (int)kept++ : -1;
        whole += moved[i] >= 0 && snapshot->gpu[i].parent < 0;
    }
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        if (moved[i] < 0) {
            continue;
        }
        struct gpu *gpu = &snapshot->gpu[moved[i]];
        if (gpu != &snapshot->gpu[i]) {
            *gpu = snapshot->gpu[i];
        }
        gpu->parent = gpu->parent >= 0 ? moved[gpu->parent] : -1;
    }
    snapshot->gpu_count = kept;
    snapshot->gpu_expected = whole;
}

static void keep_processes(struct snapshot *snapshot, const int *moved)
{
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->process_count; i++) {
        struct process process = snapshot->process[i];
        process.gpu = process.gpu >= 0 ? moved[process.gpu] : -1;
        if (process.gpu >= 0) {
            snapshot->process[kept++] = process;
        }
    }
    snapshot->process_count = kept;
}

static void keep_events(struct snapshot *snapshot, const int *moved)
{
    size_t kept = 0;
    for (size_t i = 0; i < snapshot->event_count; i++) {
        struct event event = snapshot->event[i];
        event.gpu = event.gpu >= 0 ? moved[event.gpu] : -1;
        if (event.gpu >= 0) {
            snapshot->event[kept++] = event;
        }
    }
    snapshot->event_count = kept;
}

void source_filter_visible(struct snapshot *snapshot, const char *visible)
{
    if (visible == NULL || strcasecmp(visible, "all") == 0 || snapshot->gpu_count == 0) {
        return;
    }
    int *moved = mem_new(snapshot->gpu_count, sizeof *moved);
    keep_gpus(snapshot, visible, moved);
    keep_processes(snapshot, moved);
    keep_events(snapshot, moved);
    free(moved);
}
