/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The round trip here is that of a snapshot made by hand; driver_test.c sends whole machines. */
#include "model/frame.h"

#include "base/mem.h"

#include "base/text.h"

#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>

#define MOMENT INT64_C(1774164600000000123)

static void fill_gpu(struct snapshot *snapshot, int index)
{
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    gpu->index = index;
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%d", index);
    (void)snprintf(gpu->name, sizeof gpu->name, "NVIDIA \xc3\xa9 %d", index);
    (void)snprintf(gpu->note, sizeof gpu->note, "infoROM is corrupted");
    (void)snprintf(gpu->source, sizeof gpu->source, "nvml");
    gpu->is_unified = true;
    gpu->state = GPU_STATE_NEEDS_RESET;
    for (size_t i = 0; i < METRIC_COUNT; i += 2) {
        gpu->value[i] = 1.0 / (double)(i + 3);
    }
    gpu->value[METRIC_TEMPERATURE] = -7;
    for (size_t i = 0; i < PACE_COUNT; i++) {
        gpu->read_ns[i] = MOMENT + (int64_t)i;
    }
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        (void)snprintf(gpu->text[i], sizeof gpu->text[i], "word %zu", i);
    }
    gpu->fan_count = 3;
    gpu->fan_ratio[0] = 0.5;
    gpu->fan_ratio[2] = 1.25;
    gpu->memory_clock_count = 2;
    gpu->memory_clock_hz[0] = 2619e6;
    gpu->memory_clock_hz[1] = 1593e6;
    gpu->link_count = 2;
    gpu->link[1][LINK_TX] = 123456789012345.0;
}

static struct snapshot *make(void)
{
    struct snapshot *snapshot = snapshot_new(MOMENT);
    (void)snprintf(snapshot->driver_version, sizeof snapshot->driver_version, "580.65.06");
    (void)snprintf(snapshot->cuda_version, sizeof snapshot->cuda_version, "13.0");
    snapshot->gpu_expected = 3;
    snapshot->dropped = 5;
    fill_gpu(snapshot, 0);
    fill_gpu(snapshot, 1);
    fill_gpu(snapshot, 1);
    snapshot->gpu[2].parent = 1;
    snapshot->gpu[2].gpu_instance = 7;
    snapshot->gpu[2].compute_instance = 0;
    struct process *process = snapshot_add_process(snapshot);
    process->gpu = 2;
    process->kinds = PROCESS_COMPUTE | PROCESS_MPS;
    process->pid = UINT32_MAX;
    process->memory_bytes = 1e9;
    process->decoder_ratio = 0.25;
    (void)snprintf(process->name, sizeof process->name, "python");
    struct event *event = snapshot_add_event(snapshot);
    *event = (struct event){EVENT_XID, MOMENT, 0, 79};
    return snapshot;
}

/* The greeting and the snapshot as one sender's bytes; where the second begins is in `*second`. */
static void write_both(const struct snapshot *snapshot, struct buf *out, size_t *second)
{
    frame_format_greeting("nvml", out);
    *second = out->length;
    frame_format_snapshot(snapshot, out);
}

/* What frame_read says of the last frame in the bytes. The bytes are copied, so that a read past
 * their end is seen by the address sanitizer. */
static int read_last(const char *data, size_t length, struct frame *out, struct err *err)
{
    char *copy = mem_new(length > 0 ? length : 1, 1);
    if (copy == NULL) {
        return -ENOMEM;
    }
    memcpy(copy, data, length);
    struct frame_reader *reader = frame_reader_new();
    size_t at = 0;
    int code = 0;
    do {
        size_t used = 0;
        snapshot_unref(out->snapshot);
        out->snapshot = NULL;
        code = frame_read(reader, copy + at, length - at, &used, out, err);
        at += code == 1 ? used : 0;
    } while (code == 1 && at < length);
    frame_reader_free(reader);
    free(copy);
    return code;
}

static bool is_clean(const char *text)
{
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        size_t step = text_utf8_length(text + at, length - at);
        if (step == 0) {
            return false;
        }
        at += step;
    }
    return true;
}

static bool is_sane(const struct snapshot *snapshot)
{
    bool is_good = snapshot->gpu_count <= SNAPSHOT_GPUS_MAX && snapshot->time_ns >= 0 &&
                   is_clean(snapshot->driver_version);
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        const struct gpu *gpu = &snapshot->gpu[i];
        is_good = is_good && gpu->parent < (int)i && gpu->parent >= -1 && is_clean(gpu->name) &&
                  is_clean(gpu->uuid) && gpu->state <= GPU_STATE_SILENT &&
                  gpu->fan_count <= GPU_FANS_MAX && gpu->link_count <= GPU_LINKS_MAX &&
                  gpu->memory_clock_count <= GPU_CLOCKS_MAX;
    }
    for (size_t i = 0; i < snapshot->process_count; i++) {
        is_good = is_good && snapshot->process[i].gpu < (int)snapshot->gpu_count;
    }
    return is_good;
}

static bool is_same(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) {
            return false;
        }
    }
    return true;
}

TEST(everything_arrives_to_the_last_bit)
{
    struct snapshot *sent = make();
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    struct frame frame = {0};
    CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), 1);
    REQUIRE(frame.snapshot != NULL && frame.snapshot->gpu_count == 3);
    const struct snapshot *got = frame.snapshot;
    CHECK_INT(got->time_ns, MOMENT);
    CHECK_TEXT(got->driver_version, "580.65.06");
    CHECK_INT(got->gpu_expected, 3);
    CHECK_INT(got->dropped, 5);
    for (size_t i = 0; i < 3; i++) {
        const struct gpu *was = &sent->gpu[i];
        const struct gpu *is = &got->gpu[i];
        CHECK(is_same(was->value, is->value, METRIC_COUNT));
        CHECK(memcmp(was->text, is->text, sizeof was->text) == 0);
        CHECK(is_same(was->link[0], is->link[0], LINK_METRIC_COUNT));
        CHECK(is_same(was->link[1], is->link[1], LINK_METRIC_COUNT));
        CHECK_INT(is->link_count, 2);
        CHECK(is_same(was->fan_ratio, is->fan_ratio, GPU_FANS_MAX));
        CHECK(memcmp(was->read_ns, is->read_ns, sizeof was->read_ns) == 0);
        CHECK_TEXT(is->name, was->name);
        CHECK_TEXT(is->note, was->note);
        CHECK_INT(is->state, was->state);
        CHECK_INT(is->parent, was->parent);
        CHECK_INT(is->gpu_instance, was->gpu_instance);
        CHECK(is->is_unified && !is->is_used_with_reserved);
    }
    REQUIRE(got->process_count == 1 && got->event_count == 1);
    CHECK_INT(got->process[0].pid, UINT32_MAX);
    CHECK_NEAR(got->process[0].decoder_ratio, 0.25, 0);
    CHECK(isnan(got->process[0].sm_ratio));
    CHECK_INT(got->event[0].code, 79);
    OWN_BUF struct buf again = {0};
    write_both(got, &again, &second);
    CHECK(again.length == bytes.length && memcmp(again.data, bytes.data, bytes.length) == 0);
    snapshot_unref(frame.snapshot);
    snapshot_unref(sent);
}

TEST(troubles_greetings_and_requests_arrive)
{
    OWN_BUF struct buf bytes = {0};
    frame_format_trouble(MOMENT, -ENODEV, "no \x1b[31mdriver\xff", &bytes);
    struct frame frame = {0};
    CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), 1);
    CHECK_INT(frame.kind, FRAME_TROUBLE);
    CHECK_INT(frame.code, -ENODEV);
    CHECK_INT(frame.time_ns, MOMENT);
    CHECK_TEXT(frame.text, "no ?[31mdriver?");
    buf_clear(&bytes);
    frame_format_greeting("simulated", &bytes);
    CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), 1);
    CHECK_INT(frame.kind, FRAME_GREETING);
    CHECK_TEXT(frame.text, "simulated");
    buf_clear(&bytes);
    frame_format_request(&bytes);
    CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), 1);
    CHECK_INT(frame.kind, FRAME_REQUEST);
}

TEST(every_truncation_waits_for_more)
{
    struct snapshot *sent = make();
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    for (size_t length = 0; length < bytes.length; length++) {
        struct frame frame = {0};
        int wanted = length == second ? 1 : 0;
        CHECK_INT(read_last(bytes.data, length, &frame, NULL), wanted);
        CHECK(frame.snapshot == NULL);
    }
    snapshot_unref(sent);
}

/* A frame whose length says less than what is in it. */
TEST(every_frame_cut_short_is_refused)
{
    struct snapshot *sent = make();
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    size_t whole = bytes.length - second - FRAME_HEAD_BYTES;
    for (size_t length = 0; length < whole; length++) {
        for (size_t i = 0; i < 4; i++) {
            bytes.data[second + i] = (char)(unsigned char)(length >> (8 * i));
        }
        struct frame frame = {0};
        CHECK_INT(read_last(bytes.data, second + FRAME_HEAD_BYTES + length, &frame, NULL), -EPROTO);
    }
    snapshot_unref(sent);
}

TEST(every_damaged_byte_is_refused_or_read_sanely)
{
    struct snapshot *sent = make();
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    static const unsigned char flips[] = {0x01, 0xff};
    for (size_t at = 0; at < bytes.length; at++) {
        for (size_t i = 0; i < sizeof flips; i++) {
            char was = bytes.data[at];
            bytes.data[at] = (char)(was ^ (char)flips[i]);
            struct frame frame = {0};
            int code = read_last(bytes.data, bytes.length, &frame, NULL);
            CHECK(code == 0 || code == 1 || code == -EPROTO || code == -ENOTSUP);
            CHECK(frame.snapshot == NULL || is_sane(frame.snapshot));
            snapshot_unref(frame.snapshot);
            bytes.data[at] = was;
        }
    }
    snapshot_unref(sent);
}

/* Writes another word of the same length over the first place of one. */
static bool replace(struct buf *bytes, const char *word, const char *by)
{
    char *at = memmem(bytes->data, bytes->length, word, strlen(word));
    for (size_t i = 0; at != NULL && by[i] != '\0'; i++) {
        at[i] = by[i];
    }
    return at != NULL;
}

TEST(numbers_we_do_not_know_are_passed_over)
{
    struct snapshot *sent = make();
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    /* The sender calls it something else, or counts it in something else. */
    REQUIRE(replace(&bytes, "memory_total", "memory_zotal"));
    REQUIRE(replace(&bytes, "celsius", "kelvins"));
    struct frame frame = {0};
    CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), 1);
    REQUIRE(frame.snapshot != NULL && frame.snapshot->gpu_count == 3);
    const double *value = frame.snapshot->gpu[0].value;
    CHECK(!isnan(sent->gpu[0].value[METRIC_MEMORY_TOTAL]));
    CHECK(isnan(value[METRIC_MEMORY_TOTAL]));
    CHECK(isnan(value[METRIC_TEMPERATURE]));
    CHECK_NEAR(value[METRIC_UTILIZATION], 1.0 / 3, 0);
    snapshot_unref(frame.snapshot);
    snapshot_unref(sent);
}

TEST(impossible_values_are_dropped_and_counted)
{
    struct snapshot *sent = make();
    sent->gpu[0].value[METRIC_UTILIZATION] = 1.5;
    sent->gpu[0].value[METRIC_POWER_DRAW] = INFINITY;
    sent->gpu[1].fan_ratio[0] = -1;
    sent->process[0].memory_bytes = 1e30;
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    struct frame frame = {0};
    CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), 1);
    REQUIRE(frame.snapshot != NULL && frame.snapshot->gpu_count == 3);
    CHECK(isnan(frame.snapshot->gpu[0].value[METRIC_UTILIZATION]));
    CHECK(isnan(frame.snapshot->gpu[0].value[METRIC_POWER_DRAW]));
    CHECK(isnan(frame.snapshot->gpu[1].fan_ratio[0]));
    CHECK(isnan(frame.snapshot->process[0].memory_bytes));
    CHECK_INT(frame.snapshot->dropped, 5 + 4);
    snapshot_unref(frame.snapshot);
    snapshot_unref(sent);
}

TEST(what_comes_before_a_greeting_or_after_nonsense_is_refused)
{
    struct snapshot *sent = make();
    OWN_BUF struct buf bytes = {0};
    frame_format_snapshot(sent, &bytes);
    struct frame_reader *reader = frame_reader_new();
    struct frame frame = {0};
    size_t used = 0;
    struct err err = {0};
    CHECK_INT(frame_read(reader, bytes.data, bytes.length, &used, &frame, &err), -EPROTO);
    CHECK_TEXT(err.text, "a snapshot came before the greeting");
    buf_clear(&bytes);
    frame_format_greeting("nvml", &bytes);
    CHECK_INT(frame_read(reader, bytes.data, bytes.length, &used, &frame, &err), -EPROTO);
    frame_reader_free(reader);
    snapshot_unref(sent);
}

static int read_head_only(const char *head, struct err *err)
{
    struct frame frame = {0};
    return read_last(head, FRAME_HEAD_BYTES, &frame, err);
}

TEST(a_head_alone_tells_that_nothing_can_be_read)
{
    struct err err = {0};
    CHECK_INT(read_head_only("\x00\x00\x00\x00\x01\x02\x00\x00", &err), -ENOTSUP);
    CHECK(strstr(err.text, "version 2") != NULL);
    CHECK_INT(read_head_only("\xff\xff\xff\xff\x02\x01\x00\x00", &err), -EPROTO);
    CHECK_INT(read_head_only("HTTP/1.1", &err), -EPROTO);
    CHECK_INT(read_head_only("\x00\x00\x00\x00\x09\x01\x00\x00", &err), -EPROTO);
    CHECK_INT(read_head_only("\x05\x00\x00\x00\x02\x01\x00\x00", &err), 0);
}

/* The largest counts there can be, in a frame that is nearly empty. */
TEST(counts_meet_their_limits_before_memory_does)
{
    struct snapshot *sent = snapshot_new(MOMENT);
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    for (size_t i = 0; i < 3; i++) {
        memset(bytes.data + bytes.length - 12 + 4 * i, 0xff, 4);
        struct frame frame = {0};
        CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), -EPROTO);
        memset(bytes.data + bytes.length - 12 + 4 * i, 0, 4);
    }
    snapshot_unref(sent);
}

TEST(the_largest_snapshot_fits_into_a_frame)
{
    struct snapshot *sent = snapshot_new(MOMENT);
    for (int i = 0; i < SNAPSHOT_GPUS_MAX; i++) {
        fill_gpu(sent, i);
        struct gpu *gpu = &sent->gpu[i];
        gpu->link_count = GPU_LINKS_MAX;
        for (size_t j = 0; j < GPU_LINKS_MAX * LINK_METRIC_COUNT; j++) {
            gpu->link[j / LINK_METRIC_COUNT][j % LINK_METRIC_COUNT] = 1;
        }
    }
    for (int i = 0; i < SNAPSHOT_PROCESSES_MAX; i++) {
        struct process *process = snapshot_add_process(sent);
        *process = (struct process){.gpu = 0, .pid = 1};
        memset(process->name, 'x', sizeof process->name - 1);
    }
    OWN_BUF struct buf bytes = {0};
    size_t second = 0;
    write_both(sent, &bytes, &second);
    CHECK(bytes.length < FRAME_BYTES_MAX * 3 / 4);
    struct frame frame = {0};
    CHECK_INT(read_last(bytes.data, bytes.length, &frame, NULL), 1);
    REQUIRE(frame.snapshot != NULL);
    CHECK_INT(frame.snapshot->gpu_count, SNAPSHOT_GPUS_MAX);
    CHECK_INT(frame.snapshot->process_count, SNAPSHOT_PROCESSES_MAX);
    snapshot_unref(frame.snapshot);
    snapshot_unref(sent);
}

MAIN(RUN(everything_arrives_to_the_last_bit), RUN(troubles_greetings_and_requests_arrive),
     RUN(every_truncation_waits_for_more), RUN(every_frame_cut_short_is_refused),
     RUN(every_damaged_byte_is_refused_or_read_sanely), RUN(numbers_we_do_not_know_are_passed_over),
     RUN(impossible_values_are_dropped_and_counted),
     RUN(what_comes_before_a_greeting_or_after_nonsense_is_refused),
     RUN(a_head_alone_tells_that_nothing_can_be_read),
     RUN(counts_meet_their_limits_before_memory_does), RUN(the_largest_snapshot_fits_into_a_frame))
