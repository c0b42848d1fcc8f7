/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "model/frame.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read once can be written, and is read again as the same. */
static void check(const struct snapshot *snapshot)
{
    OWN_BUF struct buf first = {0};
    OWN_BUF struct buf second = {0};
    frame_format_greeting("", &first);
    frame_format_greeting("", &second);
    size_t at = first.length;
    frame_format_snapshot(snapshot, &first);
    struct frame_reader *reader = frame_reader_new();
    struct frame frame = {0};
    size_t used = 0;
    if (frame_read(reader, first.data, at, &used, &frame, NULL) != 1 ||
        frame_read(reader, first.data + at, first.length - at, &used, &frame, NULL) != 1) {
        __builtin_trap();
    }
    frame_format_snapshot(frame.snapshot, &second);
    if (first.length != second.length || memcmp(first.data, second.data, first.length) != 0) {
        __builtin_trap();
    }
    snapshot_unref(frame.snapshot);
    frame_reader_free(reader);
}

/* The bytes are one sender's; with an even first byte a right greeting was read before them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct frame_reader *reader = frame_reader_new();
    struct frame frame = {0};
    size_t used = 0;
    if (data[0] % 2 == 0) {
        OWN_BUF struct buf greeting = {0};
        frame_format_greeting("", &greeting);
        (void)frame_read(reader, greeting.data, greeting.length, &used, &frame, NULL);
    }
    size_t at = 1;
    while (at < size && frame_read(reader, data + at, size - at, &used, &frame, NULL) == 1) {
        at += used;
        if (frame.kind == FRAME_SNAPSHOT) {
            check(frame.snapshot);
            snapshot_unref(frame.snapshot);
        }
    }
    frame_reader_free(reader);
    return 0;
}
