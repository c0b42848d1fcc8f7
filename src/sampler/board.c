/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "sampler/board.h"

#include "base/buf.h"
#include "base/mem.h"
#include "sampler/merge.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    char *name;
    int completes;
    struct snapshot *snapshot; /* the newest, NULL = none yet */
    bool is_answering;         /* it is the last thing the feed said */
    bool is_fresh;             /* it was not published yet: its events are news */
    struct err trouble;
    struct merge_memory memory; /* of a feed that another completes */
};

struct board {
    struct slot *slot;
    size_t count;
    struct snapshot *published;
    uint64_t version;
};

struct board *board_new(const struct board_feed *feeds, size_t count)
{
    struct board *board = mem_new(1, sizeof *board);
    board->slot = mem_new(count, sizeof *board->slot);
    board->count = count;
    board->published = snapshot_new(0);
    for (size_t i = 0; i < count; i++) {
        assert(feeds[i].completes < (int)count && feeds[i].completes != (int)i);
        board->slot[i].name = mem_copy_text(feeds[i].name);
        board->slot[i].completes = feeds[i].completes;
    }
    return board;
}

void board_free(struct board *board)
{
    if (board == NULL) {
        return;
    }
    for (size_t i = 0; i < board->count; i++) {
        merge_memory_fini(&board->slot[i].memory);
        snapshot_unref(board->slot[i].snapshot);
        free(board->slot[i].name);
    }
    snapshot_unref(board->published);
    free(board->slot);
    free(board);
}

static struct slot *completer(const struct board *board, size_t feed)
{
    for (size_t i = 0; i < board->count; i++) {
        if (board->slot[i].completes == (int)feed) {
            return &board->slot[i];
        }
    }
    return NULL;
}

/* What was true of it is not known any more; who it is and what does not change stays. */
static void mark_silent(struct gpu *gpu)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (metrics[i].pace != PACE_ONCE) {
            gpu->value[i] = NAN;
        }
    }
    gpu->fan_count = 0;
    gpu->link_count = 0;
    gpu->state = GPU_STATE_SILENT;
}

static bool is_recent(const struct slot *slot, int64_t now_ns)
{
    return slot->is_answering && now_ns - slot->snapshot->time_ns < BOARD_AGE_MOST_NS;
}

/* The newest time of all that was read: what "now" is for snapshots. */
static int64_t newest_ns(const struct board *board)
{
    int64_t newest = 0;
    for (size_t i = 0; i < board->count; i++) {
        const struct snapshot *snapshot = board->slot[i].snapshot;
        newest = snapshot != NULL && snapshot->time_ns > newest ? snapshot->time_ns : newest;
    }
    return newest;
}

/* While the driver is silent, the processes are those that the other one tells of the same GPUs. */
static void adopt_processes(struct snapshot *part, const struct snapshot *from)
{
    for (size_t i = 0; i < from->process_count; i++) {
        int gpu = from->process[i].gpu;
        int at = gpu >= 0 ? snapshot_find(part, from->gpu[gpu].uuid) : -1;
        bool is_taken_over = at >= 0 && part->gpu[at].state != GPU_STATE_SILENT;
        struct process *process = is_taken_over ? snapshot_add_process(part) : NULL;
        if (process != NULL) {
            *process = from->process[i];
            process->gpu = at;
        }
    }
}

/* A feed's part of what is published: its snapshot itself where nothing has to be changed, else a
 * copy. A reference for the caller; NULL when there is nothing. */
static struct snapshot *part_of(struct board *board, size_t feed)
{
    struct slot *slot = &board->slot[feed];
    struct slot *with = completer(board, feed);
    if (slot->snapshot == NULL && with != NULL) {
        /* The driver never answered: the other one's word has to do. */
        slot = with;
        with = NULL;
    }
    if (slot->snapshot == NULL) {
        return NULL;
    }
    bool is_smi_recent = with != NULL && is_recent(with, newest_ns(board));
    bool is_incomplete =
        with != NULL && slot->is_answering && merge_is_needed(&slot->memory, slot->snapshot);
    if (slot->is_answering && slot->is_fresh && !is_incomplete) {
        return snapshot_ref(slot->snapshot);
    }
    struct snapshot *part = snapshot_copy(slot->snapshot);
    part->event_count = slot->is_fresh ? part->event_count : 0;
    if (!slot->is_answering) {
        part->process_count = 0;
        for (size_t i = 0; i < part->gpu_count; i++) {
            mark_silent(&part->gpu[i]);
        }
    }
    bool has_failed = with != NULL && with->trouble.code != 0;
    if (is_smi_recent) {
        merge_from(&slot->memory, part, with->snapshot);
        if (!slot->is_answering) {
            adopt_processes(part, with->snapshot);
        }
    } else if (is_incomplete && has_failed) {
        merge_from(&slot->memory, part, NULL);
    }
    return part;
}

/* Adds one snapshot's GPUs, processes and events behind those of another. */
static void append(struct snapshot *to, const struct snapshot *from)
{
    int offset = (int)to->gpu_count;
    for (size_t i = 0; i < from->gpu_count; i++) {
        struct gpu *gpu = snapshot_add_gpu(to);
        if (gpu == NULL) {
            break;
        }
        *gpu = from->gpu[i];
        gpu->parent += gpu->parent >= 0 ? offset : 0;
    }
    int end = (int)to->gpu_count;
    for (size_t i = 0; i < from->process_count; i++) {
        int gpu = from->process[i].gpu >= 0 ? from->process[i].gpu + offset : -1;
        struct process *process = gpu < end ? snapshot_add_process(to) : NULL;
        if (process != NULL) {
            *process = from->process[i];
            process->gpu = gpu;
        }
    }
    for (size_t i = 0; i < from->event_count; i++) {
        int gpu = from->event[i].gpu >= 0 ? from->event[i].gpu + offset : -1;
        struct event *event = gpu < end ? snapshot_add_event(to) : NULL;
        if (event != NULL) {
            *event = from->event[i];
            event->gpu = gpu;
        }
    }
    to->gpu_expected += from->gpu_expected;
    to->dropped += from->dropped;
    to->time_ns = from->time_ns > to->time_ns ? from->time_ns : to->time_ns;
}

/* `whole` (the caller's reference) with one more part (a reference, too); either may be NULL. */
static struct snapshot *join(struct snapshot *whole, struct snapshot *part, bool *is_copy)
{
    if (whole == NULL || part == NULL) {
        return whole != NULL ? whole : part;
    }
    if (!*is_copy) {
        struct snapshot *copy = snapshot_copy(whole);
        snapshot_unref(whole);
        whole = copy;
        *is_copy = true;
    }
    append(whole, part);
    snapshot_unref(part);
    return whole;
}

static void publish(struct board *board)
{
    struct snapshot *whole = NULL;
    bool is_copy = false;
    for (size_t i = 0; i < board->count; i++) {
        if (board->slot[i].completes < 0) {
            whole = join(whole, part_of(board, i), &is_copy);
        }
    }
    for (size_t i = 0; i < board->count; i++) {
        board->slot[i].is_fresh = false;
    }
    snapshot_unref(board->published);
    board->published = whole != NULL ? whole : snapshot_new(0);
    board->version++;
}

void board_put(struct board *board, size_t feed, struct snapshot *snapshot)
{
    assert(feed < board->count);
    struct slot *slot = &board->slot[feed];
    snapshot_unref(slot->snapshot);
    slot->snapshot = snapshot;
    slot->is_answering = true;
    slot->is_fresh = true;
    slot->trouble = (struct err){0};
    publish(board);
}

void board_trouble(struct board *board, size_t feed, int code, const char *sentence)
{
    assert(feed < board->count && code < 0);
    struct slot *slot = &board->slot[feed];
    slot->is_answering = false;
    (void)err_set(&slot->trouble, code, "%s", sentence);
    publish(board);
}

struct snapshot *board_snapshot(const struct board *board)
{
    return board->published;
}

uint64_t board_version(const struct board *board)
{
    return board->version;
}

bool board_is_wanted(const struct board *board, size_t feed)
{
    assert(feed < board->count);
    int completes = board->slot[feed].completes;
    if (completes < 0) {
        return true;
    }
    const struct slot *main = &board->slot[completes];
    if (!main->is_answering) {
        return main->trouble.code != 0;
    }
    return merge_is_needed(&main->memory, main->snapshot);
}

int board_feed_code(const struct board *board, size_t feed)
{
    assert(feed < board->count);
    return board->slot[feed].trouble.code;
}

const char *board_feed_sentence(const struct board *board, size_t feed)
{
    assert(feed < board->count);
    return board->slot[feed].trouble.text;
}

void board_say_nothing_found(const struct board *board, struct err *err)
{
    OWN_BUF struct buf text = {0};
    for (size_t i = 0; i < board->count; i++) {
        const struct slot *slot = &board->slot[i];
        if (slot->trouble.code != 0) {
            buf_format(&text, "%s%s", text.length > 0 ? "; " : "", slot->trouble.text);
        }
    }
    (void)err_set(err, -ENODEV, "no GPU could be read%s%s", text.length > 0 ? ": " : "",
                  buf_string(&text));
}
