/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/recording.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes as a line: it is refused, or it can be written and read again with the same result. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording_line line;
    if (recording_parse_line((const char *)data, size, &line, NULL) != 0) {
        return 0;
    }
    if (line.kind == RECORDING_SNAPSHOT) {
        OWN_BUF struct buf first = {0};
        OWN_BUF struct buf second = {0};
        recording_format_snapshot(line.snapshot, &first);
        struct recording_line again;
        if (recording_parse_line(first.data, first.length - 1, &again, NULL) != 0) {
            __builtin_trap();
        }
        recording_format_snapshot(again.snapshot, &second);
        if (first.length != second.length) {
            __builtin_trap();
        }
        recording_line_fini(&again);
    }
    recording_line_fini(&line);
    return 0;
}
