/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "model/frame.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_MOST 65535
#define ERRNO_MOST 4095
#define TIME_MOST_NS (INT64_MAX / 2) /* so that differences of times cannot overflow */
#define BYTES_MOST 1e15
#define FAN_MOST 2
#define CLOCK_MOST_HZ 2e10
#define LINK_MOST 1e19

struct frame_reader {
    bool is_greeted, is_broken;
    /* Our id of each of the sender's numbers, -1 = none of ours. */
    int16_t metric[FRAME_NUMBERS_MAX], word[FRAME_NUMBERS_MAX], link[FRAME_NUMBERS_MAX];
};

struct frame_reader *frame_reader_new(void)
{
    return mem_new(1, sizeof(struct frame_reader));
}

void frame_reader_free(struct frame_reader *reader)
{
    free(reader);
}

/* Where we are in the bytes. Past the end everything is zero and `is_bad` stays set, so that only
 * loops and the end have to look at it. */
struct cursor {
    const unsigned char *data;
    size_t left;
    bool is_bad;
};

static const unsigned char *take(struct cursor *cursor, size_t bytes)
{
    if (cursor->is_bad || bytes > cursor->left) {
        cursor->is_bad = true;
        cursor->left = 0;
        return NULL;
    }
    const unsigned char *at = cursor->data;
    cursor->data += bytes;
    cursor->left -= bytes;
    return at;
}

static uint64_t get(struct cursor *cursor, size_t bytes)
{
    const unsigned char *at = take(cursor, bytes);
    uint64_t number = 0;
    for (size_t i = 0; at != NULL && i < bytes; i++) {
        number |= (uint64_t)at[i] << (8 * i);
    }
    return number;
}

static double get_double(struct cursor *cursor)
{
    uint64_t bits = get(cursor, 8);
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A whole number of 4 bytes in its range. */
static int get_int(struct cursor *cursor, int least, int most)
{
    int32_t number = (int32_t)(uint32_t)get(cursor, 4);
    if (number < least || number > most) {
        cursor->is_bad = true;
        return least;
    }
    return number;
}

static int64_t get_time(struct cursor *cursor)
{
    uint64_t number = get(cursor, 8);
    if (number > TIME_MOST_NS) {
        cursor->is_bad = true;
        return 0;
    }
    return (int64_t)number;
}

/* A count of 4 bytes that meets its limit; each thing it counts takes at least `bytes`. */
static size_t get_count(struct cursor *cursor, size_t most, size_t bytes)
{
    uint64_t count = get(cursor, 4);
    if (count > most || count > cursor->left / bytes) {
        cursor->is_bad = true;
        return 0;
    }
    return (size_t)count;
}

static struct span get_span(struct cursor *cursor)
{
    size_t length = (size_t)get(cursor, 2);
    const unsigned char *at = take(cursor, length);
    return (struct span){at != NULL ? (const char *)at : "", at != NULL ? length : 0};
}

static void get_text(struct cursor *cursor, char *out, size_t size)
{
    struct span text = get_span(cursor);
    text_clean(out, size, text.data, text.length);
}

static struct cursor get_record(struct cursor *cursor)
{
    size_t length = (size_t)get(cursor, 4);
    const unsigned char *at = take(cursor, length);
    return (struct cursor){at, at != NULL ? length : 0, at == NULL};
}

typedef int find_fn(struct span unit, struct span key);

/* The same key in another unit is another metric. */
static int find_metric(struct span unit, struct span key)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (span_equals(key, metrics[i].key)) {
            return span_equals(unit, metric_unit_name(metrics[i].unit)) ? i : -1;
        }
    }
    return -1;
}

static int find_word(struct span unit, struct span key)
{
    (void)unit;
    for (int i = 0; i < GPU_TEXT_COUNT; i++) {
        if (span_equals(key, gpu_texts[i].key)) {
            return i;
        }
    }
    return -1;
}

static int find_link(struct span unit, struct span key)
{
    for (int i = 0; i < LINK_METRIC_COUNT; i++) {
        if (span_equals(key, link_metrics[i].key)) {
            return span_equals(unit, metric_unit_name(link_metrics[i].unit)) ? i : -1;
        }
    }
    return -1;
}

static void read_registry(struct cursor *cursor, find_fn *find, int16_t *ids)
{
    for (size_t i = 0; i < FRAME_NUMBERS_MAX; i++) {
        ids[i] = -1;
    }
    size_t count = (size_t)get(cursor, 2);
    for (size_t i = 0; i < count && !cursor->is_bad; i++) {
        size_t number = (size_t)get(cursor, 2);
        struct span unit = get_span(cursor);
        struct span key = get_span(cursor);
        if (number >= FRAME_NUMBERS_MAX) {
            cursor->is_bad = true;
            return;
        }
        ids[number] = (int16_t)find(unit, key);
    }
}

static void read_greeting(struct frame_reader *reader, struct cursor *cursor, struct frame *out)
{
    get_text(cursor, out->text, sizeof out->text);
    read_registry(cursor, find_metric, reader->metric);
    read_registry(cursor, find_word, reader->word);
    read_registry(cursor, find_link, reader->link);
    reader->is_greeted = !cursor->is_bad;
}

static int our_id(const int16_t *ids, uint64_t number)
{
    return number < FRAME_NUMBERS_MAX ? ids[number] : -1;
}

static void read_values(const struct frame_reader *reader, struct cursor *cursor,
                        struct snapshot *snapshot, struct gpu *gpu)
{
    size_t count = (size_t)get(cursor, 2);
    for (size_t i = 0; i < count && !cursor->is_bad; i++) {
        int id = our_id(reader->metric, get(cursor, 2));
        double value = get_double(cursor);
        if (id >= 0 && !cursor->is_bad) {
            snapshot_set(snapshot, gpu, (enum metric_id)id, value);
        }
    }
}

static void read_words(const struct frame_reader *reader, struct cursor *cursor, struct gpu *gpu)
{
    size_t count = (size_t)get(cursor, 2);
    for (size_t i = 0; i < count && !cursor->is_bad; i++) {
        int id = our_id(reader->word, get(cursor, 2));
        struct span text = get_span(cursor);
        if (id >= 0) {
            text_clean(gpu->text[id], sizeof gpu->text[id], text.data, text.length);
        }
    }
}

/* Numbers by position; NaN keeps its place. What is over `room` is passed over. */
static int read_list(struct cursor *cursor, struct snapshot *snapshot, double *out, int room,
                     double highest)
{
    int count = (int)get(cursor, 1);
    for (int i = 0; i < count && !cursor->is_bad; i++) {
        double value = get_double(cursor);
        if (i < room) {
            out[i] = snapshot_check(snapshot, value, highest);
        }
    }
    return cursor->is_bad ? 0 : count < room ? count : room;
}

static void read_links(const struct frame_reader *reader, struct cursor *cursor,
                       struct snapshot *snapshot, struct gpu *gpu)
{
    int count = (int)get(cursor, 1);
    for (int i = 0; i < count && !cursor->is_bad; i++) {
        size_t values = (size_t)get(cursor, 2);
        for (size_t j = 0; j < values && !cursor->is_bad; j++) {
            int id = our_id(reader->link, get(cursor, 2));
            double value = get_double(cursor);
            if (id >= 0 && i < GPU_LINKS_MAX) {
                gpu->link[i][id] = snapshot_check(snapshot, value, LINK_MOST);
            }
        }
    }
    gpu->link_count = count < GPU_LINKS_MAX ? count : GPU_LINKS_MAX;
}

static void read_gpu(const struct frame_reader *reader, struct cursor *outer,
                     struct snapshot *snapshot)
{
    struct cursor cursor = get_record(outer);
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    /* A parent comes before its instances and has none itself. */
    int before = (int)snapshot->gpu_count - 2;
    gpu->index = get_int(&cursor, -1, INDEX_MOST);
    gpu->parent = get_int(&cursor, -1, before);
    gpu->gpu_instance = get_int(&cursor, -1, INDEX_MOST);
    gpu->compute_instance = get_int(&cursor, -1, INDEX_MOST);
    uint64_t state = get(&cursor, 1);
    gpu->state = state <= GPU_STATE_SILENT ? (enum gpu_state)state : GPU_STATE_LOST;
    uint64_t flags = get(&cursor, 1);
    gpu->is_unified = (flags & 1) != 0;
    gpu->is_used_with_reserved = (flags & 2) != 0;
    for (size_t i = 0; i < PACE_COUNT; i++) {
        gpu->read_ns[i] = get_time(&cursor);
    }
    get_text(&cursor, gpu->uuid, sizeof gpu->uuid);
    get_text(&cursor, gpu->name, sizeof gpu->name);
    get_text(&cursor, gpu->note, sizeof gpu->note);
    get_text(&cursor, gpu->source, sizeof gpu->source);
    read_values(reader, &cursor, snapshot, gpu);
    read_words(reader, &cursor, gpu);
    gpu->fan_count = read_list(&cursor, snapshot, gpu->fan_ratio, GPU_FANS_MAX, FAN_MOST);
    gpu->memory_clock_count =
        read_list(&cursor, snapshot, gpu->memory_clock_hz, GPU_CLOCKS_MAX, CLOCK_MOST_HZ);
    read_links(reader, &cursor, snapshot, gpu);
    bool is_nested = gpu->parent >= 0 && snapshot->gpu[gpu->parent].parent >= 0;
    outer->is_bad = outer->is_bad || cursor.is_bad || is_nested;
}

static void read_process(struct cursor *outer, struct snapshot *snapshot)
{
    struct cursor cursor = get_record(outer);
    struct process *process = snapshot_add_process(snapshot);
    process->gpu = get_int(&cursor, -1, (int)snapshot->gpu_count - 1);
    process->pid = (uint32_t)get(&cursor, 4);
    process->kinds = (unsigned)get(&cursor, 1) & (PROCESS_COMPUTE | PROCESS_GRAPHICS | PROCESS_MPS);
    unsigned known = (unsigned)get(&cursor, 1);
    double *value[] = {&process->memory_bytes, &process->sm_ratio, &process->memory_ratio,
                       &process->encoder_ratio, &process->decoder_ratio};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
        if ((known & 1U << i) != 0) {
            *value[i] = snapshot_check(snapshot, get_double(&cursor), i == 0 ? BYTES_MOST : 1);
        }
    }
    /* A value this reader does not know would stand before the name. */
    bool is_newer = known >> (sizeof value / sizeof value[0]) != 0;
    get_text(&cursor, process->name, sizeof process->name);
    outer->is_bad = outer->is_bad || cursor.is_bad || is_newer;
}

static void read_event(struct cursor *outer, struct snapshot *snapshot)
{
    struct cursor cursor = get_record(outer);
    uint64_t kind = get(&cursor, 1);
    int64_t time_ns = get_time(&cursor);
    int gpu = get_int(&cursor, -1, (int)snapshot->gpu_count - 1);
    uint64_t code = get(&cursor, 8);
    outer->is_bad = outer->is_bad || cursor.is_bad;
    struct event *event = kind == EVENT_XID && !outer->is_bad ? snapshot_add_event(snapshot) : NULL;
    if (event != NULL) {
        *event = (struct event){EVENT_XID, time_ns, gpu, code};
    }
}

#define RECORD_LEAST 5 /* its length, and at least one byte */

static void read_snapshot(const struct frame_reader *reader, struct cursor *cursor,
                          struct snapshot *snapshot)
{
    snapshot->time_ns = get_time(cursor);
    snapshot->gpu_expected = (size_t)get_int(cursor, 0, SNAPSHOT_GPUS_MAX);
    snapshot->dropped = get(cursor, 8);
    if (snapshot->dropped > INT64_MAX) {
        cursor->is_bad = true;
    }
    get_text(cursor, snapshot->driver_version, sizeof snapshot->driver_version);
    get_text(cursor, snapshot->library_version, sizeof snapshot->library_version);
    get_text(cursor, snapshot->cuda_version, sizeof snapshot->cuda_version);
    size_t gpus = get_count(cursor, SNAPSHOT_GPUS_MAX, RECORD_LEAST);
    for (size_t i = 0; i < gpus && !cursor->is_bad; i++) {
        read_gpu(reader, cursor, snapshot);
    }
    size_t processes = get_count(cursor, SNAPSHOT_PROCESSES_MAX, RECORD_LEAST);
    for (size_t i = 0; i < processes && !cursor->is_bad; i++) {
        read_process(cursor, snapshot);
    }
    size_t events = get_count(cursor, SNAPSHOT_PROCESSES_MAX, RECORD_LEAST);
    for (size_t i = 0; i < events && !cursor->is_bad; i++) {
        read_event(cursor, snapshot);
    }
}

static void read_trouble(struct cursor *cursor, struct frame *out)
{
    out->time_ns = get_time(cursor);
    out->code = get_int(cursor, -ERRNO_MOST, -1);
    get_text(cursor, out->text, sizeof out->text);
}

/* One payload; what follows what we know is a newer sender's and passed over. */
static int read_payload(struct frame_reader *reader, struct cursor *cursor, struct frame *out,
                        struct err *err)
{
    switch (out->kind) {
    case FRAME_GREETING:
        read_greeting(reader, cursor, out);
        break;
    case FRAME_SNAPSHOT:
        if (!reader->is_greeted) {
            return err_set(err, -EPROTO, "a snapshot came before the greeting");
        }
        out->snapshot = snapshot_new(0);
        read_snapshot(reader, cursor, out->snapshot);
        break;
    case FRAME_TROUBLE:
        read_trouble(cursor, out);
        break;
    case FRAME_REQUEST:
        break;
    }
    if (!cursor->is_bad) {
        return 1;
    }
    snapshot_unref(out->snapshot);
    out->snapshot = NULL;
    return err_set(err, -EPROTO, "a frame of kind %d makes no sense", (int)out->kind);
}

/* The head: 1 when it is there and right. */
static int read_head(struct cursor *cursor, struct frame *out, size_t *length, struct err *err)
{
    if (cursor->left < FRAME_HEAD_BYTES) {
        return 0;
    }
    *length = (size_t)get(cursor, 4);
    uint64_t kind = get(cursor, 1);
    uint64_t version = get(cursor, 1);
    uint64_t zero = get(cursor, 2);
    if (zero != 0 || *length > FRAME_BYTES_MAX - FRAME_HEAD_BYTES) {
        return err_set(err, -EPROTO, "what came is no frame");
    }
    if (version != FRAME_VERSION) {
        return err_set(err, -ENOTSUP, "frames of version %d are not understood, only of %d",
                       (int)version, FRAME_VERSION);
    }
    if (kind < FRAME_GREETING || kind > FRAME_REQUEST) {
        return err_set(err, -EPROTO, "a frame of kind %d is not known", (int)kind);
    }
    out->kind = (enum frame_kind)kind;
    return 1;
}

int frame_read(struct frame_reader *reader, const void *data, size_t length, size_t *used,
               struct frame *out, struct err *err)
{
    if (reader->is_broken) {
        return err_set(err, -EPROTO, "nothing is read after a frame that made no sense");
    }
    struct cursor cursor = {.data = data, .left = length};
    struct frame frame = {0};
    size_t payload = 0;
    int code = read_head(&cursor, &frame, &payload, err);
    if (code == 1 && cursor.left < payload) {
        return 0;
    }
    if (code == 1) {
        cursor.left = payload;
        code = read_payload(reader, &cursor, &frame, err);
    }
    reader->is_broken = code < 0;
    if (code == 1) {
        *used = FRAME_HEAD_BYTES + payload;
        *out = frame;
    }
    return code;
}
